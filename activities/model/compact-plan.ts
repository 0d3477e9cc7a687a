/**
 * Which part of a conversation a summary takes the place of (G34). Pure.
 * Invariants: a turn is never split, so that every tool call stays with its result; the first goal, and a
 * question that nobody has answered yet, stay as they are; what is to be summarised fits the model.
 */
import { type Json, isBlobRef } from '../../core/json/json.js';
import type { HashedNode } from '../../store/transcripts.js';
import type { MessageChain } from './model-request.js';

/** Largest share of the conversation that may stay as it is. */
const KEPT_SHARE = 1 / 3;
/** Largest share of the context window for a request: sizes are estimates. */
const WINDOW_SHARE = 0.95;

export interface CompactionTarget {
  readonly keepTurns: number;
  /** Id of a message that the new conversation goes on without. */
  readonly dropped?: string;
  readonly runId: string;
  /** Estimated size of the whole conversation. */
  readonly preTokens: number;
  readonly contextWindow: number;
  readonly maxTokens: number;
}

export interface CompactionPlan {
  /** What the new conversation begins with. */
  readonly goal: readonly HashedNode[];
  /** What the model is asked to summarise, the goal included. */
  readonly asked: readonly HashedNode[];
  /** Messages that are too much even for that; nobody reads them again. */
  readonly omitted: number;
  /** What the new conversation ends with. */
  readonly kept: readonly HashedNode[];
}

/** undefined: nothing can be summarised. */
export function planCompaction(
  chain: MessageChain,
  target: CompactionTarget,
): CompactionPlan | undefined {
  const { nodes } = chain;
  const leading = nodes.findIndex((node) => !isGoal(node));
  const goal = leading === -1 ? nodes : nodes.slice(0, leading);
  const turns = turnsOf(nodes.slice(goal.length));
  const keptTurns = turnsToKeep(turns, target, charsOf([chain.root, ...nodes]));
  const older = turns.slice(0, turns.length - keptTurns);
  const fitting = fittingTurns(chain, { goal, older, target });
  if (fitting.length === 0) return undefined;
  const ownGoal = older.flat().filter((node) => node.messageId === `${target.runId}:m0`);
  return {
    goal: [...goal, ...ownGoal],
    asked: [...goal, ...fitting.flat()],
    omitted: older.flat().length - fitting.flat().length,
    kept: keptTurns > 0 ? answerable(turns.slice(older.length).flat(), target) : unanswered(nodes),
  };
}

/** What was said since the newest reply, such as an objection to it: the next reply is to answer that. */
function unanswered(nodes: readonly HashedNode[]): readonly HashedNode[] {
  const spoken = nodes.findLastIndex((node) => !isUserText(node) || isSummary(node));
  return spoken === -1 ? [] : nodes.slice(spoken + 1);
}

/** What a run begins with: its goal and constraints, until the assistant speaks or a summary follows. */
export function isGoal(node: HashedNode): boolean {
  return isUserText(node) && node.flags?.includes('compactSummary') !== true;
}

/** A summary of everything, beside everything. */
export function wholePlan({ nodes }: MessageChain): CompactionPlan {
  return { goal: nodes, asked: nodes, omitted: 0, kept: [] };
}

type TurnNodes = readonly HashedNode[];

function turnsOf(nodes: readonly HashedNode[]): readonly TurnNodes[] {
  const turns: HashedNode[][] = [];
  nodes.forEach((node, index) => {
    const before = nodes[index - 1];
    const current = turns.at(-1);
    if (current === undefined || before === undefined || begins(node, before)) turns.push([node]);
    else current.push(node);
  });
  return turns;
}

/** A turn begins with what a person says, or with the assistant after results or a summary. */
function begins(node: HashedNode, before: HashedNode): boolean {
  if (node.role === 'assistant') return isResults(before) || isSummary(before);
  if (isResults(node) || isUserText(before)) return isSummary(before);
  // A prompt of the runtime's own belongs to the reply that it is about.
  return node.flags?.includes('synthetic') !== true || isResults(before);
}

export function isResults(node: HashedNode): boolean {
  return node.blocks.some((block) => block.type === 'tool_result');
}

function isUserText(node: HashedNode): boolean {
  return node.role === 'user' && !isResults(node);
}

function isSummary(node: HashedNode): boolean {
  return node.flags?.includes('compactSummary') === true;
}

function turnsToKeep(turns: readonly TurnNodes[], target: CompactionTarget, chars: number): number {
  for (let count = Math.min(target.keepTurns, turns.length - 1); count > 0; count -= 1) {
    if (charsOf(turns.slice(-count).flat()) <= chars * KEPT_SHARE) return count;
  }
  // A question without an answer stays, however long it is.
  const last = turns.at(-1) ?? [];
  return last.every((node) => isUserText(node) || node.messageId === target.dropped) ? 1 : 0;
}

interface Older {
  readonly goal: readonly HashedNode[];
  readonly older: readonly TurnNodes[];
  readonly target: CompactionTarget;
}

/** The newest of the older turns that the model can read at once. */
function fittingTurns(chain: MessageChain, { goal, older, target }: Older): readonly TurnNodes[] {
  const { preTokens, contextWindow, maxTokens } = target;
  const tokensPerChar = preTokens / Math.max(1, charsOf([chain.root, ...chain.nodes]));
  const room = (contextWindow * WINDOW_SHARE - maxTokens) / tokensPerChar;
  let chars = charsOf([chain.root, ...goal]);
  let from = older.length;
  for (const turn of [...older].reverse()) {
    chars += charsOf(turn);
    if (chars > room) break;
    from -= 1;
  }
  return older.slice(from);
}

function answerable(nodes: readonly HashedNode[], target: CompactionTarget): readonly HashedNode[] {
  return nodes.filter((node) => node.messageId !== target.dropped);
}

/** Characters of messages as a provider gets them. */
export function charsOf(nodes: readonly HashedNode[]): number {
  return nodes.reduce((sum, node) => sum + sizeOf(node).chars, 0);
}

/** Bytes of messages as a provider gets them: no text has more tokens. */
export function bytesOf(nodes: readonly HashedNode[]): number {
  return nodes.reduce((sum, node) => sum + sizeOf(node).bytes, 0);
}

function sizeOf(node: HashedNode): { readonly chars: number; readonly bytes: number } {
  const text = JSON.stringify([node.raw ?? node.blocks, node.tools ?? []]);
  // A vendor's own blocks hold no references; what looks like one is something that the model said.
  const inStore = node.raw === undefined ? blobBytes(node.blocks as unknown as Json) : 0;
  return { chars: text.length + inStore, bytes: Buffer.byteLength(text) + inStore };
}

function blobBytes(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  // An attachment counts by its kind, not by its bytes.
  if (isBlobRef(value)) return 'mediaType' in value ? 0 : value.bytes;
  return Object.values(value).reduce<number>((sum, inner) => sum + blobBytes(inner), 0);
}
