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
  const known = knownCalls();
  let seq: number | undefined;
  return events.map((event) => {
    const { stamp, ...body } = event;
    const { seq: own, ...rest } = stamp;
    const follows = seq !== undefined && own === seq + 1;
    seq = own;
    const said = follows ? rest : stamp;
    const brief = briefBody(body as unknown as Fields, { known, around });
    const isUsual = isSame(said as Fields, USUAL_STAMP[event.type] ?? AS_BEFORE);
    return { ...brief, ...(!isUsual && { stamp: said }) } as unknown as BriefEvent;
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
    return { ...body, stamp: { ...stamp, seq } } as unknown as WireEvent;
  });
}

interface Telling {
  readonly known: KnownCalls;
  readonly around: AroundEvents;
}

function briefBody(body: Fields, { known, around }: Telling): Fields {
  const type = body['type'] as string;
  const brief: Growing = { ...body };
  for (const [field, usual] of Object.entries(USUAL[type] ?? {}))
    if (body[field] === usual) delete brief[field];
  for (const field of OF_CALL[type] ?? []) {
    const expected = known.expected(body, field);
    if (expected === undefined) continue;
    if (body[field] === undefined) brief[field] = ABSENT;
    else if (isSame(body[field], expected)) delete brief[field];
  }
  for (const field of IDS) {
    const id = brief[field];
    if (typeof id === 'string') brief[field] = ownId(id, around.runId);
  }
  if (type === 'model_response') brief['usage'] = briefUsage(body['usage'] as unknown as Usage);
  if (type === 'tool_results_message') {
    const { messageId, callIds } = appendedResults(around);
    if (body['messageId'] === messageId) delete brief['messageId'];
    if (body['messageId'] === messageId && isSame(body['callIds'], callIds))
      delete brief['callIds'];
  }
  known.learn(body);
  return brief;
}

function fullBody(brief: Fields, { known, around }: Telling): Fields {
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

/** The last message of results that the payload appends to the transcript. */
function appendedResults({ append = [] }: AroundEvents): {
  readonly messageId?: string;
  readonly callIds?: readonly string[];
} {
  const item = append.findLast(({ kind }) => kind === 'results');
  if (item?.kind !== 'results') return {};
  return { messageId: item.messageId, callIds: item.results.map(({ callId }) => callId) };
}

/** As JSON, names of fields in the same order. */
export function isSame(value: unknown, expected: unknown): boolean {
  if (value === expected) return true;
  if (typeof value !== 'object' || typeof expected !== 'object') return false;
  return JSON.stringify(value) === JSON.stringify(expected);
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
      const told = {
        ...(tool !== undefined && { tool }),
        ...(key !== undefined && { key }),
        ...(type === 'tool_started' && { args }),
      };
      calls.set(callId, { ...calls.get(callId), ...told });
    },
  };
}
