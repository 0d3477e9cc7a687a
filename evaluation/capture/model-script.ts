/**
 * The replies of a recorded model as the script of a case. Attempts that a dead worker made say nothing of the model and
 * are left out.
 */
import { isRecord } from '../../core/json/shape.js';
import type { Json } from '../../core/json/json.js';
import type { Reply, ReplyStop } from '../../core/state/model.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import { plural } from '../../pure/plural.js';
import { unparsedText } from '../../providers/tool-arguments.js';
import type { WrittenAnswer, WrittenCall, WrittenFailure } from '../format/replies.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import { refused } from './refused.js';
import type { Texts } from './texts.js';

export interface CapturedScript {
  readonly replies: readonly (WrittenAnswer | WrittenFailure)[];
  /** Attempts that failed were paid for: their price is not the script's to say. */
  readonly isPriceKnown: boolean;
  /** In words: attempts that the script does not say. */
  readonly leftOut: readonly string[];
}

/** In words: what a case does without where the price is not known. */
export const PRICE_LEFT_OUT =
  'its cost, which is not compared: it is also that of attempts without an answer, of replies that were cut off or of tools that a vendor ran';

type ModelCall = ReturnType<typeof ofKind<'call_model'>>[number];

export function modelScript(recording: Recording, texts: Texts, isSlow: boolean): CapturedScript {
  let isPriceKnown = true;
  const replies = ofKind(recording, 'call_model').flatMap((call) => {
    const output = outputOf(call.activity, 'call_model');
    const failed = failedAttempts(call);
    const { lostCostMicroUsd = 0 } = output ?? detailsOf(call);
    const isPartial = output?.reply.partial === true;
    // Uses of the vendor's tools have no price in a case.
    const fees = output?.reply.hosted?.feesMicroUsd ?? 0;
    if (lostCostMicroUsd !== 0 || fees > 0 || isPartial || call.activity.end.kind === 'cancelled') {
      isPriceKnown = false;
    }
    const delay = isSlow ? { delayMs: call.activity.tookMs } : {};
    if (output === undefined) {
      // It was still asked when the time of the run was over.
      const { kind } = call.activity.end;
      const { timeoutMs } = recording.frozen.budget;
      const isCut = isSlow && kind !== 'failed' && timeoutMs !== 'unlimited';
      if (isCut) return [{ text: '(cut off)', delayMs: timeoutMs }];
      return failed.map((one) => ({ ...one, ...delay }));
    }
    const { messageId, blocks } = nodeOf(recording, call, output.head);
    const saidNothing = isPartial && output.reply.text === undefined;
    const answer = saidNothing
      ? []
      : [{ ...answerOf(output.reply, messageId === undefined ? [] : blocks, texts), ...delay }];
    return [...failed, ...answer];
  });
  return { replies, isPriceKnown, leftOut: unansweredIn(recording) };
}

/** Attempts that say nothing of the model, by call. */
function unansweredIn(recording: Recording): readonly string[] {
  return ofKind(recording, 'call_model').flatMap((call) => {
    const lost = retriedOf(call).filter((code) => NOT_THE_MODEL.includes(code));
    if (lost.length === 0) return [];
    const why = [...new Set(lost)].join(', ');
    return [
      `model call ${call.input.call}: ${plural(lost.length, 'attempt')} without an answer (${why})`,
    ];
  });
}

/** The node of the reply; without one when nothing of it was kept. */
function nodeOf(
  { bundle }: Recording,
  { input }: ModelCall,
  head: string,
): Partial<TranscriptNode> & Pick<TranscriptNode, 'blocks'> {
  const node = bundle.nodes[head] as unknown as TranscriptNode | undefined;
  return node?.messageId === input.replyMessageId ? node : { blocks: [] };
}

function answerOf(reply: Reply, blocks: readonly StoredBlock[], texts: Texts): WrittenAnswer {
  if ((reply.hosted?.unlisted ?? 0) > 0)
    throw refused('its vendor ran more calls of its own tools than are kept of one reply');
  if ((reply.surplus ?? 0) > 0) throw refused('a reply had more calls than are kept of one');
  const thinking = blocks.flatMap((block) =>
    block.type === 'thinking' ? [texts.text(block.text)] : [],
  );
  const calls = [
    ...hostedCalls(reply, texts),
    ...callsOf(reply, blocks, texts),
    ...cutCalls(reply),
  ];
  const text = reply.text === undefined ? undefined : texts.text(reply.text);
  return {
    ...(thinking.length > 0 && { thinking: thinking.join('\n') }),
    ...(text !== undefined && { text }),
    ...(calls.length > 0 && { calls }),
    ...stopOf(reply, calls.length > 0),
    ...(reply.escalation !== undefined && { escalate: reply.escalation }),
    ...(reply.partial === true && { chunks: 1 }),
    usage: { ...reply.usage },
  };
}

