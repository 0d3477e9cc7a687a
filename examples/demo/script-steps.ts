/** What the script of a cycle may know: which cycle it is, and what was called in it so far. */
import type { Json } from '../../index.js';
import type { Script } from '../../testing/index.js';

type Request = Parameters<Script>[0];
export type Answer = ReturnType<Script>;

export interface SeenCall {
  /** The wire name. */
  readonly tool: string;
  readonly input: unknown;
  /** JSON, or the text that is none. */
  readonly output: unknown;
  readonly failed: boolean;
  /** The id under which the result is evidence. */
  readonly evidence?: string;
}

export interface CycleSoFar {
  /** From 1. */
  readonly cycle: number;
  /** Replies in this cycle so far. */
  readonly replies: number;
  readonly calls: readonly SeenCall[];
}

type Block = { readonly [name: string]: Json };

export function cycleSoFar(request: Request): CycleSoFar {
  const blocks = request.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(isBlock),
  );
  const uses = new Map(
    blocks.filter(({ type }) => type === 'tool_use').map((use) => [use['id'], use] as const),
  );
  const calls = blocks.flatMap((block) => {
    if (block['type'] !== 'tool_result') return [];
    const use = uses.get(block['tool_use_id'] ?? null);
    return use === undefined ? [] : [seenCall(use, block)];
  });
  const cycle = Number(/:c(\d+)$/.exec(request.runId)?.[1] ?? 1);
  return { cycle, replies: request.assistantMessages, calls };
}

/** The newest result of a tool that did what it should. */
export function lastOf({ calls }: CycleSoFar, tool: string): SeenCall | undefined {
  return calls.findLast((call) => call.tool === tool && !call.failed);
}

function seenCall(use: Block, result: Block): SeenCall {
  const lines = textIn(result['content'] ?? '').split('\n');
  const [, evidence] = /^\[evidence (.+)\]$/.exec(lines.at(-1) ?? '') ?? [];
  const own = (evidence === undefined ? lines : lines.slice(0, -1)).join('\n');
  return {
    tool: stringIn(use, 'name'),
    input: use['input'],
    output: jsonOr(own),
    failed: result['is_error'] === true,
    ...(evidence !== undefined && { evidence }),
  };
}

function textIn(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isBlock(part) ? stringIn(part, 'text') : '')).join('\n');
}

function stringIn(block: Block, name: string): string {
  const value = block[name];
  return typeof value === 'string' ? value : '';
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isBlock(value: Json): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
