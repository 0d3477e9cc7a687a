/**
 * Calls of tools that Anthropic runs itself: `server_tool_use` blocks and the blocks with their results.
 * Invariant: a use without a result goes back only in a paused turn, which is the one place where the API takes it.
 */
import type { Json } from '../../core/json.js';
import type { HostedUse, RequestMessage } from '../provider.js';
import { isRecord, type MutableRecord } from '../json-record.js';

/** `server_tool_use`, and the same of other kinds; `tool_use` is ours to run. */
function isUse(block: Json): block is MutableRecord {
  return isRecord(block) && textOf(block, 'type').endsWith('_tool_use');
}

/** `web_search_tool_result` and the like. */
function isResult(block: Json): block is MutableRecord {
  return isRecord(block) && textOf(block, 'type').endsWith('_tool_result');
}

/** Uses with their results in this reply; the use may stand in the paused message before it. */
export function hostedUses(raw: readonly Json[], earlier: readonly Json[]): readonly HostedUse[] {
  const uses = new Map([...earlier, ...raw].filter(isUse).map((use) => [textOf(use, 'id'), use]));
  return raw.filter(isResult).flatMap((result): readonly HostedUse[] => {
    const use = uses.get(textOf(result, 'tool_use_id'));
    if (use === undefined) return [];
    const content = result['content'] ?? null;
    return [
      {
        id: textOf(use, 'id'),
        tool: textOf(use, 'name'),
        args: use['input'] ?? {},
        isError: result['is_error'] === true || isErrorContent(content),
        result: content,
      },
    ];
  });
}

function isErrorContent(content: Json): boolean {
  return isRecord(content) && textOf(content, 'type').endsWith('_error');
}

/** Without uses that nobody has answered. */
export function withoutOpenUses(raw: readonly Json[]): readonly Json[] {
  const answered = new Set(raw.filter(isResult).map((result) => textOf(result, 'tool_use_id')));
  return raw.filter((block) => !isUse(block) || answered.has(textOf(block, 'id')));
}

/** Names of the tools whose uses or results a message holds. */
export function hostedNames(raw: readonly Json[]): readonly string[] {
  return raw.filter(isUse).map((use) => textOf(use, 'name'));
}

/** The vendor's blocks of the newest message, which a paused turn goes on from. */
export function newestRaw(messages: readonly RequestMessage[]): readonly Json[] {
  const raw = messages.findLast(({ role }) => role === 'assistant')?.raw;
  return Array.isArray(raw) ? (raw as readonly Json[]) : [];
}

function textOf(block: MutableRecord, key: string): string {
  const value = Object.hasOwn(block, key) ? block[key] : undefined;
  return typeof value === 'string' ? value : '';
}
