/**
 * Events of a run as SDK messages: a pure fold over the whole line of events, from `seq` 0.
 * Invariants: an event gives at most one message, in the order of events: `system/init` first, `result` last;
 * texts are whole, because whoever folds hands them over; nothing that a message says is remembered longer
 * than the messages after it need.
 */
import { AWAITING, type AwaitingStatus } from '../awaiting.js';
import type { AskKind } from '../ask/ask.js';
import type { EventBody, RunEvent } from '../event.js';
import type { Json, StoredText } from '../json.js';
import type { PermissionMode } from '../permission-mode.js';
import { DENIED_CODES } from '../tool-result.js';
import type {
  SDKAssistantMessage,
  SDKMessage,
  SDKMessageBase,
  SDKModelUsage,
  SDKPermissionDenial,
  SDKStatusMessage,
  SDKToolResultBlock,
} from './message.js';
import { resultMessage, usageOf } from './result-message.js';
import { uuidOf } from './uuid.js';

/** What no event says of a run. */
export interface Circumstances {
  readonly cwd: string;
  readonly permissionMode: PermissionMode;
}

export interface Projection {
  readonly circumstances: Circumstances;
  readonly sessionId: string;
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
  readonly denials: readonly SDKPermissionDenial[];
  readonly errors: readonly string[];
  readonly openAsks: ReadonlyMap<string, AskKind>;
  readonly stopReason: string | null;
}

/** Gives the whole text; it was asked for with {@link textsOf}. */
export type ReadText = (text: StoredText) => string;

const ERRORS_MAX = 20;

export function startProjection(circumstances: Circumstances): Projection {
  return {
    circumstances,
    sessionId: '',
    startedAt: 0,
    lastAt: 0,
    apiMs: 0,
    modelUsage: {},
    inputs: new Map(),
    results: new Map(),
    denials: [],
    errors: [],
    openAsks: new Map(),
    stopReason: null,
  };
}

/** The texts that the message of this event shows. */
export function textsOf(state: Projection, event: RunEvent): readonly StoredText[] {
  switch (event.type) {
    case 'model_response':
      return event.text === undefined ? [] : [event.text];
    case 'user_message':
      return [event.text];
    case 'tool_results_message':
      return event.callIds.flatMap((id) => state.results.get(id)?.content ?? []);
    case 'run_result':
      return event.result.answer === undefined ? [] : [event.result.answer];
    default:
      return [];
  }
}

