/**
 * The calls of a reply as the conversation keeps them: a bounded number, under ids that a payload can carry (G42).
 * Invariant: the blocks and the vendor's own form of them name the same calls.
 */
import { digestOf, type Json, textFitsBytes } from '../../core/json/json.js';
import { CALLS_KEPT_MAX } from '../../core/step/conversation.js';
import type { ModelReply } from '../../providers/provider.js';

/** Longest id of a call, as JSON: every vendor's are much shorter. */
const CALL_ID_BYTES_MAX = 128;
const DIGEST_CHARS = 32;

export function withKeptCalls(reply: ModelReply): ModelReply {
  return withShortIds(withoutExcess(reply));
}

/** Calls after the last one that is kept are as if never made. */
function withoutExcess(reply: ModelReply): ModelReply {
  const excess = new Set(callIds(reply).slice(CALLS_KEPT_MAX));
  if (excess.size === 0) return reply;
  const { blocks, raw } = reply;
  return {
    ...reply,
    blocks: blocks.filter((block) => !(block.type === 'tool_use' && excess.has(block.id))),
    // A form that is no list of blocks is the provider's secret: it builds the message from ours.
    raw: Array.isArray(raw) ? raw.filter((block) => !excess.has(idOf(block))) : null,
  };
}

function withShortIds(reply: ModelReply): ModelReply {
  const long = callIds(reply).filter((id) => !textFitsBytes(id, CALL_ID_BYTES_MAX));
  if (long.length === 0) return reply;
  const names = new Map(long.map((id) => [id, `call_${digestOf(id).slice(0, DIGEST_CHARS)}`]));
  return {
    ...reply,
    blocks: reply.blocks.map((block) =>
      block.type === 'tool_use' ? { ...block, id: names.get(block.id) ?? block.id } : block,
    ),
    raw: renamed(reply.raw, names),
  };
}

/** No other text is as long as such an id and the same. */
function renamed(value: Json, names: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => renamed(one, names));
  const entries = Object.entries(value) as [string, Json][];
  return Object.fromEntries(entries.map(([name, inner]) => [name, renamed(inner, names)]));
}

function callIds({ blocks }: ModelReply): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function idOf(block: Json): string {
  const id = typeof block === 'object' && block !== null ? (block as { id?: Json }).id : undefined;
  return typeof id === 'string' ? id : '';
}
