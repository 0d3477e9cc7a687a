/**
 * Events in a brief payload: each says only what nobody can know from its payload, from the event before it, or from what
 * is usual of its type.
 * Invariant: `fullEvents` gives back exactly the events that `briefEvents` was given, keys of objects in any order.
 */
import type { Json } from '../json/json.js';
import type { WireEvent } from '../state/event.js';
import type { Usage } from '../state/model.js';
import type { TranscriptItem } from '../state/transcript.js';
import { ownId, wholeId } from './brief-ids.js';

export interface BriefEvent {
  readonly type: string;
  /** Without a number: one more than the event before. Absent: so, with what is usual of its type. */
  readonly stamp?: { readonly seq?: number };
}

/** What a payload says of its events beside them. */
export interface AroundEvents {
  readonly runId: string;
  readonly append?: readonly TranscriptItem[];
}

type Fields = { readonly [field: string]: Json | undefined };
type Growing = { [field: string]: Json | undefined };

/** All of these fields are required. `content: null`: the payload appends the result to the transcript. */
const USUAL: { readonly [type: string]: Fields } = {
  validation: { decision: 'execute' },
  permission: { decision: 'allow', rule: 'tool' },
  transition: { reason: 'next_turn' },
  tool_finished: { status: 'ok', content: null, synthetic: false, started: true, attempts: 1 },
};

/** Of the stamp, beside its number. */
const USUAL_STAMP: { readonly [type: string]: Fields } = {
  validation: { phase: 'dispatching_tools', rule: 'dispatch' },
  tool_results_message: { rule: 'calls settled' },
};
const AS_BEFORE: Fields = {};

/** Fields that name the call which an event is about: as the events before it in the payload have them. */
const OF_CALL: { readonly [type: string]: readonly string[] } = {
  validation: ['callId', 'tool'],
  permission: ['callId', 'tool'],
  tool_started: ['callId', 'tool', 'args'],
  tool_finished: ['callId', 'tool', 'key'],
};

/** The one of these types that may be about no call. Its fields have no null of their own. */
const MAY_LACK_CALL = 'validation';
const ABSENT = null;

const IDS: readonly string[] = ['messageId', 'key'];

const NONE_CACHED = { cacheRead: 0, cacheWrite: 0 };

export function briefEvents(
  events: readonly WireEvent[],
  around: AroundEvents,
): readonly BriefEvent[] {
  const telling = { known: knownCalls(), around };
  let next: number | undefined;
  return events.map((event) => {
    const brief = briefBody(event as unknown as Fields, telling);
    const { seq, ...rest } = event.stamp;
    const said = seq === next ? rest : event.stamp;
    next = seq + 1;
    if (!isSame(said, USUAL_STAMP[event.type] ?? AS_BEFORE))
      brief['stamp'] = said as unknown as Json;
    return brief as unknown as BriefEvent;
  });
}

/** Errors: TypeError for what is no brief event. */
export function fullEvents(
  events: readonly BriefEvent[],
  around: AroundEvents,
): readonly WireEvent[] {
  const known = knownCalls();
  let seq = -1;
  return events.map(({ stamp: said, ...brief }) => {
    const stamp: BriefEvent['stamp'] = said ?? USUAL_STAMP[brief.type] ?? AS_BEFORE;
    seq = stamp?.seq ?? seq + 1;
    const body = fullBody(brief as unknown as Fields, { known, around });
    body['stamp'] = { ...stamp, seq };
    return body as unknown as WireEvent;
  });
}

interface Telling {
  readonly known: KnownCalls;
  readonly around: AroundEvents;
}

/** Without its stamp. Field by field: an object is slow from which one is deleted. */
function briefBody(event: Fields, { known, around }: Telling): Growing {
  const type = event['type'] as string;
  const usual = USUAL[type] ?? AS_BEFORE;
  const ofCall = OF_CALL[type] ?? [];
  const appended = type === 'tool_results_message' ? appendedResults(around) : undefined;
  const brief: Growing = {};
  for (const field in event) {
    const value = event[field];
    if (field === 'stamp' || (value !== undefined && value === usual[field])) continue;
    if (ofCall.includes(field) && isSame(value, known.expected(event, field))) continue;
    if (appended !== undefined && isAppended(event, field, appended)) continue;
    brief[field] =
      field === 'usage' && type === 'model_response'
        ? briefUsage(value as unknown as Usage)
        : typeof value === 'string' && IDS.includes(field)
          ? ownId(value, around.runId)
          : value;
  }
  for (const field of ofCall) {
    if (event[field] === undefined && known.expected(event, field) !== undefined)
      brief[field] = ABSENT;
  }
  known.learn(event);
  return brief;
}

