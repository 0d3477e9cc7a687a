/**
 * What was streamed of a run, against its messages (S155): nothing unless the agent at work wanted it, else in pieces what
 * each reply says.
 */
import type { Config } from '../../authoring/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { STREAM_START, type StreamPlace } from '../../pure/stream.js';
import type { Store } from '../../store/store.js';
import type { StreamBatch } from '../../store/changes.js';
import type { RunPlace } from './observe.js';

export interface Streamed {
  /** That the run is played with: whether an agent streams is said there. */
  readonly config: Pick<Config, 'agents' | 'defaults'>;
  /** With their texts. */
  readonly events: readonly RunEvent[];
}

const PAGES_MAX = 1_000;

export async function streamViolations(
  store: Pick<Store, 'readStream'>,
  run: RunPlace,
  { config, events }: Streamed,
): Promise<readonly string[]> {
  const batches = await batchesOf(store, run);
  const said = wordsByMessage(batches);
  const begun = new Set(batches.map(({ messageId }) => messageId));
  const found: string[] = [];
  let isWanted = false;
  let isEver = false;
  for (const event of events) {
    const agent = takingOver(event);
    if (agent !== undefined) isWanted = wantsStream(config, agent);
    isEver ||= isWanted;
    if (event.type !== 'model_response') continue;
    const { messageId } = event;
    if (!isWanted && begun.has(messageId)) found.push(UNWANTED);
    if (!isWanted || event.text === undefined) continue;
    const text = 'text' in event.text ? event.text.text : '';
    const streamed = said.get(messageId);
    if (streamed === text) continue;
    found.push(`${messageId} says ${JSON.stringify(text)}, its stream ${JSON.stringify(streamed)}`);
  }
  // Words of a reply that never ended are of an agent that nobody can name.
  if (!isEver && begun.size > 0) found.push(UNWANTED);
  return [...new Set(found)];
}

const UNWANTED = 'a run streams that nobody wanted to';

/** Who works on the run from here. */
function takingOver(event: RunEvent): string | undefined {
  if (event.type === 'session_init') return event.agent;
  return event.type === 'handoff' && event.run !== undefined ? event.to : undefined;
}

function wantsStream({ agents, defaults }: Streamed['config'], agent: string): boolean {
  const { includePartialMessages } = { ...defaults.settings, ...agents.get(agent)?.settings };
  return includePartialMessages === true;
}

async function batchesOf(
  store: Pick<Store, 'readStream'>,
  { tenant, runId }: RunPlace,
): Promise<readonly StreamBatch[]> {
  const batches: StreamBatch[] = [];
  let from: StreamPlace = STREAM_START;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = await store.readStream({ tenant, runId }, from);
    const last = read.batches.at(-1);
    if (last === undefined) break;
    batches.push(...read.batches);
    from = { fence: last.fence, index: last.first + last.entries.length };
  }
  return batches;
}

/** Of attempts that ended: what others said does not count. */
function wordsByMessage(batches: readonly StreamBatch[]): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  let words = '';
  for (const { messageId, entries } of batches) {
    for (const entry of entries) {
      if (entry.kind === 'attempt_started') words = '';
      else if (entry.kind === 'attempt_ended') said.set(messageId, words);
      else if (entry.kind === 'delta' && entry.delta.type === 'text') words += entry.delta.text;
    }
  }
  return said;
}