/** As the model wrote them: with what they say of other calls. */
function callsOf(
  reply: Reply,
  blocks: readonly StoredBlock[],
  texts: Texts,
): readonly WrittenCall[] {
  const written = new Map(
    blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.args] as const] : [])),
  );
  return reply.calls.map(({ id, tool, args }) => {
    const input = texts.value(written.get(id) ?? args);
    const unparsed = unparsedText(input);
    return unparsed === undefined ? { id, tool, input } : { id, tool, rawInput: unparsed };
  });
}

/** What the vendor ran itself: in a case its model runs it, and the tool has what came of it. */
function hostedCalls({ hosted }: Reply, texts: Texts): readonly WrittenCall[] {
  return (hosted?.calls ?? []).map(({ id, tool, args }) => ({
    id,
    tool,
    input: JSON.parse(texts.text(args)) as Json,
  }));
}

/** The number comes from a file. */
const CUT_CALLS_MAX = 1_000;

function cutCalls({ cutCalls = 0, calls }: Reply): readonly WrittenCall[] {
  if (cutCalls > CUT_CALLS_MAX)
    throw refused(`a reply had more than ${CUT_CALLS_MAX} calls cut off`);
  return Array.from({ length: cutCalls }, (_, index) => ({
    id: `cut_${index + 1}`,
    tool: calls[0]?.tool ?? 'cut_off',
    incomplete: true as const,
  }));
}

const STOP_WORDS: Partial<Record<ReplyStop, string>> = {
  context_exceeded: 'model_context_window_exceeded',
};

/** `hasCalls`: of any kind, also of tools that the vendor ran. */
function stopOf({ stop, stopDetail, refusal }: Reply, hasCalls: boolean): Partial<WrittenAnswer> {
  if (stop === 'refusal' && refusal !== undefined && refusal !== '') return { refuse: refusal };
  if (stop === 'unknown') return { stopReason: stopDetail ?? 'unknown' };
  const usual = hasCalls ? 'tool_use' : 'end_turn';
  return {
    ...(stop !== usual && { stopReason: STOP_WORDS[stop] ?? stop }),
    ...(stop === 'stop_sequence' && stopDetail !== undefined && { stopSequence: stopDetail }),
  };
}

/** Classes of failed attempts that say nothing of the model. */
const NOT_THE_MODEL = ['WorkerLost', 'StoreUnavailable', 'NotServed', 'BudgetExhausted', 'Aborted'];

function failedAttempts(call: ModelCall): readonly WrittenFailure[] {
  const { end } = call.activity;
  const last = end.kind === 'failed' ? [end.type] : [];
  return [...retriedOf(call), ...last]
    .filter((code) => !NOT_THE_MODEL.includes(code))
    .map(failureOf);
}

/** Classes of the attempts before the last one. */
function retriedOf(call: ModelCall): readonly string[] {
  const { retried = detailsOf(call).retried } = outputOf(call.activity, 'call_model') ?? {};
  return (retried ?? []).map((one) => one.class);
}

interface FailureDetails {
  readonly lostCostMicroUsd?: number;
  readonly retried?: readonly { readonly class: string }[];
}

function detailsOf({ activity: { end } }: ModelCall): FailureDetails {
  const details: Json = end.kind === 'failed' ? end.details : null;
  return isRecord(details) ? details : {};
}

const FAILURES: { readonly [code: string]: WrittenFailure['error'] } = {
  RateLimited: { status: 429 },
  Overloaded: { status: 529 },
  ServerError: { status: 500 },
  NetworkTimeout: { kind: 'network_timeout' },
  PromptTooLong: { kind: 'prompt_too_long' },
  AuthError: { status: 401 },
  InvalidRequest: { status: 400 },
};

function failureOf(code: string): WrittenFailure {
  const error = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined;
  if (error === undefined) throw refused(`a model call failed with ${code}, which no case can say`);
  return { error };
}
