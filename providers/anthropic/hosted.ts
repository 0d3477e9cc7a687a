/**
 * Calls of tools that Anthropic runs itself: `server_tool_use` blocks and the blocks with their results.
 * Invariant: a use without a result goes back only where the API takes it: in a paused turn, beside a call of
 * ours, whose result it waits for, and where a call of ours names it as its caller.
 */
import type { Json } from '../../core/json/json.js';
import { once } from '../once.js';
import type { HostedUse, RequestMessage } from '../provider.js';
import { isRecord, recordAt, textAt, type MutableRecord } from '../json-record.js';

/** `server_tool_use`, and the same of other kinds; `tool_use` is ours to run. */
function isUse(block: Json): block is MutableRecord {
  return isRecord(block) && textAt(block, 'type').endsWith('_tool_use');
}

/** `web_search_tool_result` and the like. */
function isResult(block: Json): block is MutableRecord {
  return isRecord(block) && textAt(block, 'type').endsWith('_tool_result');
}

export interface HostedContext {
  /** The vendor's uses that stand in messages before. */
  readonly earlier: readonly Json[];
  /** Names of the tools that were offered. */
  readonly hosted: readonly string[];
}

/** Uses with their results in this reply; the use may stand in a message before it. */
export function hostedUses(
  raw: readonly Json[],
  { earlier, hosted }: HostedContext,
): readonly HostedUse[] {
  const uses = new Map([...earlier, ...raw].filter(isUse).map((use) => [textAt(use, 'id'), use]));
  return raw.filter(isResult).flatMap((result): readonly HostedUse[] => {
    const use = uses.get(textAt(result, 'tool_use_id'));
    if (use === undefined) return [];
    const content = result['content'] ?? null;
    return [
      {
        id: textAt(use, 'id'),
        tool: offeredName(nameOf(use), hosted),
        args: use['input'] ?? {},
        isError: result['is_error'] === true || isErrorContent(content),
        result: content,
      },
    ];
  });
}

function isErrorContent(content: Json): boolean {
  return isRecord(content) && textAt(content, 'type').endsWith('_error');
}

/** Without uses that nobody has answered or will answer. */
export function withoutOpenUses(raw: readonly Json[]): readonly Json[] {
  const blocks = raw.filter(isRecord);
  const answered = blocks.filter(isResult).map((result) => textAt(result, 'tool_use_id'));
  const waiting = blocks.map((block) => textAt(recordAt(block, 'caller'), 'tool_id'));
  const kept = new Set([...answered, ...waiting]);
  return raw.filter((block) => !isUse(block) || kept.has(textAt(block, 'id')));
}

/** A tool of a server that the vendor reaches is one of its toolset, which has the name of the server. */
function nameOf(use: MutableRecord): string {
  const server = textAt(use, 'type') === 'mcp_tool_use' ? textAt(use, 'server_name') : '';
  return server === '' ? textAt(use, 'name') : server;
}

/** One tool may have several names in use: `code_execution` runs `bash_code_execution`. */
function offeredName(name: string, offered: readonly string[]): string {
  if (offered.includes(name)) return name;
  return offered.find((each) => name.endsWith(`_${each}`)) ?? name;
}

/** Whether the API takes the uses in a message back: while their tools are offered. */
export function mayReturn(raw: readonly Json[], offered: readonly string[]): boolean {
  return raw.filter(isUse).every((use) => {
    const name = nameOf(use);
    // Other tools run code of their own accord, and need no declaration for that.
    return offered.includes(offeredName(name, offered)) || (offered.length > 0 && runsCode(name));
  });
}

function runsCode(name: string): boolean {
  return name === 'code_execution' || name.endsWith('_code_execution');
}

/** Uses that a reply may bring the results of: of a paused turn, or from before calls of ours that they wait for. */
export function openUses(messages: readonly RequestMessage[]): readonly Json[] {
  const blocks = messages.flatMap(hostedIn);
  const answered = new Set(blocks.filter(isResult).map((result) => textAt(result, 'tool_use_id')));
  return blocks.filter((block) => isUse(block) && !answered.has(textAt(block, 'id')));
}

/** Most messages have none. */
const hostedIn = once(({ role, raw }: RequestMessage): readonly Json[] =>
  role === 'assistant' && Array.isArray(raw)
    ? (raw as readonly Json[]).filter((block) => isUse(block) || isResult(block))
    : [],
);
