/** What a run has left in the store: its events with their texts, and its live messages. */
import type { RunEvent } from '../../core/state/event.js';
import { isBlobRef, type Json } from '../../core/json/json.js';
import { checkEvent, startChecking } from '../../pure/invariants.js';
import type { RunResult } from '../../core/state/result.js';
import type { Block, StoredBlock } from '../../core/state/transcript.js';
import type { Store } from '../../store/store.js';
import type { SeenMessage } from '../engine.js';
import { seenMessage } from './seen.js';

export type ReadStore = Pick<Store, 'readEvents' | 'readChain' | 'getBlob'>;

export interface RunPlace {
  readonly tenant: string;
  readonly runId: string;
}

const PAGE = 500;
const PAGES_MAX = 1_000;

/** Every event of the run by seq, as the store has them. */
export async function storedEvents(
  store: ReadStore,
  place: RunPlace,
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { sinceSeq: events.length, limit: PAGE };
    const read = await store.readEvents(place, query);
    events.push(...read.events);
    if (read.events.length < PAGE) break;
  }
  return events;
}

/** The same value with every text that lies in the store put back into its place. */
export async function withTexts<T>(store: ReadStore, tenant: string, value: T): Promise<T> {
  // A value without a reference is the usual case, and cheaper to look through as text.
  if (!JSON.stringify(value)?.includes('"$blob"')) return value;
  return (await restored(store, tenant, value as Json)) as T;
}

async function restored(store: ReadStore, tenant: string, value: Json): Promise<Json> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return Promise.all(value.map((inner: Json) => restored(store, tenant, inner)));
  }
  if (isBlobRef(value)) {
    const text = (await store.getBlob(tenant, value.$blob)) ?? `[lost: ${value.$blob}]`;
    // With a preview it stands for a text of its own, without one for a string inside arguments.
    return 'preview' in value ? { text } : text;
  }
  const entries: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    entries.push([key, await restored(store, tenant, inner)]);
  }
  return Object.fromEntries(entries);
}

/** The messages under a head, oldest first. */
export async function transcriptAt(
  store: ReadStore,
  tenant: string,
  head: string | null,
): Promise<readonly SeenMessage[]> {
  if (head === null) return [];
  const nodes = await store.readChain(tenant, head);
  const messages: SeenMessage[] = [];
  for (const node of nodes) {
    if (node.role === 'root') continue;
    const blocks: Block[] = [];
    for (const block of node.blocks) blocks.push(await wholeBlock(store, tenant, block));
    const facts = {
      messageId: node.messageId,
      synthetic: node.flags?.includes('synthetic') ?? false,
      partial: node.flags?.includes('partial') ?? false,
    };
    messages.push(seenMessage({ role: node.role, blocks }, facts));
  }
  return messages;
}

async function wholeBlock(store: ReadStore, tenant: string, block: StoredBlock): Promise<Block> {
  if (block.type === 'tool_use') {
    return { ...block, args: await withTexts(store, tenant, block.args) };
  }
  if (block.type === 'attachment') {
    const { mediaType, name, $blob } = block.attachment;
    const data = (await store.getBlob(tenant, $blob)) ?? '';
    return { type: 'file', mediaType, data, ...(name !== undefined && { name }) };
  }
  const { text } = block;
  if (typeof text === 'string') return { ...block, text };
  return { ...block, text: (await store.getBlob(tenant, text.$blob)) ?? '' };
}

/** Violations of what must hold of every run once it has ended (scenarios (i) to (vii)). */
export function finalViolations(ended: {
  readonly events: readonly RunEvent[];
  readonly transcript: readonly SeenMessage[];
  readonly result: RunResult;
}): readonly string[] {
  return [
    ...endViolations(ended.events, ended.result),
    ...historyViolations(ended.transcript, ended.events),
  ];
}

/** Of the events of any run. */
export function eventViolations(events: readonly RunEvent[]): readonly string[] {
  let state = startChecking();
  const violations: string[] = [];
  for (const event of events) {
    const checked = checkEvent(state, event);
    state = checked.state;
    violations.push(...checked.violations);
  }
  return violations;
}

function endViolations(events: readonly RunEvent[], result: RunResult): readonly string[] {
  const violations = [...eventViolations(events)];
  if (events.at(-1)?.type !== 'run_result') violations.push('the last event is no run_result');
  if (events.length !== result.trace.events) {
    violations.push(`${events.length} events are stored, the result names ${result.trace.events}`);
  }
  return violations;
}

function historyViolations(
  transcript: readonly SeenMessage[],
  events: readonly RunEvent[],
): readonly string[] {
  return transcript.flatMap((message, index) => {
    if (message.letter === 'R') return pairing(transcript[index - 1], message, index);
    if (message.letter === 'U') return [];
    const empty = message.text.trim() === '' && message.calls.length === 0;
    if (empty && !isPaused(message, events)) return [`message ${index} is empty`];
    const followed = transcript[index + 1]?.letter === 'R';
    return message.calls.length > 0 && !followed
      ? [`message ${index} has calls and no results follow it`]
      : [];
  });
}

/** A paused turn may hold nothing but blocks of the vendor. */
function isPaused({ messageId }: SeenMessage, events: readonly RunEvent[]): boolean {
  return events.some(
    (event) =>
      event.type === 'model_response' &&
      event.messageId === messageId &&
      event.stopReason.startsWith('pause_turn'),
  );
}

function pairing(
  before: SeenMessage | undefined,
  { results }: SeenMessage,
  index: number,
): readonly string[] {
  const wanted = (before?.calls ?? []).map(({ id }) => id).join(' ');
  const given = results.map(({ id }) => id).join(' ');
  return before?.letter === 'A' && wanted === given
    ? []
    : [`message ${index} has results for [${given}], the calls before it are [${wanted}]`];
}
