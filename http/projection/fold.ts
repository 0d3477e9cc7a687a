/**
 * Moments of a run as chunks of a UI message stream: a pure fold.
 * Invariants: one message for what a run says between two words of its user; parts come in the order of the run;
 * of what was told before, each chunk is the same whenever it is told again.
 */
import type { WholeEvent } from '../../pure/sdk/projection.js';
import { tellBelow } from './agents.js';
import { closeAsk, openAgain, openAsk, resolveAsk } from './asks.js';
import { endCall, endCallsOf, noteCalls, startCall } from './calls.js';
import type { UiChunk, UiFinishReason, UiRun } from './chunk.js';
import { isWaiting } from './waiting.js';
import { dropReply, tellPiece, tellReply } from './reply.js';
import {
  inTurn,
  startFold,
  type UiFold,
  type UiMoment,
  type UiOptions,
  type UiTold,
} from './state.js';

/** The beginning of a message. `messageId`: what the client calls it. */
export function startMessage(
  options: UiOptions & {
    readonly messageId: string;
    readonly runId: string;
    readonly seq?: number;
  },
): UiTold {
  const { messageId, runId, seq = -1 } = options;
  const state = startFold(options, runId, seq);
  return { state, chunks: [{ type: 'start', messageId }, runChunk(state, { state: 'running' })] };
}

/** What one moment tells. After `ended` nothing is told. */
export function tellMoment(state: UiFold, moment: UiMoment): UiTold {
  if (state.ended) return { state, chunks: [] };
  const { of } = moment;
  if (of !== undefined && of.runId !== state.runId) {
    return moment.kind === 'chunk' ? { state, chunks: [] } : tellBelow(state, of, moment.event);
  }
  if (moment.kind === 'chunk') return tellPiece(state, moment.chunk);
  const { event } = moment;
  return tellEvent({ ...state, seq: event.stamp.seq }, event);
}

function tellEvent(state: UiFold, event: WholeEvent): UiTold {
  switch (event.type) {
    case 'model_response': {
      const { state: now, chunks, attempt } = tellReply(state, event);
      return { state: noteCalls(now, event, attempt), chunks };
    }
    case 'tool_started':
      return startCall(state, event);
    case 'tool_finished':
      return endCall(state, event);
    case 'tool_results_message':
      return endCallsOf(state, () => true);
    case 'approval_requested':
    case 'input_request':
      return openAsk(state, event);
    case 'approval_resolved':
      return resolveAsk(state, event);
    case 'approval_withdrawn':
      return closeAsk(state, { ...event, outcome: 'withdrawn' });
    case 'input_provided':
      return closeAsk(state, event);
    case 'user_message':
      return {
        state: event.from === undefined ? { ...state, awaitsUser: false } : state,
        chunks: [],
      };
    case 'tombstone': {
      const data = { messageId: event.targetMessageId };
      return { state, chunks: [{ type: 'data-holdfast-superseded', data }] };
    }
    case 'run_result':
      return endRun(state, event.result);
    default:
      return { state, chunks: [] };
  }
}

function endRun(
  state: UiFold,
  result: { readonly status: string; readonly stopReason: string },
): UiTold {
  const { status, stopReason } = result;
  return inTurn(state, [
    dropReply,
    (now) => endCallsOf(now, () => true),
    (now) => ({
      state: { ...now, ended: true },
      chunks: [
        runChunk(now, { state: 'ended', stopReason }),
        ...finishChunks(
          now,
          status === 'completed' ? 'stop' : status === 'failed' ? 'error' : 'other',
        ),
        ...(status === 'failed'
          ? [{ type: 'error', errorText: failedText(stopReason) } as const]
          : []),
      ],
    }),
  ]);
}

function failedText(stopReason: string): string {
  return stopReason === 'failed' ? 'The run has failed.' : `The run has failed: ${stopReason}.`;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The stream of a message ends and its run does not: it waits, or the stream has reached a limit. `known`: questions that the
 * client had before this stream, and may have answered.
 */
export function leaveMessage(state: UiFold, known: ReadonlySet<string> = NONE): readonly UiChunk[] {
  if (state.ended) return [];
  const waits = isWaiting(state);
  return [
    ...(waits ? openAgain(state, known) : []),
    runChunk(state, { state: waits ? 'waiting' : 'going_on' }),
    ...finishChunks(state, waits ? 'stop' : 'other'),
  ];
}

function finishChunks({ hasStep }: UiFold, finishReason: UiFinishReason): readonly UiChunk[] {
  const step: readonly UiChunk[] = hasStep ? [{ type: 'finish-step' }] : [];
  return [...step, { type: 'finish', finishReason }];
}

function runChunk({ runId, seq }: UiFold, now: Omit<UiRun, 'runId' | 'seq'>): UiChunk {
  return { type: 'data-holdfast-run', id: 'run', data: { runId, seq, ...now } };
}

/** A whole run, or what is known of it, as the chunks of one message. */
export function chunksOf(
  moments: Iterable<UiMoment>,
  options: UiOptions & { readonly messageId: string; readonly runId: string },
): readonly UiChunk[] {
  const chunks: UiChunk[] = [];
  let { state, chunks: told } = startMessage(options);
  chunks.push(...told);
  for (const moment of moments) {
    ({ state, chunks: told } = tellMoment(state, moment));
    chunks.push(...told);
  }
  return [...chunks, ...leaveMessage(state)];
}
