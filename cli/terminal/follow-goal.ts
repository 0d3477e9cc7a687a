/** Following a goal until it ends, until it needs a person, or until Ctrl-C; the goal itself goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoalHandle, GoalOutcomeNow, GoalResult } from '../../client/index.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import { EXIT } from '../exit-code.js';
import { approvalCard, eventLine, goalResultLines, isDetail, shellWord } from '../render/index.js';
import type { Session } from '../session.js';
import { onInterrupt } from './interrupt.js';
import type { Output } from './output.js';

interface Following {
  readonly session: Session;
  readonly output: Output;
}

export interface GoalFollowOptions {
  readonly since?: number;
  /** Events as the command's answer, through approvals; else its end is the answer, and they are remarks. */
  readonly everything?: boolean;
  /** Also events that only say that things go their way. */
  readonly all?: boolean;
}

/** Gives the exit code. */
export async function followGoal(
  goal: GoalHandle,
  { output }: Following,
  options: GoalFollowOptions = {},
): Promise<number> {
  const interrupt = onInterrupt();
  const { everything = false } = options;
  const leaving = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, leaving.signal]);
  try {
    const shown = showEvents(goal, { output, signal, options });
    const outcome = everything ? endOf(goal, shown) : goal.outcome({ signal });
    // Without its events a goal is followed all the same.
    shown.catch(() => undefined);
    const now = await outcome.catch((error: unknown) => {
      if (interrupt.signal.aborted) return undefined;
      throw error;
    });
    if (now === undefined || (interrupt.signal.aborted && now.kind !== 'ended')) {
      return sayItGoesOn(goal.goalId, output);
    }
    // The last events are in the store before the result is there.
    if (now.kind === 'ended') await atMost(shown, LAST_EVENTS_MS);
    leaving.abort();
    await shown.catch(() => undefined);
    if (!everything) output.data(outcomeData(goal.goalId, now));
    if (now.kind === 'waiting') return sayWhoIsAwaited(goal.goalId, now, output);
    printGoalResult(now.result, output);
    return now.result.completed ? EXIT.completed : EXIT.stopped;
  } finally {
    leaving.abort();
    interrupt.release();
  }
}

const LAST_EVENTS_MS = 5_000;

/** Ends when `work` does, however it does, or when its time is up. */
async function atMost(work: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), late]);
  over.abort();
}

interface Shown {
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly options: GoalFollowOptions;
}

async function showEvents(goal: GoalHandle, { output, signal, options }: Shown): Promise<void> {
  const { since = 0, everything = false, all = false } = options;
  for await (const event of goal.watch({ since, signal })) {
    if (everything) output.data(event);
    if (!all && isDetail(event)) continue;
    const line = eventLine(event, { paint: output.paint });
    if (everything) output.line(line);
    else if (!output.json) output.remark(line);
    if (everything && isAsk(event)) output.line(cardOf(event, output));
  }
}

/** The events end with the goal, or when nobody wants them any more. */
async function endOf(goal: GoalHandle, shown: Promise<void>): Promise<GoalOutcomeNow> {
  await shown;
  return { kind: 'ended', result: await goal.result({ timeoutMs: RESULT_LIMIT_MS }) };
}

/** The result follows the last event at once. */
const RESULT_LIMIT_MS = 30_000;

type AskEvent = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

function isAsk(event: RunEvent): event is AskEvent {
  return event.type === 'approval_requested' || event.type === 'input_request';
}

function cardOf(event: AskEvent, output: Output): string {
  const { type: _type, stamp, ...ask } = event;
  return card(stamp.runId, ask, output);
}

function card(runId: string, ask: AskView, { paint }: Output): string {
  return approvalCard(ask, { runId, now: Date.now(), paint });
}

function outcomeData(goalId: string, outcome: GoalOutcomeNow): unknown {
  return outcome.kind === 'ended'
    ? { goalId, status: outcome.result.status, result: outcome.result }
    : { goalId, status: 'waiting', runId: outcome.runId, asks: outcome.asks };
}

function sayWhoIsAwaited(
  goalId: string,
  { runId, asks }: Extract<GoalOutcomeNow, { kind: 'waiting' }>,
  output: Output,
): number {
  for (const ask of asks) output.line(card(runId, ask, output));
  output.remark(
    `The goal waits for a person. Answer with a command above; follow it with: holdfast goal watch ${shellWord(goalId)}`,
  );
  return EXIT.waiting;
}

export function printGoalResult(result: GoalResult | RunResult, output: Output): void {
  if (output.json) return;
  output.line('');
  for (const line of goalResultLines(result, output.paint)) output.line(line);
}

function sayItGoesOn(goalId: string, output: Output): number {
  const id = shellWord(goalId);
  output.remark(
    `\nNo longer following; the goal goes on. Watch it: holdfast goal watch ${id} – end it: holdfast goal stop ${id}`,
  );
  return EXIT.interrupted;
}
