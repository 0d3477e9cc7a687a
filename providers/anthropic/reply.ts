/**
 * An assembled message as a ModelReply. Which blocks count is decided here: a tool call only when its block
 * was stopped and, at the end of a truncated message, only when its input is whole (C5); none of a refused
 * message; text also when it was cut off.
 */
import type { Json } from '../../core/json/json.js';
import type { ReplyStop, Usage } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import { usageOfReply, type CountedMessage } from '../attempt.js';
import { uniqueCallId, type CallIds } from '../call-ids.js';
import { isRecord, recordAt, textAt } from '../json-record.js';
import type { ModelReply } from '../provider.js';
import { parseArguments, readArguments } from '../tool-arguments.js';
import type { Assembly, OpenBlock } from './assembly.js';
import { containerOf } from './container.js';
import { hostedUses, withoutOpenUses } from './hosted.js';
import { billedUsage, sumOf } from './usage.js';

/** What a reply needs to know of its request. */
export interface ReplyContext extends CallIds {
  readonly model: string;
  /** The vendor's uses that wait for their results: of a paused turn, or from before calls of ours. */
  readonly earlier: readonly Json[];
  /** Names of the vendor's own tools that were offered. */
  readonly hosted: readonly string[];
  /** The vendor may have left parts of the conversation out; default: not. */
  readonly clears?: boolean;
}

