/**
 * What a question rests on, from the run's own events: the rule that asks, the words that proposed it, what
 * the model had read before, and the corrections that led to it.
 * Invariants: nothing that came after the question; no more is read than WINDOW_EVENTS events.
 */
import type { RunEvent } from '../core/state/event.js';
import { previewOf, type StoredText } from '../core/json/json.js';
import type { RecoveryStep } from '../core/state/recovery.js';
import type { AskRow } from '../store/asks.js';
import type { SearchedText } from '../pure/origins.js';
import type { DeskStore } from './desk-store.js';
import { startedWith } from './goals/brief.js';
import { originsOf, type Origin } from './origins.js';

/** Newest events that are looked at; what is older is said to be missing. */
const WINDOW_EVENTS = 2_000;
const PAGE_EVENTS = 500;
const SOURCES_MAX = 40;
const ATTEMPTS_MAX = 20;
const STEPS_MAX = 20;
const SOURCE_CHARS_MAX = 4_000;
/** Larger texts are read by their beginning. */
const SOURCE_BYTES_READ_MAX = 262_144;

export interface Grounds {
  readonly goal?: Excerpt;
  /** Names of the tools that the run offered its model at the start. */
  readonly offered: readonly string[];
  /** Which rule asks: as in the event `permission`. */
  readonly rule?: string;
  readonly ruleReason?: string;
  readonly proposal?: { readonly text?: Excerpt; readonly model: string; readonly at: number };
  /** Of a call whose outcome is unknown: when it was started, oldest first. */
  readonly attempts: readonly Attempt[];
  /** Who approved the call whose outcome is unknown. */
  readonly approvedBy?: readonly string[];
  readonly corrections: readonly CorrectionMade[];
  /** Everything from outside that the model had read: untrusted. The newest come last. */
  readonly sources: readonly Source[];
  /** There are older ones. */
  readonly more: boolean;
  /** Where values of the action stand word for word; a value that is not here stands nowhere that is known. */
  readonly origins: readonly Origin[];
}

export interface Excerpt {
  readonly text: string;
  /** The whole text in the store, when this is not all of it. */
  readonly blob?: string;
  readonly bytes?: number;
}

export interface Attempt {
  readonly at: number;
  readonly key: string;
  /** What was done to find out what became of it. */
  readonly steps?: readonly RecoveryStep[];
  /** What people said of it, because nobody could tell either. */
  readonly told?: { readonly outcome: string; readonly by: readonly string[]; readonly at: number };
}

export interface CorrectionMade {
  readonly askId: string;
  readonly at: number;
  readonly by: readonly string[];
  readonly reason?: string;
  readonly original?: Action;
  readonly corrected?: Action;
}
type Resolved = Extract<RunEvent, { type: 'approval_resolved' }>;
type Action = NonNullable<Resolved['original']>;

export interface Source {
  /** 'brief': quoted as data by the goal whose cycle the run is. */
  readonly kind: 'user' | 'tool' | 'brief';
  readonly part?: { readonly origin: string; readonly cycle: number; readonly by: string };
  readonly seq: number;
  readonly at: number;
  readonly tool?: string;
  readonly status?: string;
  readonly content: Excerpt;
}

type Reader = Pick<DeskStore, 'readEvents' | 'getRun' | 'getBlob' | 'childRow'>;

export async function groundsOf(store: Reader, ask: AskRow): Promise<Grounds> {
  const { events, first, isCycle } = await eventsBefore(store, ask);
  const read = (text: StoredText): Promise<Found> => textFound(store, ask.tenant, text);
  const proposal = events.findLast((event) => proposes(event, ask));
  const found = readBefore(ask, events).filter(isSource);
  const kept = found.slice(-SOURCES_MAX);
  const goal = first?.type === 'session_init' ? first.goal : undefined;
  const rule = events.findLast((event) => isAskingRule(event, ask));
  const approval =
    ask.kind === 'outcome' ? events.findLast((one) => approves(one, ask)) : undefined;
  const task = goal && (await read(goal));
  const began = first?.stamp.at ?? ask.openedAt;
  const quoted = isCycle ? await quotedTo(store, ask, began) : [];
  const said = await Promise.all(
    kept.map(async (event) => sourceOf(event, await read(textOf(event)))),
  );
  const sources = [...quoted, ...said];
  return {
    ...(task !== undefined && { goal: task.excerpt }),
    offered: first?.type === 'session_init' ? first.tools : [],
    ...(rule?.type === 'permission' && {
      rule: rule.rule,
      ...(rule.reason !== undefined && { ruleReason: rule.reason }),
    }),
    ...(proposal?.type === 'model_response' && {
      proposal: {
        model: proposal.model,
        at: proposal.stamp.at,
        ...(proposal.text !== undefined && { text: (await read(proposal.text)).excerpt }),
      },
    }),
    attempts: attemptsAt(events, ask),
    ...(approval !== undefined && { approvedBy: approval.by }),
    corrections: events.filter((event) => corrects(event, ask)).map(correctionOf),
    sources: sources.map(({ source }) => source),
    more: found.length > kept.length || (events[0]?.stamp.seq ?? 0) > 1,
    origins: originsOf(ask, { ...(task !== undefined && { task }), sources }),
  };
}

/** What the goal of a cycle quoted to it, before anything else that it read. */
async function quotedTo(
  store: Reader,
  { tenant, runId }: AskRow,
  at: number,
): Promise<readonly ReturnType<typeof sourceOf>[]> {
  const child = await store.childRow(tenant, runId);
  return startedWith(child?.start).map(({ origin, cycle, by, text }) => {
    const part = { origin, cycle, by };
    const content = { text: text.slice(0, SOURCE_CHARS_MAX) };
    return { source: { kind: 'brief', part, seq: 0, at, content }, text };
  });
}