/** What is known after this event; large arguments of calls must have been put back into it. */
export function advanceProjection(before: Projection, event: RunEvent): Projection {
  const state = timed(before, event);
  switch (event.type) {
    case 'session_init':
      return { ...state, sessionId: event.sessionId ?? event.stamp.runId };
    case 'model_response':
      return withReply(state, event);
    case 'model_error': {
      const said = `${event.class} after ${event.attempts} attempts: ${event.message}`;
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

/** The message of an event, from what is known after it; most kinds of events have none. */
export function messageOf(
  state: Projection,
  event: RunEvent,
  read: ReadText,
): SDKMessage | undefined {
  const base = baseOf(state, event);
  switch (event.type) {
    case 'session_init':
      return initMessage(state, event, base);
    case 'model_response':
      return assistantMessage(event, base, read);
    case 'user_message':
      return { ...base, ...FROM_USER, message: { role: 'user', content: read(event.text) } };
    case 'tool_results_message': {
      const content = event.callIds.flatMap((id) => resultBlock(state, id, read));
      return { ...base, ...FROM_USER, message: { role: 'user', content } };
    }
    case 'tool_started':
      return { ...base, ...progressOf(event), elapsed_time_seconds: 0 };
    case 'tool_finished':
      return { ...base, ...progressOf(event), elapsed_time_seconds: event.durationMs / 1000 };
    case 'compact_boundary': {
      const { preTokens: pre_tokens, postTokens: post_tokens } = event;
      const compact_metadata = { trigger: 'auto', pre_tokens, post_tokens } as const;
      return { ...base, type: 'system', subtype: 'compact_boundary', compact_metadata };
    }
    case 'tombstone': {
      const { targetMessageId: target_message_id, reason } = event;
      return { ...base, type: 'system', subtype: 'tombstone', target_message_id, reason };
    }
    case 'run_result':
      return resultMessage({ state, event, base, read });
    default:
      return statusMessage(state, event, base);
  }
}

/** Said when an event comes again: the run was reset, and goes on from there. */
export function resetMessage(state: Projection, event: RunEvent): SDKMessage {
  const base = baseOf(state, event);
  const uuid = uuidOf(`${base.run_id}:${base.seq}:reset:${event.stamp.at}`);
  return { ...base, uuid, type: 'system', subtype: 'reset' };
}

type Of<Type extends EventBody['type']> = Extract<RunEvent, { type: Type }>;

const FROM_USER = { type: 'user', parent_tool_use_id: null } as const;

function baseOf(state: Projection, { stamp }: RunEvent): SDKMessageBase {
  return {
    uuid: uuidOf(`${stamp.runId}:${stamp.seq}`),
    session_id: state.sessionId,
    run_id: stamp.runId,
    seq: stamp.seq,
  };
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

function withReply(state: Projection, event: Of<'model_response'>): Projection {
  const { model, usage, costMicroUsd, calls } = event;
  const before = Object.hasOwn(state.modelUsage, model) ? state.modelUsage[model] : undefined;
  const after: SDKModelUsage = {
    inputTokens: (before?.inputTokens ?? 0) + usage.input,
    outputTokens: (before?.outputTokens ?? 0) + usage.output,
    cacheReadInputTokens: (before?.cacheReadInputTokens ?? 0) + usage.cacheRead,
    cacheCreationInputTokens: (before?.cacheCreationInputTokens ?? 0) + usage.cacheWrite,
    costUSD: (Math.round((before?.costUSD ?? 0) * 1e6) + costMicroUsd) / 1e6,
  };
  return {
    ...state,
    modelUsage: { ...state.modelUsage, [model]: after },
    inputs: new Map(calls.map(({ id, args }) => [id, args])),
    results: new Map(),
    stopReason: stopReasonOf(event),
  };
}

function withResult(state: Projection, event: Of<'tool_finished'>): Projection {
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

function initMessage(
  { circumstances }: Projection,
  { agent, model, tools, resumed }: Of<'session_init'>,
  base: SDKMessageBase,
): SDKMessage {
  return {
    ...base,
    type: 'system',
    subtype: 'init',
    agent,
    model,
    ...circumstances,
    tools,
    mcp_servers: [],
    ...(resumed !== undefined && {
      resumed: { session_id: resumed.sessionId, messages: resumed.messages },
    }),
  };
}

function assistantMessage(
  event: Of<'model_response'>,
  base: SDKMessageBase,
  read: ReadText,
): SDKAssistantMessage {
  const { messageId: id, model, text, calls, usage } = event;
  return {
    ...base,
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text: read(text) } as const]),
        ...calls.map((call) => ({
          type: 'tool_use' as const,
          id: call.id,
          name: call.tool,
          input: call.args,
        })),
      ],
      stop_reason: stopReasonOf(event),
      stop_sequence: null,
      usage: usageOf(usage),
    },
    parent_tool_use_id: null,
  };
}

function stopReasonOf({ stopReason, partial }: Of<'model_response'>): string | null {
  if (partial) return null;
  return stopReason === 'context_exceeded' ? 'model_context_window_exceeded' : stopReason;
}

function resultBlock(
  state: Projection,
  callId: string,
  read: ReadText,
): readonly SDKToolResultBlock[] {
  const found = state.results.get(callId);
  if (found === undefined) return [];
  const { content, isError: is_error } = found;
  return [{ type: 'tool_result', tool_use_id: callId, content: read(content), is_error }];
}

function progressOf({ callId, tool }: Of<'tool_started'> | Of<'tool_finished'>) {
  const about = { tool_use_id: callId, tool_name: tool, parent_tool_use_id: null };
  return { type: 'tool_progress', ...about } as const;
}

function statusMessage(
  state: Projection,
  event: RunEvent,
  base: SDKMessageBase,
): SDKStatusMessage | undefined {
  const status = { ...base, type: 'system', subtype: 'status', status: waitingFor(state) } as const;
  switch (event.type) {
    case 'approval_requested':
    case 'input_request': {
      const { type, stamp: _, ...ask } = event;
      return { ...status, event: type, ask, ask_id: ask.askId };
    }
    case 'approval_resolved': {
      const { type, askId: ask_id, outcome, by, reason } = event;
      const said = reason === undefined ? {} : { reason };
      return { ...status, event: type, ask_id, outcome, by, ...said };
    }
    case 'approval_withdrawn': {
      const { type, askId: ask_id, reason } = event;
      return { ...status, event: type, ask_id, outcome: 'withdrawn', reason };
    }
    case 'input_provided': {
      const { type, askId: ask_id, outcome, by } = event;
      return { ...status, event: type, ask_id, outcome, by };
    }
    case 'interruption':
      return { ...status, event: event.type, reason: event.by };
    default:
      return undefined;
  }
}

function waitingFor({ openAsks }: Projection): AwaitingStatus | null {
  const kinds = [...openAsks.values()];
  return AWAITING.find(([kind]) => kinds.includes(kind))?.[1] ?? null;
}
