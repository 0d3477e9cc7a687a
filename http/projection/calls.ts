/**
 * Calls of tools as parts of a UI message.
 * Invariants: a call is shown when something happens to it, so that a client which waits for answers to all calls of a
 * step is not kept waiting by calls whose turn has not come; a call that is shown gets exactly one end.
 */
import type { Json } from '../../core/json/json.js';
import type { EventOf } from '../../pure/sdk/projection.js';
import type { UiChunk } from './chunk.js';
import type { CallSaid, UiFold, UiTold } from './state.js';
import { outputOf, wholeText } from './text.js';

/** The calls of a reply: nothing of them is shown yet. */
export function noteCalls(
  state: UiFold,
  { messageId, calls }: EventOf<'model_response'>,
  attempt: number,
): UiFold {
  const all = new Map(state.calls);
  for (const { id, tool, args } of calls) {
    all.set(id, { tool, args, messageId, attempt, state: 'said' });
  }
  return { ...state, calls: all };
}

/** Shows a call unless it is shown, or is none of this message. */
export function showCall(state: UiFold, callId: string): UiTold {
  const call = state.calls.get(callId);
  if (call?.state !== 'said') return { state, chunks: [] };
  return withInput(state, callId, { ...call, state: 'shown' });
}

/** A person has changed what the call does. */
export function changeCall(
  state: UiFold,
  callId: string,
  { tool, args }: { readonly tool: string; readonly args: Json },
): UiTold {
  const call = state.calls.get(callId);
  if (call === undefined || call.state === 'ended') return { state, chunks: [] };
  return withInput(state, callId, { ...call, tool, args, state: 'shown' });
}

function withInput(state: UiFold, callId: string, call: CallSaid): UiTold {
  const { tool, args, messageId, attempt } = call;
  const chunk: UiChunk = {
    type: 'tool-input-available',
    toolCallId: callId,
    toolName: tool,
    input: args,
    providerExecuted: true,
    providerMetadata: { holdfast: { messageId, attempt } },
  };
  return { state: withCall(state, callId, call), chunks: [chunk] };
}

export function startCall(state: UiFold, { callId, child }: EventOf<'tool_started'>): UiTold {
  const shown = showCall(state, callId);
  const call = shown.state.calls.get(callId);
  if (call === undefined || call.state === 'ended') return shown;
  const running = { ...call, ...(child !== undefined && { child }), state: 'running' } as const;
  return { ...shown, state: withCall(shown.state, callId, running) };
}

export function endCall(state: UiFold, event: EventOf<'tool_finished'>): UiTold {
  const { callId, tool, hosted, args, stamp } = event;
  const known = state.calls.get(callId);
  // The vendor ran it: no reply said it as a call.
  const isNew = known === undefined && hosted === true;
  const said: CallSaid | undefined = isNew
    ? {
        tool,
        args: args === undefined ? null : outputOf(wholeText(args)),
        messageId: state.reply?.messageId ?? `${stamp.runId}:${stamp.seq}`,
        attempt: 1,
        state: 'said',
      }
    : known;
  if (said === undefined || said.state === 'ended') return { state, chunks: [] };
  const shown = showCall(withCall(state, callId, said), callId);
  const { child = said.child } = event;
  return {
    state: withoutCall(shown.state, callId, hosted === true || child !== undefined),
    chunks: [...shown.chunks, endOf(state, event)],
  };
}

function endOf(state: UiFold, { callId, status, content }: EventOf<'tool_finished'>): UiChunk {
  const text = wholeText(content);
  if (status === 'ok') {
    return { type: 'tool-output-available', toolCallId: callId, output: outputOf(text) };
  }
  return state.denied.has(callId)
    ? { type: 'tool-output-denied', toolCallId: callId }
    : { type: 'tool-output-error', toolCallId: callId, errorText: text };
}

const NOT_RUN = 'The call was not run.';

/** The model gets an answer to each call of its reply; those without an end were not run. */
export function endCallsOf(state: UiFold, wanted: (call: CallSaid) => boolean): UiTold {
  let now = state;
  const chunks: UiChunk[] = [];
  for (const [callId, call] of state.calls) {
    if (call.state === 'ended' || !wanted(call)) continue;
    const shown = showCall(now, callId);
    now = withoutCall(shown.state, callId, call.child !== undefined);
    const end: UiChunk = { type: 'tool-output-error', toolCallId: callId, errorText: NOT_RUN };
    chunks.push(...shown.chunks, end);
  }
  return { state: now, chunks };
}

/** A message of very many calls keeps those alone of which something may still be told. */
function withoutCall(state: UiFold, callId: string, isNamed: boolean): UiFold {
  const calls = new Map(state.calls);
  const call = calls.get(callId);
  calls.delete(callId);
  if (call !== undefined && isNamed) calls.set(callId, { ...call, args: null, state: 'ended' });
  return { ...state, calls };
}

function withCall(state: UiFold, callId: string, call: CallSaid): UiFold {
  return { ...state, calls: new Map(state.calls).set(callId, call) };
}
