/**
 * Do two engines agree on a case: on the whole result, the transcript and the events?
 * Invariant: only what an engine is free in is left aside: ids of the run, times and durations, the order of
 * events of calls that were in flight together, the ends of segments, and where among the others stands what nobody waits for:
 * hooks that are only notified, and warnings about messages from outside.
 */
import type { RunEvent } from '../core/state/event.js';
import type { Json } from '../core/json/json.js';
import { ABSENT, isSame, NO_DIFFERENCE, type Difference } from './compare/difference.js';
import { withoutSegments } from './compare/segments.js';
import type { Observation, SeenMessage } from './engine.js';

const DIFFERENCES_MAX = 10;

/** `expected` of a difference is what `a` saw, `observed` what `b` saw. */
export function agree(a: Observation, b: Observation): readonly Difference[] {
  const [one, other] = [comparable(a), comparable(b)];
  return [
    ...deepDifferences('agreement.start_error', one.startError, other.startError),
    ...deepDifferences('agreement.result', one.result, other.result),
    ...firstDifferences('agreement.transcript', one.transcript, other.transcript),
    ...firstDifferences('agreement.events', one.events, other.events),
    ...firstDifferences('agreement.asides', one.asides, other.asides),
    ...firstDifferences('agreement.cycles', one.cycles, other.cycles),
  ].slice(0, DIFFERENCES_MAX);
}

interface Comparable {
  readonly startError: Json;
  readonly result: Json;
  readonly transcript: readonly Json[];
  readonly events: readonly Json[];
  /** Events that nobody waits for, in no order. */
  readonly asides: readonly Json[];
  /** Of a goal: the events of its cycles. */
  readonly cycles: readonly Json[];
}

function comparable(observation: Observation): Comparable {
  const { startError, transcript } = observation;
  const { events: plain, result } = withoutSegments(observation);
  const events = withoutHashes(plain);
  const ids = idsOf(events, result);
  return {
    startError: startError?.code ?? null,
    result: result === undefined ? null : nameless(asJson(result), ids),
    transcript: transcript.map((message) => nameless(asJson(message), ids)),
    events: inCallOrder(told(events)).map((event) => nameless(event, ids)),
    cycles: cyclesOf(observation).flatMap((cycle) =>
      inCallOrder(told(cycle)).map((event) => nameless(event, ids)),
    ),
    asides: events
      .filter(isAside)
      .map((event) => nameless({ ...(asJson(event) as object), stamp: null }, ids))
      .toSorted((one, other) => compareText(JSON.stringify(one), JSON.stringify(other))),
  };
}

/** What somebody waits for; a checkpoint is named by its hash, and checks of one pass run together. */
function told(events: readonly RunEvent[]): readonly RunEvent[] {
  const kept = events.filter((event) => !isAside(event));
  return kept
    .map((event) => (event.type === 'checkpoint_saved' ? { ...event, id: '' } : event))
    .toSorted((a, b) => {
      if (a.type !== 'check_finished' || b.type !== 'check_finished') return 0;
      return a.n === b.n ? compareText(a.name, b.name) : 0;
    });
}

/**
 * Questions of a goal are about no call: they name texts by hashes, and the texts have times in them. Refused decisions
 * about these questions name the same hashes.
 */
function withoutHashes(events: readonly RunEvent[]): readonly RunEvent[] {
  const ofGoal = new Set(
    events.flatMap((event) =>
      event.type === 'approval_requested' && event.tool === undefined ? [event.askId] : [],
    ),
  );
  return events.map((event) => {
    if (event.type === 'approval_requested' && ofGoal.has(event.askId)) {
      return { ...event, args: null, argsHash: '' };
    }
    if (event.type !== 'warning' || event.about === undefined) return event;
    return ofGoal.has(event.about.askId)
      ? { ...event, about: { ...event.about, argsHash: '' } }
      : event;
  });
}

/** By cycle, in their order. */
function cyclesOf({ goal, events }: Observation): readonly (readonly RunEvent[])[] {
  const own = events[0]?.stamp.runId;
  const cycles = new Map<string, RunEvent[]>();
  for (const event of goal?.tree ?? []) {
    const { runId } = event.stamp;
    if (runId !== own) cycles.set(runId, [...(cycles.get(runId) ?? []), event]);
  }
  return [...cycles.values()];
}

/** The call that executes from here on, or that people are asked about. */
function underWay(event: RunEvent): string | undefined {
  return event.type === 'tool_started' || event.type === 'approval_requested'
    ? event.callId
    : undefined;
}

function isAside(event: RunEvent): boolean {
  if (event.type === 'warning') return true;
  return event.type === 'hook' && (event.name === 'StopFailure' || event.name === 'PostSampling');
}

/** Of trace, run and task: an engine may call two of them the same, so that texts do not tell which one they name. */
function idsOf([first]: readonly RunEvent[], result: Observation['result']): readonly string[] {
  const { runId = first?.stamp.runId, trace } = result ?? {};
  const taskId = first?.type === 'session_init' ? first.taskId : undefined;
  const ids = [trace?.traceId ?? first?.stamp.traceId, runId, taskId];
  // An id that is part of another one comes behind it.
  return ids.flatMap((id) => id ?? []).toSorted((a, b) => b.length - a.length);
}

