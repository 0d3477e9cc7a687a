/**
 * What the messages of a run need to know of the events before theirs: a pure fold over the whole line of events,
 * from `seq` 0.
 * Invariant: nothing that a message says is remembered longer than the messages after it need.
 */
import type { AskKind } from '../../core/state/ask-kinds.js';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import type { Json, StoredText } from '../../core/json/json.js';
import type { Usage } from '../../core/state/model.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import { DENIED_CODES } from '../../core/state/tool-result.js';
import { CALLS_MAX, surplusResult } from '../../core/step/conversation.js';
import { knownAfter, NOTHING_KNOWN, type EndedRun } from '../next-action.js';
import { plural } from '../plural.js';
import type { Source } from '../sources.js';
import type { SDKModelUsage, SDKPermissionDenial } from './message.js';

/** What no event says of a run. */
export interface Circumstances {
  readonly cwd: string;
  readonly permissionMode: PermissionMode;
  /** Of the run among whose messages those of its sub-agent stand. */
  readonly sessionId?: string;
}

export interface Projection {
  readonly circumstances: Circumstances;
  readonly sessionId: string;
  /** Of a sub-agent: the call of its parent that started it. */
  readonly parentToolUseId: string | null;
  readonly startedAt: number;
  /** Of the newest event that is no retry. */
  readonly lastAt: number;
  readonly apiMs: number;
  readonly modelUsage: { readonly [model: string]: SDKModelUsage };
  /** Of the newest reply, by id. */
  readonly inputs: ReadonlyMap<string, Json>;
  /** Since the newest reply, by call. */
  readonly results: ReadonlyMap<
    string,
    { readonly content: StoredText; readonly isError: boolean }
  >;
  /** Calls of the newest reply that are not made, behind those that are. */
  readonly surplus: readonly string[];
  readonly denials: readonly SDKPermissionDenial[];
  readonly errors: readonly string[];
  readonly openAsks: ReadonlyMap<string, AskKind>;
  readonly stopReason: string | null;
  /** For the words after its end. */
  readonly known: EndedRun;
}

export type EventOf<Type extends EventBody['type']> = Extract<RunEvent, { type: Type }>;

/** With what the message of a reply has and its event lacks: large arguments, thinking, and sources. */
export type WholeEvent = RunEvent & Besides;

/** What stands beside the text and the calls of a reply. */
export interface Besides {
  readonly thinking?: readonly string[];
  readonly sources?: readonly Source[];
}

const ERRORS_MAX = 20;

export function startProjection(circumstances: Circumstances): Projection {
  return {
    circumstances,
    sessionId: '',
    parentToolUseId: null,
    startedAt: 0,
    lastAt: 0,
    apiMs: 0,
    modelUsage: {},
    inputs: new Map(),
    results: new Map(),
    surplus: [],
    denials: [],
    errors: [],
    openAsks: new Map(),
    stopReason: null,
    known: NOTHING_KNOWN,
  };
}

/** What is known after this event; large arguments of calls must have been put back into it. */
export function advanceProjection(before: Projection, event: RunEvent): Projection {
  const state = { ...timed(before, event), known: knownAfter(before.known, event) };
  switch (event.type) {
    case 'session_init':
      return {
        ...state,
        sessionId: state.circumstances.sessionId ?? event.sessionId ?? event.stamp.runId,
        parentToolUseId: event.parent?.callId ?? null,
      };
    case 'model_response':
      return withReply(state, event);
    case 'model_error': {
      const said = `${event.class} after ${plural(event.attempts, 'attempt')}: ${event.message}`;
      return { ...state, errors: [...state.errors, said].slice(-ERRORS_MAX) };
    }
    case 'tool_finished':
      return withResult(state, event);
    case 'approval_requested':
    case 'input_request':
      return { ...state, openAsks: new Map(state.openAsks).set(event.askId, event.kind) };
    case 'approval_resolved':
    case 'approval_withdrawn':
    case 'input_provided': {
      const openAsks = new Map(state.openAsks);
      openAsks.delete(event.askId);
      return { ...state, openAsks };
    }
    default:
      return state;
  }
}

/** A retry is a part of the call that it belongs to, so its time counts with that of the reply. */
function timed(state: Projection, event: RunEvent): Projection {
  const { at } = event.stamp;
  if (event.type === 'session_init') return { ...state, startedAt: at, lastAt: at };
  if (event.type === 'retry') return state;
  const isCall = event.type === 'model_response' || event.type === 'model_error';
  const apiMs = state.apiMs + (isCall ? Math.max(0, at - state.lastAt) : 0);
  return { ...state, apiMs, lastAt: at };
}

/** What a model was paid for. */
export interface PaidModel {
  readonly model: string;
  readonly usage: Usage;
  readonly costMicroUsd: number;
}

/** With what others paid, such as the sub-agents of a run. */
export function withPaid(state: Projection, paid: readonly PaidModel[]): Projection {
  return { ...state, modelUsage: paid.reduce(addPaid, state.modelUsage) };
}

function addPaid(
  all: Projection['modelUsage'],
  { model, usage, costMicroUsd }: PaidModel,
): Projection['modelUsage'] {
  const before = Object.hasOwn(all, model) ? all[model] : undefined;
  const after: SDKModelUsage = {
    inputTokens: (before?.inputTokens ?? 0) + usage.input,
    outputTokens: (before?.outputTokens ?? 0) + usage.output,
    cacheReadInputTokens: (before?.cacheReadInputTokens ?? 0) + usage.cacheRead,
    cacheCreationInputTokens: (before?.cacheCreationInputTokens ?? 0) + usage.cacheWrite,
    costUSD: (Math.round((before?.costUSD ?? 0) * 1e6) + costMicroUsd) / 1e6,
  };
  return { ...all, [model]: after };
}

function withReply(state: Projection, event: EventOf<'model_response'>): Projection {
  const { calls } = event;
  const surplus = calls.slice(CALLS_MAX).map(({ id }) => id);
  return {
    ...state,
    modelUsage: addPaid(state.modelUsage, event),
    inputs: new Map(calls.map(({ id, args }) => [id, args])),
    results: new Map(surplus.map((id) => [id, surplusResult(id)])),
    surplus,
    stopReason: stopReasonOf(event),
  };
}

function withResult(state: Projection, event: EventOf<'tool_finished'>): Projection {
  const { callId, tool, status, code, content } = event;
  const results = new Map(state.results).set(callId, { content, isError: status === 'error' });
  if (code === undefined || !DENIED_CODES.includes(code)) return { ...state, results };
  const denial = {
    tool_name: tool,
    tool_use_id: callId,
    tool_input: state.inputs.get(callId) ?? null,
  };
  return { ...state, results, denials: [...state.denials, denial] };
}

/** As vendors name it, a reason that nobody here knows too; null: the reply was cut off. */
export function stopReasonOf(event: EventOf<'model_response'>): string | null {
  if (event.partial) return null;
  const { reason, detail } = stopWords(event);
  if (reason === 'unknown' && detail !== '') return detail;
  return reason === 'context_exceeded' ? 'model_context_window_exceeded' : reason;
}

export function stopSequenceOf(event: EventOf<'model_response'>): string | null {
  const { reason, detail } = stopWords(event);
  return reason === 'stop_sequence' && detail !== '' && !event.partial ? detail : null;
}

function stopWords({ stopReason }: EventOf<'model_response'>) {
  const [, reason = stopReason, detail = ''] = /^([a-z_]+): (.*)$/s.exec(stopReason) ?? [];
  return { reason, detail };
}
