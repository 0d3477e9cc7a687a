/**
 * A recorded run as the script of the model, and the strong check: what the runtime sends must be the
 * conversation as it was recorded, to the letter.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { ScriptedReply } from '../../testing/index.js';
import { comparableText } from './same-text.js';
import type { PlayedReply, PlayedRun } from './played-run.js';

export interface SeenMessage {
  readonly role: string;
  readonly content: string | readonly Json[];
}

/** Reply `count` of the run, as the scripted model sends it; undefined when there is none. */
export function recordedReply(run: PlayedRun, count: number): ScriptedReply | undefined {
  const reply = run.replies[count];
  if (reply === undefined) return undefined;
  const { text, calls, usage } = reply;
  return {
    ...(text !== undefined && { text }),
    calls: calls.map(({ id, name, args }) => ({ id, tool: name, input: args })),
    ...(usage !== undefined && { usage: { ...usage, cacheRead: 0, cacheWrite: 0 } }),
  };
}

type Entry = { readonly [field: string]: Json };

/** What a request says, entry by entry, in a form that can be compared. */
export function conversationOf(messages: readonly SeenMessage[]): readonly string[] {
  return messages.flatMap(seenEntries).map((entry) => canonicalJson(entry));
}

export interface Recorded extends PlayedRun {
  /** Calls whose result may be any; default: none. */
  readonly excused?: ReadonlySet<string>;
}

/** Where a request differs from the recorded conversation before reply `count`; undefined: nowhere. */
export function differenceFrom(
  run: Recorded,
  count: number,
  messages: readonly SeenMessage[],
): string | undefined {
  const comparable = (entry: Entry): string => {
    const { result = null } = entry;
    const isExcused = typeof result === 'string' && run.excused?.has(result) === true;
    return canonicalJson(isExcused ? { result } : entry);
  };
  const expected = recordedEntries(run, count).map(comparable);
  const seen = messages.flatMap(seenEntries).map(comparable);
  const length = Math.max(expected.length, seen.length);
  const at = Array.from({ length }).findIndex((_, index) => expected[index] !== seen[index]);
  if (at < 0) return undefined;
  return `message ${at} is ${shown(seen[at])}, recorded was ${shown(expected[at])}`;
}

function shown(entry: string | undefined): string {
  return entry === undefined ? 'missing' : entry.slice(0, 300);
}

function recordedEntries(run: PlayedRun, count: number): Entry[] {
  const entries: Entry[] = [];
  let replies = 0;
  for (const exchange of run.exchanges) {
    entries.push({ user: exchange.userText });
    for (const reply of exchange.replies) {
      if (replies === count) return entries;
      replies += 1;
      entries.push(...replyEntries(reply));
    }
  }
  return entries;
}

function replyEntries({ text, calls }: PlayedReply): Entry[] {
  const said = {
    assistant: text ?? '',
    calls: calls.map(({ id, name, args }) => ({ id, name, args })),
  };
  const results = calls.map(({ id, content, error }) => ({
    result: id,
    content: comparableText(content),
    error,
  }));
  return [said, ...results];
}

function seenEntries({ role, content }: SeenMessage): Entry[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'assistant') {
    return [
      {
        assistant: texts(blocks).join('\n'),
        calls: ofType(blocks, 'tool_use').map((block) => ({
          id: block['id'] ?? null,
          name: block['name'] ?? null,
          args: block['input'] ?? null,
        })),
      },
    ];
  }
  const results = ofType(blocks, 'tool_result').map((block) => ({
    result: block['tool_use_id'] ?? null,
    content: comparableText(resultText(block['content'])),
    error: block['is_error'] === true,
  }));
  return [...results, ...texts(blocks).map((text) => ({ user: text }))];
}

function resultText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? texts(content as readonly Json[]).join('') : '';
}

function texts(blocks: readonly Json[]): string[] {
  return ofType(blocks, 'text').map(({ text }) => (typeof text === 'string' ? text : ''));
}

function ofType(blocks: readonly Json[], type: string): Entry[] {
  return blocks.filter(
    (block): block is Entry =>
      typeof block === 'object' && block !== null && (block as Entry)['type'] === type,
  );
}