/** Fields that say when, how long, which attempt, or which message. */
const FREE_FIELDS: ReadonlySet<string> = new Set([
  'at',
  'seq',
  'openedAt',
  'expiresAt',
  'durationMs',
  'waitedMs',
  'activeMs',
  'waitingMs',
  'attemptId',
  'decidedAt',
  'nonce',
  // The client that said it draws one.
  'clientMessageId',
  // Of goals: hashes of texts that have times in them, and how long one slept.
  'memory',
  'brief',
  'checkpoint',
  'sleptMs',
  'until',
]);

/** Values of tools and models, in which a field of the same name is theirs. */
const FOREIGN_FIELDS: ReadonlySet<string> = new Set(['args', 'output', 'value']);

/** Made of the task's id, which is the case's own, though a run may be called the same. */
const TASK_FIELDS: ReadonlySet<string> = new Set(['key', 'taskId', 'idempotencyKey']);

function nameless(value: Json, ids: readonly string[], foreign = false): Json {
  if (typeof value === 'string') {
    const text = withoutIds(value, ids);
    return foreign ? text : text.replaceAll(MOMENT, '<time>');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: Json) => nameless(one, ids, foreign));
  const kept = Object.entries(value).filter(
    ([key, inner]) => inner !== undefined && (foreign || !FREE_FIELDS.has(key)),
  );
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      TASK_FIELDS.has(key) ? inner : nameless(inner, ids, foreign || FOREIGN_FIELDS.has(key)),
    ]),
  );
}

/** As texts name moments, which are those of an engine. */
const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Shorter ids could be part of any word; then only texts that begin with them name the run. */
const DISTINCT_ID_CHARS = 8;
const ID = '<id>';

function withoutIds(text: string, ids: readonly string[]): string {
  return ids.reduce((rest, id) => {
    if (id.length >= DISTINCT_ID_CHARS) return rest.replaceAll(id, ID);
    if (id === '' || !(rest === id || rest.startsWith(`${id}:`))) return rest;
    return `${ID}${rest.slice(id.length)}`;
  }, text);
}

/**
 * In a turn of several calls the events of each call keep their own order and stand together, calls in the order of their
 * ids, events of no call before them: checks that were under way together leave no trace of it in the events.
 * What the calls did to the world is said once before them: two were in flight at once, or in which order
 * they began.
 */
function inCallOrder(events: readonly RunEvent[]): readonly Json[] {
  return turnsOf(events).flatMap((turn) => {
    const calls = new Set(turn.flatMap((event) => ('callId' in event ? [event.callId] : [])));
    return calls.size > 1 ? [...begunIn(turn), ...byCall(turn).map(asJson)] : turn.map(asJson);
  });
}

function begunIn(turn: readonly RunEvent[]): readonly Json[] {
  const together = firstTogether(turn);
  if (together !== undefined) return [{ type: 'in_flight_together', calls: together }];
  const begun = [...new Set(turn.flatMap((event) => underWay(event) ?? []))];
  return begun.length > 1 ? [{ type: 'one_after_another', calls: begun }] : [];
}

/** Pieces that begin and end with what a turn's calls have no part in. */
function turnsOf(events: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const turns: RunEvent[][] = [[]];
  for (const event of events) {
    if (event.type === 'tool_results_message') turns.push([]);
    turns.at(-1)!.push(event);
    if (event.type === 'model_response' || event.type === 'tool_results_message') turns.push([]);
  }
  return turns;
}

function firstTogether(turn: readonly RunEvent[]): readonly string[] | undefined {
  const flying = new Set<string>();
  for (const event of turn) {
    const begun = underWay(event);
    if (begun !== undefined) flying.add(begun);
    if (flying.size > 1) return [...flying].toSorted(compareText);
    if (event.type === 'tool_finished') flying.delete(event.callId);
  }
  return undefined;
}

/** Events, results and messages are plain JSON by their definition. */
function asJson(value: RunEvent | Observation['result'] | SeenMessage): Json {
  return value as unknown as Json;
}

function byCall(block: readonly RunEvent[]): readonly RunEvent[] {
  const lane = (event: RunEvent): string => ('callId' in event ? (event.callId ?? '') : '');
  return block.toSorted((a, b) => compareText(lane(a), lane(b)));
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Lists that differ somewhere usually differ from there on: the first place says it. */
function firstDifferences(
  path: string,
  a: readonly Json[],
  b: readonly Json[],
): readonly Difference[] {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const found = deepDifferences(`${path}[${index}]`, a[index], b[index]);
    if (found.length > 0) return found;
  }
  return NO_DIFFERENCE;
}

function deepDifferences(
  path: string,
  a: Json | undefined,
  b: Json | undefined,
): readonly Difference[] {
  if (a === undefined && b === undefined) return NO_DIFFERENCE;
  if (a !== undefined && isSame(a, b)) return NO_DIFFERENCE;
  if (!isBranch(a) || !isBranch(b) || Array.isArray(a) !== Array.isArray(b)) {
    return [{ path, expected: a ?? ABSENT, observed: b ?? ABSENT }];
  }
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => deepDifferences(`${path}.${key}`, a[key], b[key]));
}

function isBranch(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
