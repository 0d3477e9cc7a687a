/**
 * Events of a run as SDK messages.
 * Invariants: an event gives at most one message, in the order of events: `system/init` first, `result` last;
 * texts are whole, because whoever asks hands them over.
 */
import { AWAITING, type AwaitingStatus } from '../../core/loop/awaiting.js';
import type { RunEvent } from '../../core/state/event.js';
import { warningKind } from '../../core/state/warning.js';
import type { StoredText } from '../../core/json/json.js';
import type {
  SDKAssistantMessage,
  SDKMessage,
  SDKMessageBase,
  SDKStatusMessage,
  SDKToolResultBlock,
} from './message.js';
import {
  stopReasonOf,
  stopSequenceOf,
  type Besides,
  type EventOf,
  type Projection,
  type WholeEvent,
} from './projection.js';
import { resultMessage, usageOf, type ReadText } from './result-message.js';
import { uuidOf } from './uuid.js';

/** The texts that the message of this event shows. */
export function textsOf(state: Projection, event: RunEvent): readonly StoredText[] {
  switch (event.type) {
    case 'model_response':
      return event.text === undefined ? [] : [event.text];
    case 'user_message':
      return [event.text];
    case 'tool_results_message':
      return answeredIds(state, event).flatMap((id) => state.results.get(id)?.content ?? []);
    case 'run_result':
      return event.result.answer === undefined ? [] : [event.result.answer];
    default:
      return [];
  }
}

/** The message of an event, from what is known after it; most kinds of events have none. */
export function messageOf(
  state: Projection,
  event: WholeEvent,
  read: ReadText,
): SDKMessage | undefined {
  const base = baseOf(state, event);
  switch (event.type) {
    case 'session_init':
      return initMessage(state, event, base);
    case 'model_response':
      return { ...assistantMessage(event, base, read), parent_tool_use_id: state.parentToolUseId };
    case 'user_message':
      return { ...base, ...fromUser(state), message: { role: 'user', content: read(event.text) } };
    case 'tool_results_message': {
      const content = answeredIds(state, event).flatMap((id) => resultBlock(state, id, read));
      return { ...base, ...fromUser(state), message: { role: 'user', content } };
    }
    case 'tool_started':
      return { ...base, ...progressOf(state, event), elapsed_time_seconds: 0 };
    case 'tool_finished':
      // What was refused or withdrawn made no progress; its result says why. What the vendor ran has only its end.
      if (!event.started && event.hosted !== true) return undefined;
      return {
        ...base,
        ...progressOf(state, event),
        elapsed_time_seconds: event.durationMs / 1000,
      };
    case 'compact_boundary': {
      const { preTokens: pre_tokens, postTokens: post_tokens } = event;
      const compact_metadata = { trigger: 'auto', pre_tokens, post_tokens } as const;
      return { ...base, type: 'system', subtype: 'compact_boundary', compact_metadata };
    }
    case 'handoff': {
      if (event.started !== undefined) {
        const { callId: tool_use_id, filter, runId: run_id } = event.started;
        const handoff = { tool_use_id, from: event.by, to: event.to, filter, run_id };
        return { ...base, type: 'system', subtype: 'handoff', handoff };
      }
      if (event.run === undefined) return undefined;
      const { callId: tool_use_id, from, filter, model, tools } = event.run;
      const handoff = { tool_use_id, from, to: event.to, filter, model, tools };
      return { ...base, type: 'system', subtype: 'handoff', handoff };
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

function fromUser({ parentToolUseId: parent_tool_use_id }: Projection) {
  return { type: 'user', parent_tool_use_id } as const;
}

function baseOf(state: Projection, { stamp }: RunEvent): SDKMessageBase {
  return {
    uuid: uuidOf(`${stamp.runId}:${stamp.seq}:${stamp.at}`),
    session_id: state.sessionId,
    run_id: stamp.runId,
    seq: stamp.seq,
    ...(state.parentToolUseId !== null && { parent_tool_use_id: state.parentToolUseId }),
  };
}

function initMessage(
  { circumstances: { cwd, permissionMode } }: Projection,
  { agent, model, betas, tools, resumed, connectors = [] }: EventOf<'session_init'>,
  base: SDKMessageBase,
): SDKMessage {
  return {
    ...base,
    type: 'system',
    subtype: 'init',
    agent,
    model,
    ...(betas !== undefined && { betas }),
    cwd,
    permissionMode,
    tools,
    mcp_servers: connectors.map(({ name, status }) => ({ name, status })),
    ...(resumed !== undefined && {
      resumed: { session_id: resumed.sessionId, messages: resumed.messages },
    }),
  };
}

function assistantMessage(
  event: EventOf<'model_response'> & Besides,
  base: SDKMessageBase,
  read: ReadText,
): Omit<SDKAssistantMessage, 'parent_tool_use_id'> {
  const { messageId: id, model, text, calls, usage, thinking = [], sources } = event;
  return {
    ...base,
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [
        ...thinking.map((thought) => ({ type: 'thinking' as const, thinking: thought })),
        ...(text === undefined ? [] : [{ type: 'text', text: read(text) } as const]),
        ...calls.map((call) => ({
          type: 'tool_use' as const,
          id: call.id,
          name: call.tool,
          input: call.args,
        })),
      ],
      stop_reason: stopReasonOf(event),
      stop_sequence: stopSequenceOf(event),
      usage: usageOf(usage),
    },
    ...(sources !== undefined && { sources }),
  };
}

function answeredIds(
  { surplus }: Projection,
  { callIds }: EventOf<'tool_results_message'>,
): readonly string[] {
  return [...callIds, ...surplus];
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

function progressOf(
  { parentToolUseId: parent_tool_use_id }: Projection,
  { callId, tool }: EventOf<'tool_started'> | EventOf<'tool_finished'>,
) {
  const about = { tool_use_id: callId, tool_name: tool, parent_tool_use_id };
  return { type: 'tool_progress', ...about } as const;
}

/** Warnings that answer what somebody asked of the run by a control. */
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
      return { ...status, event: type, ask_id, outcome, by, ...said, ...correctedIn(event) };
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
    case 'warning':
      if (warningKind(event.code)?.refusesControl !== true) return undefined;
      return { ...status, event: 'control_refused', reason: event.message };
    default:
      return undefined;
  }
}

function correctedIn({
  callId: tool_use_id,
  corrected,
}: EventOf<'approval_resolved'>): Pick<SDKStatusMessage, 'corrected'> {
  if (corrected === undefined || tool_use_id === undefined) return {};
  const { tool: tool_name, args: input } = corrected;
  return { corrected: { tool_use_id, tool_name, input } };
}

function waitingFor({ openAsks }: Projection): AwaitingStatus | null {
  const kinds = [...openAsks.values()];
  return AWAITING.find(([kind]) => kinds.includes(kind))?.[1] ?? null;
}
