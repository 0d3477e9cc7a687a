/**
 * An assembled response as a ModelReply. Which items count is decided here: a tool call only when it is whole
 * (C5), none of a refused response; text also when it was cut off.
 */
import type { Json } from '../../core/json/json.js';
import type { ReplyStop } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import { usageOfReply } from '../attempt.js';
import { uniqueCallId, type CallIds } from '../call-ids.js';
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';
import type { HostedUse, ModelReply } from '../provider.js';
import { parseArguments } from '../tool-arguments.js';
import { RESPONSES_CALL_ID_CHARS_MAX } from './wire-values.js';
import type { OpenItem, ResponseAssembly } from './responses-assembly.js';

/** What a reply needs to know of its request. */
export interface ResponseContext extends CallIds {
  readonly model: string;
  /** Names everything that this response answers; absent when the vendor does not keep it. */
  readonly prefix?: string;
}

const NAME_CHARS_MAX = 256;
const DETAIL_CHARS_MAX = 2000;
const CALL_SUFFIX = '_call';

interface Kept {
  readonly blocks: Block[];
  readonly items: Json[];
  /** A call has another id than the vendor gave it. */
  renamed: boolean;
  incompleteCalls: number;
}

/** The reply of a response that ended, or of what had arrived when the caller aborted. */
export function responseReplyOf(assembly: ResponseAssembly, context: ResponseContext): ModelReply {
  const stop = assembly.finished ? stopOf(assembly) : 'unknown';
  const kept: Kept = { blocks: [], items: [], renamed: false, incompleteCalls: 0 };
  for (const item of assembly.items) keep(kept, item, { context, stop });
  const detail = detailOf(assembly, stop);
  const hosted = hostedUses(kept.items);
  return {
    blocks: kept.blocks,
    ...(hosted.length > 0 && { hosted }),
    raw: rawOf(assembly, kept, context),
    stop,
    ...(detail === undefined ? {} : { stopDetail: detail.slice(0, DETAIL_CHARS_MAX) }),
    ...(stop === 'refusal' ? { refusal: refusalOf(assembly, kept.blocks) } : {}),
    ...usageOfReply(assembly, assembly.finished),
    model: assembly.model === '' ? context.model : assembly.model,
    ...(assembly.finished ? {} : { partial: true }),
    incompleteCalls: kept.incompleteCalls,
    ...(assembly.missing !== undefined && { missing: assembly.missing }),
  };
}

/**
 * The response can be referred to only if it is what we say it is, and so can its items: the vendor refuses an
 * item that it knows without the reasoning that came before it.
 */
function rawOf(assembly: ResponseAssembly, kept: Kept, { prefix }: ResponseContext): Json {
  if (assembly.missing !== undefined) return { output: kept.items.map(withoutId) };
  const known =
    prefix !== undefined &&
    assembly.id !== '' &&
    assembly.status === 'completed' &&
    kept.incompleteCalls === 0 &&
    !kept.renamed;
  return { output: kept.items, ...(known ? { id: assembly.id, prefix } : {}) };
}

function withoutId(item: Json): Json {
  if (!isRecord(item)) return item;
  const { id: _, ...rest } = item;
  return rest;
}

interface Circumstances {
  readonly context: ResponseContext;
  readonly stop: ReplyStop;
}

function keep(kept: Kept, item: OpenItem, circumstances: Circumstances): void {
  switch (textAt(item.raw, 'type')) {
    case 'function_call':
      keepCall(kept, item, circumstances);
      return;
    case 'message': {
      const text = messageText(item);
      if (text === '') return;
      kept.blocks.push({ type: 'text', text });
      kept.items.push(item.done ? item.raw : partialMessage(text));
      return;
    }
    default:
      // Reasoning lacks its content until it is done; a vendor's own item is worth nothing in part.
      if (!item.done) return;
      keepReasoning(kept, item.raw);
      kept.items.push(item.raw);
  }
}

function keepCall(kept: Kept, item: OpenItem, { context, stop }: Circumstances): void {
  const written = textAt(item.raw, 'arguments') || item.json.join('');
  const parsed = parseArguments(written);
  const cutOff = stop === 'max_tokens' && (!parsed.ok || written.trim() === '');
  if (!item.done || cutOff || stop === 'refusal') {
    kept.incompleteCalls += 1;
    return;
  }
  const given = textAt(item.raw, 'call_id');
  const id = uniqueCallId(given, kept.blocks, context);
  const tool = textAt(item.raw, 'name').slice(0, NAME_CHARS_MAX);
  kept.renamed ||= id !== given || id.length > RESPONSES_CALL_ID_CHARS_MAX;
  kept.blocks.push({ type: 'tool_use', id, tool, args: parsed.args });
  // A vendor may refuse arguments that are no JSON, even its own: the marker stands for them.
  const text = parsed.ok && written.trim() !== '' ? written : JSON.stringify(parsed.args);
  kept.items.push({ ...item.raw, call_id: id, arguments: text });
}

/** Calls of tools that the vendor ran itself: one item is both the call and its result (G48). */
function hostedUses(items: readonly Json[]): readonly HostedUse[] {
  return items.filter(isRecord).flatMap((item) => {
    const type = textAt(item, 'type');
    if (!type.endsWith(CALL_SUFFIX) || type === 'function_call') return [];
    return [
      {
        id: textAt(item, 'id'),
        tool: type.slice(0, -CALL_SUFFIX.length),
        args: item['action'] ?? {},
        isError: textAt(item, 'status') === 'failed',
        result: item,
      },
    ];
  });
}

function keepReasoning(kept: Kept, raw: JsonRecord): void {
  if (textAt(raw, 'type') !== 'reasoning') return;
  const parts = [...listAt(raw, 'summary'), ...listAt(raw, 'content')].filter(isRecord);
  const text = parts.map((part) => textAt(part, 'text')).join('\n\n');
  if (text !== '') kept.blocks.push({ type: 'thinking', text });
}

function messageText(item: OpenItem): string {
  if (!item.done && item.text.length > 0) return item.text.join('');
  const parts = listAt(item.raw, 'content').filter(isRecord);
  return parts.map((part) => (part['type'] === 'output_text' ? textAt(part, 'text') : '')).join('');
}

function partialMessage(text: string): Json {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

function stopOf(assembly: ResponseAssembly): ReplyStop {
  if (assembly.incompleteReason === 'max_output_tokens') return 'max_tokens';
  if (assembly.incompleteReason === 'content_filter') return 'refusal';
  if (assembly.status !== 'completed') return 'unknown';
  if (refusalText(assembly) !== '') return 'refusal';
  const calls = assembly.items.some((item) => textAt(item.raw, 'type') === 'function_call');
  return calls ? 'tool_use' : 'end_turn';
}

function detailOf(assembly: ResponseAssembly, stop: ReplyStop): string | undefined {
  if (!assembly.finished) return 'aborted';
  if (stop !== 'unknown') return undefined;
  return assembly.incompleteReason || assembly.status || undefined;
}

function refusalText(assembly: ResponseAssembly): string {
  return assembly.items
    .flatMap((item) => listAt(item.raw, 'content'))
    .map((part) => (isRecord(part) ? textAt(part, 'refusal') : ''))
    .join('');
}

function refusalOf(assembly: ResponseAssembly, blocks: readonly Block[]): string {
  const said = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const filtered = assembly.incompleteReason === 'content_filter';
  const fallback = filtered
    ? "The vendor's content filter stopped the reply."
    : 'The model refused.';
  return (refusalText(assembly) || said || fallback).slice(0, DETAIL_CHARS_MAX);
}