const STOPS: ReadonlyMap<string, ReplyStop> = new Map([
  ['end_turn', 'end_turn'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause_turn'],
  // The vendor has summarised the conversation and waits to be asked again, as after a pause.
  ['compaction', 'pause_turn'],
  ['model_context_window_exceeded', 'context_exceeded'],
]);
const TRUNCATED: readonly ReplyStop[] = ['max_tokens', 'context_exceeded'];
const NAME_CHARS_MAX = 256;
const DETAIL_CHARS_MAX = 2000;

interface Kept {
  readonly blocks: Block[];
  readonly raw: Json[];
  incompleteCalls: number;
}

/** The reply of a message that ended, or of what had arrived when the caller aborted. */
export function replyOf(assembly: Assembly, context: ReplyContext): ModelReply {
  const stop = assembly.stopped ? stopOf(assembly) : 'unknown';
  const kept: Kept = { blocks: [], raw: [], incompleteCalls: 0 };
  assembly.blocks.forEach((block, index) => {
    const truncated = TRUNCATED.includes(stop) && index === assembly.blocks.length - 1;
    keep(kept, block, { context, refused: stop === 'refusal', truncated });
  });
  const raw = waits(stop, kept) ? kept.raw : withoutOpenUses(kept.raw);
  const hosted = hostedUses(raw, context);
  const container = containerOf(assembly.container);
  const counted = usageOfReply(countedOf(assembly), assembly.stopped);
  const detail = assembly.stopped ? stopDetail(assembly, stop) : 'aborted';
  return {
    blocks: kept.blocks,
    raw,
    ...(hosted.length > 0 && { hosted }),
    ...(container !== undefined && { container }),
    stop,
    ...(detail === undefined ? {} : { stopDetail: detail.slice(0, DETAIL_CHARS_MAX) }),
    ...(stop === 'refusal' ? { refusal: refusalOf(assembly, kept.blocks) } : {}),
    ...counted,
    ...contextOf(assembly, context, counted.usage),
    model: modelOf(assembly) || context.model,
    ...(assembly.stopped ? {} : { partial: true }),
    incompleteCalls: kept.incompleteCalls,
  };
}

/** What was left out counts as well: the next request may have it, whoever answers that. */
function contextOf(
  { report: { contextTokens }, clearedTokens }: Assembly,
  { clears }: ReplyContext,
  usage: Usage,
): Pick<ModelReply, 'contextTokens' | 'clearedTokens'> {
  if (clears === true && clearedTokens === undefined) return { contextTokens: 'unknown' };
  if (clearedTokens === undefined || clearedTokens === 0)
    return contextTokens === undefined ? {} : { contextTokens };
  const whole = (contextTokens ?? sumOf(usage)) + clearedTokens;
  return { contextTokens: Math.min(whole, Number.MAX_SAFE_INTEGER), clearedTokens };
}

/** The vendor goes on with the message where it stands: after a pause, or with the results of our calls. */
function waits(stop: ReplyStop, { blocks }: Kept): boolean {
  return (
    stop === 'pause_turn' ||
    (stop === 'tool_use' && blocks.some((block) => block.type === 'tool_use'))
  );
}

/** What an assembly knows of its usage, in everybody's words. */
export function countedOf({ report, usageFinal, outputBytes }: Assembly): CountedMessage {
  return { usage: billedUsage(report), usageFinal, outputBytes };
}

/** Where the vendor handed over to another model, that one answered. */
function modelOf({ model, blocks }: Assembly): string {
  const handover = blocks.findLast(({ type }) => type === 'fallback');
  return textAt(recordAt(handover?.raw ?? {}, 'to'), 'model') || model;
}

interface KeepRules {
  readonly context: ReplyContext;
  readonly refused: boolean;
  /** The message was cut off and this is its last block. */
  readonly truncated: boolean;
}

function keep(kept: Kept, block: OpenBlock, rules: KeepRules): void {
  switch (block.type) {
    case 'tool_use':
      keepCall(kept, block, rules);
      return;
    case 'text': {
      const text = textAt(block.raw, 'text');
      if (text === '') return;
      kept.blocks.push({ type: 'text', text });
      kept.raw.push(block.raw);
      return;
    }
    default:
      // Thinking without its end lacks its signature; a vendor's own block is worth nothing in part.
      if (!block.stopped) return;
      if (block.type === 'thinking') {
        kept.blocks.push({ type: 'thinking', text: textAt(block.raw, 'thinking') });
      }
      kept.raw.push(
        block.json.length === 0 ? block.raw : { ...block.raw, input: inputOf(block).args },
      );
  }
}

function keepCall(kept: Kept, block: OpenBlock, { context, refused, truncated }: KeepRules): void {
  const input = inputOf(block);
  const cutOff = truncated && (!input.ok || input.empty);
  if (!block.stopped || cutOff || refused) {
    kept.incompleteCalls += 1;
    return;
  }
  const id = uniqueCallId(textAt(block.raw, 'id'), kept.blocks, context);
  const tool = textAt(block.raw, 'name').slice(0, NAME_CHARS_MAX);
  kept.blocks.push({ type: 'tool_use', id, tool, args: input.args });
  kept.raw.push({ ...block.raw, id, input: input.args });
}

function inputOf(block: OpenBlock): { ok: boolean; args: Json; empty: boolean } {
  const text = block.json.join('');
  const given = block.raw['input'];
  // Some gateways send the whole input with the start of the block and no delta.
  if (text === '' && isRecord(given) && Object.keys(given).length > 0) {
    return { ...readArguments(given), empty: false };
  }
  return { ...parseArguments(text), empty: text.trim() === '' };
}

function stopOf(assembly: Assembly): ReplyStop {
  return STOPS.get(assembly.stopReason ?? '') ?? 'unknown';
}

function stopDetail(assembly: Assembly, stop: ReplyStop): string | undefined {
  if (stop === 'unknown') return assembly.stopReason ?? undefined;
  return stop === 'stop_sequence' ? (assembly.stopSequence ?? undefined) : undefined;
}

function refusalOf(assembly: Assembly, blocks: readonly Block[]): string {
  const details = isRecord(assembly.stopDetails) ? assembly.stopDetails : {};
  const { explanation, category } = details;
  if (typeof explanation === 'string' && explanation !== '') {
    return explanation.slice(0, DETAIL_CHARS_MAX);
  }
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (text !== '') return text.slice(0, DETAIL_CHARS_MAX);
  return typeof category === 'string'
    ? `The model refused (${category.slice(0, 100)}).`
    : 'The model refused.';
}