interface Window {
  /** The run is a cycle of a goal. */
  readonly isCycle: boolean;
  readonly first: RunEvent | undefined;
  readonly events: readonly RunEvent[];
}

async function eventsBefore(store: Reader, { tenant, runId, askId }: AskRow): Promise<Window> {
  const run = { tenant, runId };
  const row = await store.getRun(tenant, runId);
  const from = Math.max(0, (row?.lastSeq ?? 0) - WINDOW_EVENTS);
  const events: RunEvent[] = [];
  let sinceSeq = from;
  while (events.length <= WINDOW_EVENTS) {
    const page = await store.readEvents(run, { sinceSeq, limit: PAGE_EVENTS });
    events.push(...page.events);
    if (page.events.length < PAGE_EVENTS) break;
    sinceSeq = page.nextSeq;
  }
  const asked = events.findIndex(
    (event) =>
      (event.type === 'approval_requested' || event.type === 'input_request') &&
      event.askId === askId,
  );
  const before = asked < 0 ? events : events.slice(0, asked);
  const isCycle = row?.parent !== undefined;
  if (from === 0) return { isCycle, first: events[0], events: before };
  const { events: opening } = await store.readEvents(run, { sinceSeq: 0, limit: 1 });
  return { isCycle, first: opening[0], events: before };
}

/**
 * What the model had read when it proposed the call. Other calls of the same reply were answered too late to have
 * led to it, but for those that the vendor ran while the model spoke.
 */
function readBefore({ callId }: AskRow, events: readonly RunEvent[]): readonly RunEvent[] {
  const replied =
    callId === undefined ? -1 : events.findLastIndex(({ type }) => type === 'model_response');
  if (replied < 0) return events;
  const hosted = events
    .slice(replied)
    .filter((event) => event.type === 'tool_finished' && event.hosted === true);
  return [...events.slice(0, replied), ...hosted];
}

type SourceEvent = Extract<RunEvent, { type: 'tool_finished' | 'user_message' }>;

/** What the runtime itself says (skipped, refused) is nobody's word from outside. */
function isSource(event: RunEvent): event is SourceEvent {
  return event.type === 'user_message' || (event.type === 'tool_finished' && !event.synthetic);
}

function textOf(event: SourceEvent): StoredText {
  return event.type === 'user_message' ? event.text : event.content;
}

function sourceOf(
  event: SourceEvent,
  { excerpt: content, ...searched }: Found,
): SearchedText & { readonly source: Source } {
  const { seq, at } = event.stamp;
  const source: Source =
    event.type === 'user_message'
      ? { kind: 'user', seq, at, content }
      : { kind: 'tool', seq, at, tool: event.tool, status: event.status, content };
  return { source, ...searched };
}

function isAskingRule(event: RunEvent, { callId }: AskRow): boolean {
  return event.type === 'permission' && event.decision === 'ask' && event.callId === callId;
}

function proposes(event: RunEvent, { callId }: AskRow): boolean {
  return event.type === 'model_response' && event.calls.some(({ id }) => id === callId);
}

function corrects(event: RunEvent, { callId, askId }: AskRow): event is Resolved {
  return (
    event.type === 'approval_resolved' &&
    callId !== undefined &&
    event.callId === callId &&
    event.askId !== askId &&
    event.corrected !== undefined
  );
}

function approves(event: RunEvent, { callId }: AskRow): event is Resolved {
  return (
    event.type === 'approval_resolved' && event.callId === callId && event.outcome === 'approved'
  );
}

function attemptsAt(events: readonly RunEvent[], { kind, callId }: AskRow): readonly Attempt[] {
  const attempts: Attempt[] = [];
  if (kind !== 'outcome') return attempts;
  for (const event of events) {
    const { at } = event.stamp;
    if (event.type === 'tool_started' && event.callId === callId) {
      attempts.push({ at, key: event.key });
    }
    const last = attempts.at(-1);
    if (event.type === 'input_provided' && event.callId === callId && last !== undefined) {
      const { outcome, by } = event;
      attempts[attempts.length - 1] = { ...last, told: { outcome, by, at } };
    }
    if (event.type === 'tool_reconciled' && event.callId === callId && last !== undefined) {
      const steps = [...(last.steps ?? []), ...event.steps].slice(0, STEPS_MAX);
      attempts[attempts.length - 1] = { ...last, steps };
    }
  }
  return attempts.slice(-ATTEMPTS_MAX);
}

function correctionOf({ askId, by, reason, original, corrected, stamp }: Resolved): CorrectionMade {
  return {
    askId,
    at: stamp.at,
    by,
    ...(reason !== undefined && { reason }),
    ...(original !== undefined && { original }),
    ...(corrected !== undefined && { corrected }),
  };
}

/** What is shown of a text, and all of it that is looked through. */
interface Found extends SearchedText {
  readonly excerpt: Excerpt;
}

async function textFound(store: Reader, tenant: string, stored: StoredText): Promise<Found> {
  if ('text' in stored) return { excerpt: { text: stored.text }, text: stored.text };
  const { $blob: blob, bytes } = stored;
  const whole = bytes <= SOURCE_BYTES_READ_MAX ? await store.getBlob(tenant, blob) : undefined;
  const excerpt = { text: whole?.slice(0, SOURCE_CHARS_MAX) ?? previewOf(stored), blob, bytes };
  return whole === undefined
    ? { excerpt, text: stored.preview, isCut: true }
    : { excerpt, text: whole };
}
