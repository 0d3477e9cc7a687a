/**
 * Questions to people as parts of a UI message: of each a part with its hash, its expiry and its form, and beside it, of
 * the approval of a call, the request for approval that clients know.
 */
import type { Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { EventOf } from '../../pure/sdk/projection.js';
import { changeCall, showCall } from './calls.js';
import type { UiAsk, UiChunk, UiRefused } from './chunk.js';
import { inTurn, type UiFold, type UiTold } from './state.js';

/** Names the exact action beside the question, so that a client that sends it back consents to nothing else. */
export function approvalIdOf({ askId, argsHash }: Pick<AskView, 'askId' | 'argsHash'>): string {
  return `${askId}#${argsHash}`;
}

export function refusedChunk(data: UiRefused): UiChunk {
  return { type: 'data-holdfast-refused', id: data.askId, data };
}

/** Undefined for what names no question. */
export function askOfApproval(
  approvalId: string,
): { readonly askId: string; readonly argsHash: string } | undefined {
  const [, askId, argsHash] = /^(.{1,400})#([0-9a-f]{64})$/s.exec(approvalId) ?? [];
  return askId === undefined || argsHash === undefined ? undefined : { askId, argsHash };
}

/** `of`: the run that asks. A question of a sub-agent stands at no call of the message. */
export function openAsk(state: UiFold, ask: AskView, of = state.runId): UiTold {
  // Which message comes next is nothing to decide on.
  if (ask.kind === 'user_message') {
    return { state: { ...state, awaitsUser: true }, chunks: [] };
  }
  const callId = of === state.runId ? ask.callId : undefined;
  const shown = callId === undefined ? { state, chunks: [] } : showCall(state, callId);
  const call = callId === undefined ? undefined : shown.state.calls.get(callId);
  const atCall = ask.kind === 'approval' && call !== undefined && call.state !== 'ended';
  const data = askChunk(of, ask, { state: 'open' });
  const asks = new Map(state.asks).set(ask.askId, { ask, of, atCall });
  const request = atCall && callId !== undefined ? [requestOf(ask, callId)] : [];
  return {
    state: { ...shown.state, asks },
    chunks: [...shown.chunks, data, ...request],
  };
}

function requestOf(ask: AskView, toolCallId: string): UiChunk {
  return { type: 'tool-approval-request', approvalId: approvalIdOf(ask), toolCallId };
}

/** Questions at calls that are still open: a client that has answered one shows it as open again. */
export function openAgain({ asks }: UiFold, known: ReadonlySet<string>): readonly UiChunk[] {
  return [...asks.values()].flatMap(({ ask, atCall }) =>
    atCall && known.has(ask.askId) && ask.callId !== undefined ? [requestOf(ask, ask.callId)] : [],
  );
}

interface AskEnd {
  readonly askId: string;
  readonly outcome: string;
  readonly by?: readonly string[];
  readonly reason?: string;
}

export function closeAsk(state: UiFold, { askId, outcome, by, reason }: AskEnd): UiTold {
  const known = state.asks.get(askId);
  if (known === undefined) return { state: { ...state, awaitsUser: false }, chunks: [] };
  const { ask, of, atCall } = known;
  const asks = new Map(state.asks);
  asks.delete(askId);
  const end = { state: outcome, ...(by && { by }), ...(reason !== undefined && { reason }) };
  const chunks = [askChunk(of, ask, end)];
  const isNo = outcome === 'rejected' || outcome === 'expired';
  const denied =
    isNo && atCall && ask.callId !== undefined
      ? new Set(state.denied).add(ask.callId)
      : state.denied;
  if (atCall && state.profile === 'v7' && outcome !== 'withdrawn') {
    chunks.push({
      type: 'tool-approval-response',
      approvalId: approvalIdOf(ask),
      approved: !isNo,
      ...(reason !== undefined && { reason }),
    });
  }
  return { state: { ...state, asks, denied }, chunks };
}

export function resolveAsk(state: UiFold, event: EventOf<'approval_resolved'>): UiTold {
  const { corrected, callId } = event;
  return inTurn(state, [
    (now) => closeAsk(now, event),
    (now) =>
      corrected === undefined || callId === undefined
        ? { state: now, chunks: [] }
        : changeCall(now, callId, corrected),
  ]);
}

function askChunk(
  runId: string,
  ask: AskView,
  end: Pick<UiAsk, 'state' | 'by' | 'reason'>,
): UiChunk {
  const { askId, kind, argsHash, callId, tool, args, question, answeredBy, card } = ask;
  const { roles, quorum, openedAt, expiresAt } = ask;
  const data: UiAsk = {
    askId,
    runId,
    kind,
    argsHash,
    ...(callId !== undefined && { callId }),
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args }),
    ...(question !== undefined && { question }),
    roles,
    quorum,
    openedAt,
    expiresAt,
    ...(answeredBy !== undefined && { answeredBy }),
    ...(card !== undefined && { card: card as unknown as Json }),
    ...formOf(ask),
    ...end,
  };
  return { type: 'data-holdfast-ask', id: askId, data };
}

function formOf({ elicitation }: AskView): Pick<UiAsk, 'form'> {
  if (elicitation === undefined) return {};
  const { message, mode, schema, url, problem } = elicitation;
  return {
    form: {
      message,
      mode,
      ...(schema !== undefined && { schema }),
      ...(url !== undefined && { url }),
      ...(problem !== undefined && { problem }),
    },
  };
}
