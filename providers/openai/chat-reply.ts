/**
 * An assembled chat completion as a ModelReply. Which parts count is decided here: a tool call only when it
 * is whole (C5), none of a refused message; text also when it was cut off.
 */
import type { Json } from '../../core/json/json.js';
import type { ReplyStop } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import { usageOfReply } from '../attempt.js';
import { uniqueCallId, type CallIds } from '../call-ids.js';
import { isRecord, textAt, type MutableRecord } from '../json-record.js';
import type { ModelReply } from '../provider.js';
import { parseArguments } from '../tool-arguments.js';
import type { ChatAssembly, ChatCall } from './chat-assembly.js';

/** What a reply needs to know of its request. */
export interface ChatReplyContext extends CallIds {
  readonly model: string;
}

const STOPS: ReadonlyMap<string, ReplyStop> = new Map([
  ['stop', 'end_turn'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
]);
const NAME_CHARS_MAX = 256;
const DETAIL_CHARS_MAX = 2000;

/** The reply of a message that ended, or of what had arrived when the caller aborted. */
export function chatReplyOf(assembly: ChatAssembly, context: ChatReplyContext): ModelReply {
  const complete = isComplete(assembly);
  const refusal = assembly.refusal.join('');
  const stop = complete ? stopOf(assembly, refusal) : 'unknown';
  const { blocks, calls, incomplete } = contentOf(assembly, { context, complete, stop });
  const detail = complete
    ? stop === 'unknown'
      ? (assembly.finishReason ?? undefined)
      : undefined
    : 'aborted';
  return {
    blocks,
    raw: rawOf(assembly, calls),
    stop,
    ...(detail === undefined ? {} : { stopDetail: detail.slice(0, DETAIL_CHARS_MAX) }),
    ...(stop === 'refusal' ? { refusal: refusalOf(assembly, refusal) } : {}),
    ...usageOfReply(assembly, complete),
    model: assembly.model === '' ? context.model : assembly.model,
    ...(complete ? {} : { partial: true }),
    incompleteCalls: incomplete,
  };
}

/** Servers that never send `[DONE]` end the stream after the finish reason. */
export function isComplete(assembly: ChatAssembly): boolean {
  return assembly.done || assembly.finishReason !== null;
}

interface Circumstances {
  readonly context: ChatReplyContext;
  readonly complete: boolean;
  readonly stop: ReplyStop;
}

interface Content {
  readonly blocks: readonly Block[];
  /** The calls that count, in the vendor's form. */
  readonly calls: readonly Json[];
  readonly incomplete: number;
}

function contentOf(assembly: ChatAssembly, { context, complete, stop }: Circumstances): Content {
  const blocks: Block[] = [];
  const calls: Json[] = [];
  let incomplete = 0;
  const reasoning = assembly.reasoning.join('');
  const text = assembly.text.join('');
  if (reasoning !== '') blocks.push({ type: 'thinking', text: reasoning });
  if (text !== '') blocks.push({ type: 'text', text });
  assembly.calls.forEach((call, index) => {
    const last = index === assembly.calls.length - 1;
    const written = call.json.join('');
    const args = parseArguments(written);
    const cutOff = last && stop === 'max_tokens' && (!args.ok || written.trim() === '');
    if (stop === 'refusal' || cutOff || (last && !complete)) {
      incomplete += 1;
      return;
    }
    const id = uniqueCallId(call.id, blocks, context);
    blocks.push({
      type: 'tool_use',
      id,
      tool: call.name.slice(0, NAME_CHARS_MAX),
      args: args.args,
    });
    calls.push(rawCall(call, { id, written, ok: args.ok, args: args.args }));
  });
  return { blocks, calls, incomplete };
}

function rawCall(
  call: ChatCall,
  read: {
    readonly id: string;
    readonly written: string;
    readonly ok: boolean;
    readonly args: Json;
  },
): Json {
  // A vendor may refuse arguments that are no JSON, even its own: the marker stands for them.
  const text = read.ok && read.written.trim() !== '' ? read.written : JSON.stringify(read.args);
  return {
    id: read.id,
    type: 'function',
    function: { name: call.name, arguments: text },
    ...call.extras,
  };
}

/** The message as a completion without a stream would have it. */
function rawOf(assembly: ChatAssembly, calls: readonly Json[]): Json {
  const text = assembly.text.join('');
  const reasoning = assembly.reasoning.join('');
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...withWholeThinking(assembly.extras),
  };
}

/** A stream brings signed thinking in pieces; it can only be returned whole. */
function withWholeThinking(extras: MutableRecord): MutableRecord {
  const pieces = extras['thinking_blocks'];
  if (!Array.isArray(pieces)) return extras;
  const whole: MutableRecord[] = [];
  for (const piece of pieces as readonly Json[]) {
    if (!isRecord(piece)) continue;
    const open = whole.at(-1);
    const goesOn = open?.['type'] === 'thinking' && textAt(open, 'signature') === '';
    if (!goesOn || piece['type'] !== 'thinking') {
      whole.push({ ...piece });
      continue;
    }
    open['thinking'] = textAt(open, 'thinking') + textAt(piece, 'thinking');
    const signature = textAt(piece, 'signature');
    if (signature !== '') open['signature'] = signature;
  }
  return { ...extras, thinking_blocks: whole };
}

function stopOf(assembly: ChatAssembly, refusal: string): ReplyStop {
  const stop = STOPS.get(assembly.finishReason ?? '') ?? 'unknown';
  if (stop === 'end_turn' && refusal !== '') return 'refusal';
  // Some servers say `stop` whatever the message holds (G47: by the blocks present).
  return stop === 'end_turn' && assembly.calls.length > 0 ? 'tool_use' : stop;
}

function refusalOf(assembly: ChatAssembly, refusal: string): string {
  const said = refusal === '' ? assembly.text.join('') : refusal;
  const fallback =
    assembly.finishReason === 'content_filter'
      ? "The vendor's content filter stopped the reply."
      : 'The model refused.';
  return (said === '' ? fallback : said).slice(0, DETAIL_CHARS_MAX);
}
