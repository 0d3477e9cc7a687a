/**
 * What became of an action after its question was decided, from the run's own events: done, refused and why, in
 * doubt, asked about again, or not begun yet.
 * Invariants: nothing that came before the question counts; what no event says is not said.
 */
import type { AskOutcome } from '../core/state/ask-kinds.js';
import type { RunEvent } from '../core/state/event.js';
import { previewOf, type Json, type StoredText } from '../core/json/json.js';
import { at } from '../pure/headline.js';
import type { AskRow } from '../store/asks.js';
import type { DeskStore } from './desk-store.js';
import type { Excerpt } from './grounds.js';

/** Events after the question that are looked at. */
const EVENTS_MAX = 2_000;
const PAGE_EVENTS = 200;
const REFERENCE_CHARS_MAX = 200;

export const RECEIPT_STATES = [
  /** Approved, and not begun: a worker, a limit of parallel calls or the run itself is waited for. */
  'waits',
  'asked_again',
  'under_way',
  'done',
  /** Nothing happened: a freeze, a limit, a missing tool, a word that does not count any more, a person. */
  'refused',
  'failed',
  'in_doubt',
  'not_done',
] as const;

export interface Receipt {
  readonly state: (typeof RECEIPT_STATES)[number];
  /** ms since epoch: since when. */
  readonly at?: number;
  readonly code?: string;
  /** Under which the service of the tool knows the action: from its result, where the tool says where. */
  readonly reference?: string;
  /** What the tool was given to recognise a repetition. */
  readonly key?: string;
  /** What the tool, or the runtime, said: from outside, unchecked. */
  readonly content?: Excerpt;
  /** With what somebody wanted in place of the action. */
  readonly corrected?: Correction;
  /** The question that is asked about it since. */
  readonly next?: NextQuestion;
}

interface Correction {
  readonly by: readonly string[];
  readonly original: Action;
  readonly corrected: Action;
}
interface Action {
  readonly tool: string;
  readonly args: Json;
}

export interface NextQuestion {
  readonly askId: string;
  readonly kind: AskRow['kind'];
  readonly outcome: AskOutcome;
  readonly quorum: number;
}

type Reader = Pick<DeskStore, 'readEvents' | 'openedSeq' | 'getAsk'>;

/** Undefined: it is open, or it is about no action and no answer that the model was given. */
export async function receiptOf(store: Reader, ask: AskRow): Promise<Receipt | undefined> {
  const { outcome, callId, tenant } = ask;
  const isLast = (event: RunEvent): boolean =>
    event.type === 'run_result' || (isResult(event) && event.callId === callId);
  if (isAnsweredToModel(ask)) return answerIn(await eventsSince(store, ask, isLast), ask);
  if (outcome === 'pending' || callId === undefined || !isAboutAction(ask)) return undefined;
  const events = await eventsSince(store, ask, isLast);
  const resolved = events.findIndex((event) => resolves(event, ask));
  if (resolved < 0) return { state: 'not_done' };
  const later = events.slice(resolved + 1);
  const corrected = correctionIn(events[resolved]);
  const base = corrected !== undefined && { corrected };
  const asked = later.findLast(
    (event): event is Asking => isAsking(event) && event.callId === callId,
  );
  const row = asked && (await store.getAsk(tenant, asked.askId));
  const next = row && nextOf(row);
  return { ...fateOf(ask, later, next), ...base, ...(next !== undefined && { next }) };
}

/** Of a question that expired where several had to approve: who had. */
export async function approvedBefore(
  store: Pick<Reader, 'readEvents' | 'openedSeq'>,
  ask: AskRow,
): Promise<{ readonly approvedBy?: readonly string[] }> {
  if (ask.outcome !== 'expired' || ask.quorum < 2) return {};
  const isEnd = (event: RunEvent): event is Resolved => resolves(event, ask);
  const end = (await eventsSince(store, ask, isEnd)).find(isEnd);
  return end !== undefined && 'by' in end && end.by.length > 0 ? { approvedBy: end.by } : {};
}

/** What the server of a tool was answered is no result of a call. */
function isAnsweredToModel({ kind, outcome, callId, elicitation }: AskRow): boolean {
  const isAnswered = kind === 'input' && outcome === 'answered';
  return isAnswered && callId !== undefined && elicitation === undefined;
}

function answerIn(events: readonly RunEvent[], { callId }: AskRow): Receipt | undefined {
  const given = events.find((event) => isResult(event) && event.callId === callId);
  if (given?.type !== 'tool_finished') return undefined;
  return { state: 'done', at: given.stamp.at, content: excerptOf(given.content) };
}

