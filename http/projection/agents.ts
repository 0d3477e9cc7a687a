/**
 * Sub-agents that work on calls of a message: who they are, their whole replies and their questions, as parts of the message.
 * Invariant: a part has an id of its own, so that a message which is told again has it once.
 */
import type { WholeEvent } from '../../pure/sdk/projection.js';
import { closeAsk, openAsk } from './asks.js';
import type { UiAgent, UiChunk } from './chunk.js';
import { inTurn, type RunBelow, type UiFold, type UiPlace, type UiTold } from './state.js';
import { wholeText } from './text.js';

/** Of one reply of a sub-agent; its transcript has all of it. */
const SAID_CHARS_MAX = 16_000;

export function tellBelow(state: UiFold, of: UiPlace, event: WholeEvent): UiTold {
  const { runId, above, callId } = of;
  if (above === undefined || callId === undefined || !isShown(state, above, callId)) {
    return { state, chunks: [] };
  }
  const known = state.below.get(runId);
  const run: RunBelow = known ?? {
    runId,
    above,
    callId,
    agent: event.type === 'session_init' ? event.agent : '',
    running: new Map(),
    ended: false,
  };
  return inTurn(withRun(state, after(run, event)), [
    (now) => ({ state: now, chunks: known === undefined ? [agentChunk(run, 'running')] : [] }),
    (now) => tellEvent(now, run, event),
  ]);
}

/** Calls of messages before this one are shown there. */
function isShown({ runId, calls, below }: UiFold, above: string, callId: string): boolean {
  return above === runId ? calls.has(callId) : below.has(above);
}

function withRun(state: UiFold, run: RunBelow): UiFold {
  return { ...state, below: new Map(state.below).set(run.runId, run) };
}

function after(run: RunBelow, event: WholeEvent): RunBelow {
  switch (event.type) {
    case 'tool_started':
      return { ...run, running: new Map(run.running).set(event.callId, event.child) };
    case 'tool_finished': {
      const running = new Map(run.running);
      running.delete(event.callId);
      return { ...run, running };
    }
    case 'run_result':
      return { ...run, running: new Map(), ended: true };
    default:
      return run;
  }
}

function tellEvent(state: UiFold, run: RunBelow, event: WholeEvent): UiTold {
  switch (event.type) {
    case 'model_response': {
      const { messageId, text: stored } = event;
      const text = stored === undefined ? '' : wholeText(stored);
      if (text.trim() === '') return { state, chunks: [] };
      const data = { runId: run.runId, messageId, text: cut(text) };
      return { state, chunks: [{ type: 'data-holdfast-said', id: messageId, data }] };
    }
    case 'tombstone': {
      const data = { messageId: event.targetMessageId };
      return { state, chunks: [{ type: 'data-holdfast-superseded', data }] };
    }
    case 'approval_requested':
    case 'input_request':
      return event.kind === 'user_message'
        ? { state, chunks: [] }
        : openAsk(state, event, run.runId);
    case 'approval_resolved':
    case 'input_provided':
      return closeAsk(state, event);
    case 'approval_withdrawn':
      return closeAsk(state, { ...event, outcome: 'withdrawn' });
    case 'run_result': {
      const { stopReason } = event.result;
      return { state, chunks: [agentChunk(run, 'ended', stopReason)] };
    }
    default:
      return { state, chunks: [] };
  }
}

function cut(text: string): string {
  return text.length <= SAID_CHARS_MAX ? text : `${text.slice(0, SAID_CHARS_MAX)}…`;
}

function agentChunk(
  { runId, above, callId, agent }: RunBelow,
  state: UiAgent['state'],
  stopReason?: string,
): UiChunk {
  const said = stopReason === undefined ? {} : { stopReason };
  const data: UiAgent = { runId, above, callId, agent, state, ...said };
  return { type: 'data-holdfast-agent', id: runId, data };
}
