/**
 * The two machines that a history may be of: a run, or a goal. What workflows/agent-run.ts and workflows/goal-run.ts
 * hand to the loop, without the shell.
 */
import { advance as advanceGoal, receive as receiveGoal } from '../core/goal/engine.js';
import { GOAL_SIGNALS, heardByGoal, wholeDecision } from '../core/goal/signals.js';
import { nextGoalSegment, openGoal, upgradeGoal } from '../core/goal/open.js';
import { isRecord, isWellFormed, type Parsed } from '../core/json/shape.js';
import { advance as advanceRun, receive as receiveRun } from '../core/loop/engine.js';
import { heard, heardDecision, RUN_SIGNALS } from '../core/loop/signals.js';
import { nextSegment, open, upgradeRun } from '../core/loop/open.js';
import { viewOfRun } from '../core/loop/run-result.js';
import { parseGoalMessage } from '../core/messages/parse-goal-message.js';
import { parseGoalStart } from '../core/messages/parse-goal-start.js';
import { newerVersion, parseStart } from '../core/messages/parse-start.js';
import { isReachable } from '../core/messages/run-id.js';
import type { Carrier } from '../core/state/carrier.js';
import type { Effect } from '../core/state/effect.js';
import type { Goal } from '../core/state/goal/goal.js';
import type { GoalInput } from '../core/state/goal/input.js';
import type { ChildWord, EffectInput, Input } from '../core/state/input.js';
import type { Run } from '../core/state/run.js';
import { follows } from '../core/step/changes.js';
import { rulesOfCode } from '../core/step/code-id.js';
import type { Showing } from '../core/state/showing.js';

/** What a segment begins with. */
export interface Beginning {
  readonly workflowId: string;
  /** The workflow's argument. */
  readonly argument: unknown;
  /** The first moment of its work, ms since epoch. */
  readonly at: number;
  readonly code: string | undefined;
  /** When Temporal took the start, ms since epoch. */
  readonly takenAt: number;
  /** What the server gives a task, ms. */
  readonly taskMs: number;
  readonly shown: Showing;
  /** Temporal says that another execution handed it over. */
  readonly continues: boolean;
}

/** A message from outside, as it came. */
export interface Message {
  readonly name: string;
  readonly raw: unknown;
  readonly at: number;
}

/** Whatever of either kind decides here; each machine knows its own. */
export interface Machine<S extends Carrier, I> {
  /** The first state; else why the workflow refuses its start. */
  begin(beginning: Beginning): Parsed<S>;
  advance(state: S): {
    readonly run: S;
    readonly effects: readonly Effect[];
    readonly rules: readonly string[];
  };
  receive(state: S, input: I): S;
  ofEffect(input: EffectInput | ChildWord): I;
  signal(state: S, message: Message): I;
  /** Undefined: the workflow refuses such a value without an input. */
  update(state: S, message: Message, ticket: number): I | undefined;
  /** Messages of the first moment are heard in this order, `*` stands for any other name. */
  messages(): readonly string[];
  own(type: 'cancel_requested' | 'segment_full', at: number): I;
  /** Answers for senders are taken out after each step. */
  answered(state: S): S;
  isFinal(state: S): boolean;
}

/** In the list of a machine's messages. */
export const ANY_OTHER = '*';

export const RUN: Machine<Run, Input> = {
  begin: firstRun,
  // Called by name, here and below: the rules of the other machine are not loaded.
  advance: (run) => advanceRun(run),
  receive: (run, input) => receiveRun(run, input),
  ofEffect: (input) => input,
  signal: heard,
  update(run, { raw, at }, ticket) {
    const parsed = heardDecision(run, raw);
    if (!parsed.ok) return undefined;
    return { type: 'decision', decision: parsed.value, ticket: `decide-${ticket}`, at };
  },
  messages: () => [...RUN_SIGNALS, ANY_OTHER, 'decide'],
  own: (type, at) => ({ type, at }),
  answered: (run) => (run.verdicts.length === 0 ? run : { ...run, verdicts: [] }),
  isFinal: ({ final }) => final !== undefined,
};

export const GOAL: Machine<Goal, GoalInput> = {
  begin: firstGoal,
  advance: (goal) => advanceGoal(goal),
  receive: (goal, input) => receiveGoal(goal, input),
  // A goal has no child whose end it hears.
  ofEffect: (input) => input as GoalInput,
  signal: (_goal, message) => heardByGoal(message),
  update(_goal, { name, raw, at }, number) {
    const ticket = `update-${number}`;
    if (name === 'tellGoal') {
      const parsed = parseGoalMessage(raw);
      return parsed.ok ? { type: 'goal_message', message: parsed.value, ticket, at } : undefined;
    }
    const parsed = wholeDecision(raw);
    return parsed.ok ? { type: 'decision', decision: parsed.value, ticket, at } : undefined;
  },
  messages: () => [...GOAL_SIGNALS, ANY_OTHER, 'decide', 'tellGoal'],
  own: (type, at) => ({ type, at }),
  answered: (goal) => (goal.verdicts.length === 0 ? goal : { ...goal, verdicts: [] }),
  isFinal: ({ final }) => final !== undefined,
};

function firstRun(beginning: Beginning): Parsed<Run> {
  const { argument, workflowId, at, code, takenAt, taskMs, shown, continues } = beginning;
  if (continues && isRecord(argument) && isRecord(argument.continued)) {
    const previousExecution = textOf(argument.previousExecution);
    const run = upgradeRun(argument.continued as unknown as Run);
    const value = nextSegment(run, { at, previousExecution });
    // A carried state that cannot be shown ends the steps here, not whoever looks at one of them.
    viewOfRun(value);
    return { ok: true, value };
  }
  const rules = rulesOfCode(code);
  const newer = rules === undefined ? undefined : newerVersion(argument);
  if (newer !== undefined) return refused(newer);
  if (rules !== undefined && follows({ rules }, 'reachableIds') && !isReachable(workflowId)) {
    return refused('The run id stands for another place in a path.');
  }
  const start = parseStart(argument);
  if (!start.ok) return start;
  if (rules !== undefined && follows({ rules }, 'wellFormedInputs') && !isWellFormed(start.value)) {
    return refused('A text of the start has half of a surrogate pair.');
  }
  return {
    ok: true,
    value: open(start.value, { runId: workflowId, at, rules, takenAt, taskMs, shown }),
  };
}

function firstGoal(beginning: Beginning): Parsed<Goal> {
  const { argument, workflowId, at, continues } = beginning;
  if (continues && isRecord(argument) && isRecord(argument.continuedGoal)) {
    const previousExecution = textOf(argument.previousExecution);
    const goal = upgradeGoal(argument.continuedGoal as unknown as Goal);
    return { ok: true, value: nextGoalSegment(goal, { at, previousExecution }) };
  }
  const newer = newerVersion(argument);
  if (newer !== undefined) return refused(newer);
  if (!isReachable(workflowId)) return refused('The goal id stands for another place in a path.');
  const start = parseGoalStart(argument);
  if (!start.ok) return start;
  return { ok: true, value: openGoal(start.value, { goalId: workflowId, at }) };
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