function isAboutAction({ kind }: AskRow): boolean {
  return kind === 'approval' || kind === 'outcome';
}

/** Up to the page that the last wanted one is in. */
async function eventsSince(
  store: Pick<Reader, 'readEvents' | 'openedSeq'>,
  ask: AskRow,
  isLast: (event: RunEvent) => boolean,
): Promise<readonly RunEvent[]> {
  const { tenant, runId } = ask;
  const events: RunEvent[] = [];
  let sinceSeq = await store.openedSeq(ask);
  while (events.length < EVENTS_MAX) {
    const page = await store.readEvents({ tenant, runId }, { sinceSeq, limit: PAGE_EVENTS });
    events.push(...page.events);
    if (page.events.some(isLast) || page.events.length < PAGE_EVENTS) break;
    sinceSeq = page.nextSeq;
  }
  return events;
}

type Resolved = Extract<
  RunEvent,
  { type: 'approval_resolved' | 'approval_withdrawn' | 'input_provided' }
>;
type Result = Extract<RunEvent, { type: 'tool_finished' }>;
type Asking = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

function resolves(event: RunEvent, { askId }: AskRow): event is Resolved {
  const { type } = event;
  return (
    (type === 'approval_resolved' || type === 'approval_withdrawn' || type === 'input_provided') &&
    event.askId === askId
  );
}

function isResult(event: RunEvent): event is Result {
  return event.type === 'tool_finished';
}

function isAsking(event: RunEvent): event is Asking {
  return event.type === 'approval_requested' || event.type === 'input_request';
}

function correctionIn(event: RunEvent | undefined): Correction | undefined {
  if (event?.type !== 'approval_resolved') return undefined;
  const { by, original, corrected } = event;
  if (original === undefined || corrected === undefined) return undefined;
  return { by, original, corrected };
}

function nextOf({ askId, kind, outcome, quorum }: AskRow): NextQuestion {
  return { askId, kind, outcome, quorum };
}

function fateOf(ask: AskRow, later: readonly RunEvent[], next: NextQuestion | undefined): Receipt {
  const mine = later.filter((event) => 'callId' in event && event.callId === ask.callId);
  const result = mine.find(isResult);
  if (result !== undefined) return fateBy(result, ask);
  const started = mine.findLast((event) => event.type === 'tool_started');
  if (next?.outcome === 'pending') {
    return { state: next.kind === 'outcome' ? 'in_doubt' : 'asked_again' };
  }
  const ended = later.find((event) => event.type === 'run_result');
  if (started !== undefined && ended === undefined) {
    return { state: 'under_way', at: started.stamp.at, key: started.key };
  }
  if (ended !== undefined) return { state: 'not_done', at: ended.stamp.at };
  const granted = ['approved', 'modified', 'replaced', 'happened', 'not_happened'];
  return { state: granted.includes(ask.outcome) ? 'waits' : 'not_done' };
}

const IN_DOUBT = ['outcome_unknown', 'interrupted_mid_execution'];
/** Codes under which no tool was reached. */
const REFUSALS = [
  'frozen',
  'limit_exceeded',
  'tool_unavailable',
  'permission_denied',
  'hook_denied',
  'tool_not_allowed',
  'invalid_arguments',
  'approval_rejected',
  'budget_exceeded',
];
const NOT_DONE = ['approval_expired', 'not_executed', 'interrupted', 'superseded_by_final'];

function fateBy({ status, code, content, key, started, stamp }: Result, ask: AskRow): Receipt {
  const said = { at: stamp.at, key, content: excerptOf(content), ...(code && { code }) };
  if (status === 'ok') return { state: 'done', ...said, ...referenceIn(content, ask) };
  if (code !== undefined && IN_DOUBT.includes(code)) return { state: 'in_doubt', ...said };
  if (code !== undefined && REFUSALS.includes(code)) return { state: 'refused', ...said };
  if (!started || status === 'skipped' || (code !== undefined && NOT_DONE.includes(code))) {
    return { state: 'not_done', ...said };
  }
  return { state: 'failed', ...said };
}

/** Where the tool says that it stands. */
function referenceIn(content: StoredText, { card }: AskRow): Pick<Receipt, 'reference'> {
  if (card?.reference === undefined || !('text' in content)) return {};
  try {
    const value = at(JSON.parse(content.text), card.reference);
    if (typeof value !== 'string' && typeof value !== 'number') return {};
    return { reference: String(value).slice(0, REFERENCE_CHARS_MAX) };
  } catch {
    return {};
  }
}

function excerptOf(stored: StoredText): Excerpt {
  if ('text' in stored) return { text: stored.text };
  return { text: previewOf(stored), blob: stored.$blob, bytes: stored.bytes };
}
