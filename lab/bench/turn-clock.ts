/**
 * A script for a run of any length that notes when each turn began. What it answers follows from the newest
 * result in the request, which a summary of the conversation keeps.
 */
import { SUMMARY_REQUEST } from '../../core/context/compaction.js';
import type { Script, ScriptedReply } from '../../testing/index.js';
import { READ } from './setting.js';

export interface TurnClock {
  readonly script: Script;
  /** The turn that is under way. */
  turn(): number;
  /** By turn, from the first. */
  msPerTurn(): readonly number[];
}

type Messages = Parameters<Script>[0]['messages'];

const RESULT_BYTES = 500;

export function startTurnClock(turns: number): TurnClock {
  const began: number[] = [];
  return {
    script({ messages }): ScriptedReply {
      const next = (newestOrder(messages) ?? -1) + 1;
      if (isSummaryRequest(messages)) return { text: `Orders up to O-${next - 1} were looked at.` };
      began[next] ??= performance.now();
      if (next + 1 >= turns) return { text: 'Done.' };
      return { calls: [{ tool: READ, input: { orderId: `O-${next}`, bytes: RESULT_BYTES } }] };
    },
    turn: () => began.length,
    msPerTurn: () => began.slice(1).map((time, index) => time - began[index]!),
  };
}

function newestOrder(messages: Messages): number | undefined {
  for (const { content } of messages.toReversed()) {
    const found = [...JSON.stringify(content).matchAll(/O-(\d+)/g)].at(-1);
    if (found !== undefined) return Number(found[1]);
  }
  return undefined;
}

function isSummaryRequest(messages: Messages): boolean {
  return JSON.stringify(messages.at(-1)?.content ?? '').includes(FIRST_WORDS);
}

const FIRST_WORDS = SUMMARY_REQUEST.slice(0, 40);
