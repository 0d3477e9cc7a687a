/**
 * An assembled reply of an AI SDK model as a ModelReply. Which parts count is decided here: a tool call only
 * when it is whole (C5), none of a refused reply; text also when it was cut off; a thought only when it ended.
 */
import type { Json } from '../../core/json/json.js';
import type { ReplyStop } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import { usageOfReply } from '../attempt.js';
import { uniqueCallId, type CallIds } from '../call-ids.js';
import type { HostedUse, ModelReply } from '../provider.js';
import { parseArguments, readArguments, type ParsedArguments } from '../tool-arguments.js';
import type { Assembly, CallPart, Part } from './assembly.js';
import { jsonValue } from './json-value.js';

export interface ReplyContext extends CallIds {
  readonly model: string;
  /** The package's name of its vendor. */
  readonly vendor: string;
}

const DETAIL_CHARS_MAX = 2000;

interface Kept {
  readonly blocks: Block[];
  readonly raw: Json[];
  readonly hosted: HostedUse[];
  incompleteCalls: number;
}

/** The reply of a stream that ended, or of what had arrived when the caller aborted. */
export function replyOf(assembly: Assembly, context: ReplyContext): ModelReply {
  const { ending, files } = assembly;
  const complete = ending?.kind === 'complete';
  const kept: Kept = { blocks: [], raw: [], hosted: [], incompleteCalls: assembly.begun.size };
  const last = assembly.parts.findLast(({ type }) => type !== 'source');
  for (const part of assembly.parts) {
    keep(kept, part, {
      assembly,
      context,
      truncated: ending?.stop === 'max_tokens' && part === last,
    });
  }
  const stop = stopOf(assembly, kept.blocks);
  const detail = !complete ? 'aborted' : stop === 'unknown' ? ending.raw : undefined;
  return {
    blocks: kept.blocks,
    raw: rawOf(kept.raw, context.vendor),
    ...(kept.hosted.length > 0 && { hosted: kept.hosted }),
    stop,
    ...(detail !== undefined && { stopDetail: detail }),
    ...(stop === 'refusal' && { refusal: refusalOf(kept.blocks) }),
    ...usageOfReply(assembly, complete),
    model: assembly.model === '' ? context.model : assembly.model,
    ...(!complete && { partial: true }),
    incompleteCalls: kept.incompleteCalls,
    ...(files > 0 && { missing: `${files} ${files === 1 ? 'file' : 'files'} as text` }),
  };
}

interface Circumstances {
  readonly assembly: Assembly;
  readonly context: ReplyContext;
  /** The reply was cut off at its limit, and this is its last part. */
  readonly truncated: boolean;
}

function keep(kept: Kept, part: Part, circumstances: Circumstances): void {
  switch (part.type) {
    case 'text':
      if (part.text === '' && part.meta === undefined) return;
      if (part.text !== '') kept.blocks.push({ type: 'text', text: part.text });
      kept.raw.push(rawPart({ type: 'text', text: part.text }, part.meta));
      return;
    case 'reasoning': {
      // Without its end a thought may lack its signature.
      if (!part.closed && circumstances.assembly.ending === undefined) return;
      if (part.text !== '') kept.blocks.push({ type: 'thinking', text: part.text });
      kept.raw.push(rawPart({ type: 'reasoning', text: part.text }, part.meta));
      return;
    }
    case 'custom':
      kept.raw.push(rawPart({ type: 'custom', kind: part.kind }, part.meta));
      return;
    case 'source':
      kept.raw.push({ ...part.about, type: 'source' });
      return;
    case 'tool-call':
      if (part.executed) keepHosted(kept, part, circumstances);
      else keepCall(kept, part, circumstances);
  }
}

function keepCall(kept: Kept, part: CallPart, circumstances: Circumstances): void {
  const { assembly, context, truncated } = circumstances;
  const { ok, args } = argumentsOf(part.input);
  const empty = typeof part.input === 'string' && part.input.trim() === '';
  const refused = assembly.ending?.stop === 'refusal';
  if (refused || (truncated && (!ok || empty))) {
    kept.incompleteCalls += 1;
    return;
  }
  const id = uniqueCallId(part.id, kept.blocks, context);
  kept.blocks.push({ type: 'tool_use', id, tool: part.name, args });
  kept.raw.push(rawPart({ type: 'tool-call', id, name: part.name, args }, part.meta));
}

function keepHosted({ hosted }: Kept, part: CallPart, { assembly }: Circumstances): void {
  const { id, name } = part;
  const result = assembly.results.find((one) => one.id === id);
  if (result === undefined) return;
  const { args } = argumentsOf(part.input);
  hosted.push({ id, tool: name, args, isError: result.isError, result: result.result });
}

function argumentsOf(input: unknown): ParsedArguments {
  return typeof input === 'string'
    ? parseArguments(input)
    : readArguments(jsonValue(input) ?? null);
}

function rawPart(part: { readonly [key: string]: Json }, meta: Json | undefined): Json {
  return meta === undefined ? part : { ...part, meta };
}

/** Where nothing but the blocks would go back, the blocks say it all. */
function rawOf(parts: readonly Json[], vendor: string): Json {
  const own = parts.some((part) => {
    const { type, meta } = part as { readonly type: string; readonly meta?: Json };
    return meta !== undefined || ['reasoning', 'custom', 'source'].includes(type);
  });
  return own ? { vendor, parts } : null;
}

function stopOf({ ending }: Assembly, blocks: readonly Block[]): ReplyStop {
  if (ending === undefined) return 'unknown';
  const { stop } = ending;
  // Some packages say `stop` whatever the reply holds (G47: by the blocks present).
  return stop === 'end_turn' && blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : stop;
}

function refusalOf(blocks: readonly Block[]): string {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return text === ''
    ? "The vendor's content filter stopped the reply."
    : text.slice(0, DETAIL_CHARS_MAX);
}
