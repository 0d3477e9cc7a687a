/** Scripted replies and failures in the form in which a provider gives them. */
import type { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import { NO_USAGE, type ReplyStop, type Usage } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import {
  estimateTokens,
  modelFailure,
  type HostedUse,
  type ModelErrorCode,
  type ModelReply,
  type UsageSource,
} from '../../providers/provider.js';
import { parseArguments } from '../../providers/tool-arguments.js';
import { codeOfStatus, RETRIED_CODES } from '../../testing/model-codes.js';
import type { ScriptedAnswer, ScriptedCall, ScriptedError, ScriptedFailure } from '../script.js';

const STOPS: ReadonlyMap<string, ReplyStop> = new Map([
  ['end_turn', 'end_turn'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause_turn'],
  ['model_context_window_exceeded', 'context_exceeded'],
]);

export interface ReplyPlace {
  readonly model: string;
  /** What a tool answers that the vendor runs itself; undefined: it is none, or not offered. */
  readonly runHosted: (call: ScriptedCall) => Omit<HostedUse, 'id'> | undefined;
  /** Ids of calls in the conversation: a new one must differ (G42). */
  readonly usedIds: ReadonlySet<string>;
}

/** The whole reply. */
export function wholeReply(written: ScriptedAnswer, place: ReplyPlace): ModelReply {
  const answer = withOutput(written);
  const stop = answer.refuse === undefined ? STOPS.get(answer.stopReason) : 'refusal';
  const detail = stop === undefined ? answer.stopReason : answer.stopSequence;
  const calls = answer.calls.filter((call) => !call.incomplete);
  return {
    ...contentOf({ ...answer, calls }, place),
    stop: stop ?? 'unknown',
    ...(detail !== undefined && { stopDetail: detail }),
    ...(answer.refuse !== undefined && { refusal: answer.refuse }),
    ...(answer.escalate !== undefined && { escalation: answer.escalate }),
    usage: answer.usage,
    usageSource: 'reported',
    incompleteCalls: answer.calls.length - calls.length,
  };
}

/** A structured output is the text of the answer, as models give it. */
function withOutput(answer: ScriptedAnswer): ScriptedAnswer {
  const { output, text } = answer;
  return output === undefined || (text ?? '').trim() !== ''
    ? answer
    : { ...answer, text: JSON.stringify(output) };
}

/** The text of a reply as it comes: the first piece is what has arrived in the middle of the stream. */
export function textPieces(written: ScriptedAnswer): readonly string[] {
  const { text = '', calls, chunks = 2 } = withOutput(written);
  if (text === '') return [];
  if (calls.some((call) => call.incomplete)) return [text];
  const size = Math.ceil(text.length / chunks);
  const pieces = Array.from({ length: chunks }, (_, k) => text.slice(k * size, (k + 1) * size));
  return pieces.filter((piece) => piece !== '');
}

/** What has arrived in the middle of the stream: half of it, or all before what never gets complete. */
export function arrivedReply(answer: ScriptedAnswer, place: ReplyPlace): ModelReply {
  const { text = '', calls } = answer;
  const cut = calls.findIndex((call) => call.incomplete);
  const shown = text === '' ? '' : (textPieces(answer)[0] ?? '');
  const arrived = cut >= 0 ? calls.slice(0, cut) : text === '' ? calls.slice(0, -1) : [];
  const content = contentOf({ ...answer, text: shown, calls: arrived }, place);
  const output = estimateTokens(Buffer.byteLength(JSON.stringify(content.blocks)));
  return partialReply(content, { ...answer.usage, output }, 'estimated');
}

/** Interrupted before anything came. */
export function emptyReply(place: ReplyPlace): ModelReply {
  return partialReply({ blocks: [], raw: [], model: place.model }, NO_USAGE, 'unsent');
}

function partialReply(content: Content, usage: Usage, usageSource: UsageSource): ModelReply {
  return {
    ...content,
    stop: 'unknown',
    stopDetail: 'aborted',
    usage,
    usageSource,
    partial: true,
    incompleteCalls: 0,
  };
}

type Content = Pick<ModelReply, 'blocks' | 'raw' | 'model' | 'hosted'>;

function contentOf(
  { thinking, text, calls }: Pick<ScriptedAnswer, 'thinking' | 'text' | 'calls'>,
  { model, usedIds, runHosted }: ReplyPlace,
): Content {
  const blocks: Block[] = [];
  const hosted: HostedUse[] = [];
  if (thinking !== undefined) blocks.push({ type: 'thinking', text: thinking });
  if (text !== undefined && text !== '') blocks.push({ type: 'text', text });
  const taken = new Set(usedIds);
  for (const call of calls) {
    const id = uniqueId(call.id, taken);
    const ran = runHosted(call);
    if (ran !== undefined) hosted.push({ id, ...ran });
    else blocks.push({ type: 'tool_use', id, tool: call.tool, args: argumentsOf(call) });
  }
  const raw = [...hosted.flatMap(vendorBlocks), ...(blocks as unknown as readonly Json[])];
  return { blocks, raw, model, ...(hosted.length > 0 && { hosted }) };
}

function vendorBlocks({ id, tool, args, result }: HostedUse): readonly Json[] {
  return [
    { type: 'server_tool_use', id, name: tool, input: args },
    { type: 'server_tool_result', tool_use_id: id, content: result },
  ];
}

function uniqueId(wished: string, taken: Set<string>): string {
  let id = wished;
  for (let n = 2; taken.has(id); n += 1) id = `${wished}_${n}`;
  taken.add(id);
  return id;
}

/** What the format says beside the input travels inside it, under names with an underscore (G1). */
export function argumentsOf({ input, rawInput, outputPath, dependsOn, when }: ScriptedCall): Json {
  const args = rawInput === undefined ? (input ?? {}) : parseArguments(rawInput).args;
  if (outputPath === undefined && dependsOn === undefined && when === undefined) return args;
  return {
    ...(args as { readonly [key: string]: Json }),
    ...(outputPath !== undefined && { _outputPath: outputPath }),
    ...(dependsOn !== undefined && { _dependsOn: dependsOn }),
    ...(when !== undefined && { _when: when as unknown as Json }),
  };
}

export function failureOf({ error, after }: ScriptedFailure): HoldfastError {
  const code = codeOf(error);
  const retryAfter = error.kind === 'status' ? error.retryAfterSeconds : undefined;
  const text = `${after?.text ?? ''}${after?.calls.length ? JSON.stringify(after.calls) : ''}`;
  return modelFailure(code, `The scripted model failed: ${wordsOf(error)}`, {
    ...(error.kind === 'status' && { status: error.status }),
    ...(retryAfter !== undefined && { retryAfterMs: Math.ceil(retryAfter * 1_000) }),
    // Scripted usage is what was billed, and a failure has none; only what had arrived was paid for.
    receivedInput: after !== undefined,
    receivedOutputTokensEstimate: estimateTokens(Buffer.byteLength(text)),
    shouldRetry: RETRIED_CODES.includes(code),
  });
}

function codeOf(error: ScriptedError): ModelErrorCode {
  if (error.kind === 'prompt_too_long') return 'PromptTooLong';
  if (error.kind !== 'status') return 'NetworkTimeout';
  return codeOfStatus(error.status);
}

function wordsOf(error: ScriptedError): string {
  if (error.kind !== 'status') return error.kind.replaceAll('_', ' ');
  return error.type === undefined ? `status ${error.status}` : `${error.status} ${error.type}`;
}
