/** Following a goal until it ends, until it needs a person, or until Ctrl-C; the goal itself goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoalHandle, GoalOutcomeNow, GoalResult } from '../../client/index.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import type { HintsOf } from '../desk/actor.js';
import { EXIT } from '../exit-code.js';
import { approvalCard, eventLine, goalResultLines, isDetail, shellWord } from '../render/index.js';
import { onInterrupt } from './interrupt.js';
import type { Output } from './output.js';

interface Following {
  readonly output: Output;
  /** How commands that answer a question look here. */
  readonly hints: HintsOf;
}

type PrintCard = (runId: string, ask: AskView) => Promise<void>;

/** Prints questions, and once what has to be done before their commands work. */
export function cardPrinter({ output, hints }: Following): PrintCard {
  const told = new Set<string>();
  return async (runId, ask) => {
    if (output.json) return;
    const { first, ...looks } = await hints({ runId });
    output.line(approvalCard(ask, { runId, now: Date.now(), paint: output.paint, ...looks }));
    if (first === undefined || told.has(first)) return;
    told.add(first);
    output.remark(first);
  };
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
  following: Following,
  options: GoalFollowOptions = {},
): Promise<number> {
  const { output } = following;
  const print = cardPrinter(following);
  const interrupt = onInterrupt();
  const { everything = false } = options;
  const leaving = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, leaving.signal]);
  try {
    const shown = showEvents(goal, { output, print, signal, options });
    const outcome = everything ? endOf(goal, shown, signal) : goal.outcome({ signal });
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
    if (now.kind === 'waiting') return await sayWhoIsAwaited(goal.goalId, now, { output, print });
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

interface Printing {
  readonly output: Output;
  readonly print: PrintCard;
}

interface Shown extends Printing {
  readonly signal: AbortSignal;
  readonly options: GoalFollowOptions;
}

async function showEvents(
  goal: GoalHandle,
  { output, print, signal, options }: Shown,
): Promise<void> {
  const { since = 0, everything = false, all = false } = options;
  for await (const event of goal.watch({ since, signal })) {
    if (everything) output.data(event);
    if (!all && isDetail(event)) continue;
    const line = eventLine(event, { paint: output.paint });
    if (everything) output.line(line);
    else if (!output.json) output.remark(line);
    if (everything && isAsk(event)) await print(event.stamp.runId, askOf(event));
  }
}

/** The events end with the goal, or when nobody wants them any more. */
async function endOf(
  goal: GoalHandle,
  shown: Promise<void>,
  signal: AbortSignal,
): Promise<GoalOutcomeNow> {
  await shown;
  return { kind: 'ended', result: await goal.result({ timeoutMs: RESULT_LIMIT_MS, signal }) };
}

/** The result follows the last event at once. */
const RESULT_LIMIT_MS = 30_000;

type AskEvent = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

function isAsk(event: RunEvent): event is AskEvent {
  return event.type === 'approval_requested' || event.type === 'input_request';
}

function askOf({ type: _type, stamp: _stamp, ...ask }: AskEvent): AskView {
  return ask;
}

function outcomeData(goalId: string, outcome: GoalOutcomeNow): unknown {
  return outcome.kind === 'ended'
    ? { goalId, status: outcome.result.status, result: outcome.result }
    : { goalId, status: 'waiting', runId: outcome.runId, asks: outcome.asks };
}

async function sayWhoIsAwaited(
  goalId: string,
  { runId, asks }: Extract<GoalOutcomeNow, { kind: 'waiting' }>,
  { output, print }: Printing,
): Promise<number> {
  for (const ask of asks) await print(runId, ask);
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
