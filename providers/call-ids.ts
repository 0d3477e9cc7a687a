/**
 * Ids of tool calls (G42). Invariant: an id is unique in its whole conversation and every vendor takes its
 * characters, so that a conversation can go on with another model.
 */
import type { Block } from '../core/state/transcript.js';
import { once } from './once.js';
import type { RequestMessage } from './provider.js';

/** What is needed to name the calls of one reply. */
export interface CallIds {
  /** Ids of calls in the conversation; those of the reply are added. */
  readonly usedIds: Set<string>;
  /** Makes ids for calls that came without one. */
  readonly call: number;
}

const ID_CHARS_MAX = 128;

/** Every tool call id of the conversation: ids of a new reply must differ from them. */
export function usedCallIds(messages: readonly RequestMessage[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) for (const id of callIdsOf(message)) ids.add(id);
  return ids;
}

const callIdsOf = once(({ blocks }: RequestMessage): readonly string[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
);

/** The id of the next call of a reply whose blocks so far are given. */
export function uniqueCallId(given: string, blocks: readonly Block[], ids: CallIds): string {
  const wished = given.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, ID_CHARS_MAX);
  const position = blocks.filter((block) => block.type === 'tool_use').length;
  const base = wished === '' ? `call_${ids.call}_${position}` : wished;
  let id = base;
  for (let n = 2; ids.usedIds.has(id); n += 1) id = `${base}_${n}`;
  ids.usedIds.add(id);
  return id;
}