function fullBody(brief: Fields, { known, around }: Telling): Growing {
  const type = brief['type'] as string;
  const body: Growing = { ...USUAL[type], ...brief };
  for (const field of IDS) {
    const id = body[field];
    if (typeof id === 'string') body[field] = wholeId(id, around.runId);
  }
  for (const field of OF_CALL[type] ?? []) {
    if (brief[field] === ABSENT && type === MAY_LACK_CALL) delete body[field];
    if (brief[field] !== undefined) continue;
    const expected = known.expected(body, field);
    if (expected !== undefined) body[field] = expected;
  }
  if (type === 'model_response') body['usage'] = { ...NONE_CACHED, ...(body['usage'] as object) };
  if (type === 'tool_results_message') {
    const { messageId, callIds } = appendedResults(around);
    body['messageId'] ??= messageId;
    body['callIds'] ??= callIds;
  }
  known.learn(body);
  return body;
}

function briefUsage({ cacheRead, cacheWrite, ...usage }: Usage): Json {
  return {
    ...usage,
    ...(cacheRead !== 0 && { cacheRead }),
    ...(cacheWrite !== 0 && { cacheWrite }),
  };
}

interface AppendedResults {
  readonly messageId?: string;
  readonly callIds?: readonly string[];
}

/** The last message of results that the payload appends to the transcript. */
function appendedResults({ append = [] }: AroundEvents): AppendedResults {
  const item = append.findLast(({ kind }) => kind === 'results');
  if (item?.kind !== 'results') return {};
  return { messageId: item.messageId, callIds: item.results.map(({ callId }) => callId) };
}

/** The payload says it with the message that it appends. */
function isAppended(
  event: Fields,
  field: string,
  { messageId, callIds }: AppendedResults,
): boolean {
  if (event['messageId'] !== messageId) return false;
  return field === 'messageId' || (field === 'callIds' && isSame(event[field], callIds));
}

/** As JSON, names of fields in the same order. */
export function isSame(value: unknown, expected: unknown): boolean {
  if (value === expected) return true;
  if (typeof value !== 'object' || typeof expected !== 'object') return false;
  if (value === null || expected === null || Array.isArray(value) !== Array.isArray(expected))
    return false;
  const names = saidFields(value as Fields);
  const others = saidFields(expected as Fields);
  return (
    names.length === others.length &&
    names.every(
      (name, index) =>
        name === others[index] && isSame((value as Fields)[name], (expected as Fields)[name]),
    )
  );
}

/** JSON leaves out what is undefined. */
function saidFields(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined);
}

interface KnownCalls {
  /** What a field of an event would be; undefined: nobody knows. */
  expected(body: Fields, field: string): Json | undefined;
  learn(body: Fields): void;
}

interface ProposedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
}

/** What the events so far say of calls. */
function knownCalls(): KnownCalls {
  const calls = new Map<string, Growing>();
  let waiting: readonly string[] = [];
  let newest: string | undefined;
  return {
    expected(body, field) {
      if (field === 'callId')
        return body['type'] === 'validation' ? (waiting[0] ?? newest) : newest;
      const { callId } = body;
      return typeof callId === 'string' ? calls.get(callId)?.[field] : undefined;
    },
    learn(body) {
      const { type, callId, calls: proposed } = body;
      if (type === 'model_response' && Array.isArray(proposed)) {
        for (const { id, tool, args } of proposed as unknown as readonly ProposedCall[])
          calls.set(id, { tool, args });
        waiting = (proposed as unknown as readonly ProposedCall[]).map(({ id }) => id);
      }
      if (typeof callId !== 'string') return;
      newest = callId;
      if (type === 'validation') waiting = waiting.filter((id) => id !== callId);
      const { tool, key, args } = body;
      const call = calls.get(callId) ?? {};
      if (tool !== undefined) call['tool'] = tool;
      if (key !== undefined) call['key'] = key;
      if (type === 'tool_started') call['args'] = args;
      calls.set(callId, call);
    },
  };
}
