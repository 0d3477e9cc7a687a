/**
 * A small in-process shell with a virtual clock. It drives `receive` and `advance` exactly as the workflow
 * does (all facts of an activation, then one decision), with scripted outcomes, and checks the invariants
 * after every step. Time stands still while anything can happen, then jumps to the next outcome.
 */
import type { Decision } from '../../core/ask/ask.js';
import type { ActivityEffect, CallModelInput, Effect } from '../../core/effect.js';
import { advance, receive } from '../../core/engine.js';
import type { AskView, EventType, RunEvent } from '../../core/event.js';
import type { Input, OutsideInput } from '../../core/input.js';
import { checkEvent, checkStep, startChecking, type InvariantState } from '../../core/invariants.js';
import { nextSegment, open } from '../../core/open.js';
import type { RunResult } from '../../core/result.js';
import { viewOfRun } from '../../core/run-result.js';
import type { Run } from '../../core/run.js';
import { outcomeOf, type Outcome } from './outcomes.js';
import { createTranscript, type Transcript } from './transcript.js';
import { decisionOn, type Script } from './script.js';

/** Start of virtual time, ms since epoch. */
export const START = 1_000_000;
const STEPS_MAX = 5_000;

export type Started<Kind extends ActivityEffect['kind']> = Extract<ActivityEffect, { kind: Kind }>;

interface Awaited {
  readonly id: string;
  readonly due: number;
  readonly order: number;
  readonly make: (at: number) => Input;
}

export interface Shell {
  readonly script: Script;
  run: Run;
  now: number;
  inbox: Input[];
  awaited: Awaited[];
  /** Every effect that was ever started, in order. */
  readonly effects: Effect[];
  /** Events by seq, as the store has them. */
  readonly stored: RunEvent[];
  /** Events by seq, as they were emitted. */
  readonly events: RunEvent[];
  readonly transcript: Transcript;
  readonly verdicts: Run['verdicts'][number][];
  readonly used: { [what: string]: number };
  checks: InvariantState;
  orders: number;
}

export function createShell(script: Script): Shell {
  const { taskId = 'case', ...task } = script.task ?? {};
  const { tenant } = script;
  const start = { v: 1, agent: 'case', task: { goal: 'Handle the case.', taskId, ...task } } as const;
  const shell: Shell = {
    script,
    run: open({ ...start, ...(tenant !== undefined && { tenant }) }, { runId: 'run_1', at: START }),
    now: START,
    inbox: [],
    awaited: [],
    effects: [],
    stored: [],
    events: [],
    transcript: createTranscript(),
    verdicts: [],
    used: {},
    checks: startChecking(),
    orders: 0,
  };
  decide(shell);
  return shell;
}

/** One decision, and what it starts. */
function decide(shell: Shell): void {
  const before = shell.run;
  const step = advance(before);
  shell.run = step.run;
  takeEvents(shell);
  const violations = checkStep(before, step);
  if (violations.length > 0) throw new Error(violations.join('\n'));
  for (const effect of step.effects) perform(shell, effect);
  shell.verdicts.push(...shell.run.verdicts);
  if (shell.run.verdicts.length > 0) shell.run = { ...shell.run, verdicts: [] };
}

function takeEvents(shell: Shell): void {
  for (const event of shell.run.outbox.events) {
    if (event.stamp.seq < shell.events.length) continue;
    const { state, violations } = checkEvent(shell.checks, event);
    if (violations.length > 0) throw new Error(violations.join('\n'));
    shell.checks = state;
    shell.events.push(event);
  }
}

function perform(shell: Shell, effect: Effect): void {
  shell.effects.push(effect);
  if (effect.kind === 'timer') {
    expect_(shell, effect.id, { due: effect.at, make: (at) => ({ type: 'timer_fired', id: effect.id, at }) });
  } else if (effect.kind === 'cancel') {
    cancel(shell, effect.target);
  } else if (effect.kind !== 'status') {
    const outcome = outcomeOf(shell, effect);
    const { totalMs } = effect.limits;
    const tooLong = totalMs !== undefined && outcome.delayMs > totalMs;
    const shown: Outcome = tooLong ? timedOut(effect.id, totalMs) : outcome;
    if (Number.isFinite(shown.delayMs))
      expect_(shell, effect.id, { due: shell.now + shown.delayMs, make: shown.make });
  }
}

function timedOut(id: string, delayMs: number): Outcome {
  const failure = { code: 'Internal', message: 'out of time', timedOut: true } as const;
  return { delayMs, make: (at) => ({ type: 'effect_failed', id, failure, at }) };
}

function expect_(shell: Shell, id: string, what: Pick<Awaited, 'due' | 'make'>): void {
  shell.orders += 1;
  shell.awaited.push({ id, order: shell.orders, ...what });
}

/** A cancelled timer is gone; a cancelled model or tool still answers, at once. */
function cancel(shell: Shell, target: string): void {
  shell.awaited = shell.awaited.filter((one) => one.id !== target);
  const effect = shell.effects.find((one) => 'id' in one && one.id === target);
  if (effect === undefined || !('input' in effect)) return;
  const { make } = outcomeOf(shell, effect, 'cancelled');
  expect_(shell, target, { due: shell.now, make });
}

/** Puts inputs into the inbox: they are received with whatever comes back next, before it. */
export function post(shell: Shell, ...inputs: readonly Outside[]): void {
  for (const input of inputs) shell.inbox.push({ ...input, at: shell.now } as Input);
}

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;
export type Outside = Unstamped<OutsideInput | Extract<Input, { type: 'segment_full' }>>;

/** Inputs that arrive by themselves: received and decided upon at once. */
export function send(shell: Shell, ...inputs: readonly Outside[]): void {
  post(shell, ...inputs);
  activate(shell);
}

/** All facts of this activation, then one decision. */
export function activate(shell: Shell): void {
  for (const input of shell.inbox.splice(0)) {
    shell.run = receive(shell.run, input);
    takeEvents(shell);
  }
  decide(shell);
}

/** The next outcome arrives, together with the inbox. False when nothing but a timer is awaited. */
export function tick(shell: Shell, options: { timers?: boolean } = {}): boolean {
  const next = shell.awaited
    .filter((one) => options.timers || !one.id.startsWith('timer-'))
    .toSorted_();
  if (next === undefined || shell.run.final !== undefined) return false;
  shell.awaited = shell.awaited.filter((one) => one !== next);
  shell.now = Math.max(shell.now, next.due);
  shell.inbox.push(next.make(shell.now));
  activate(shell);
  return true;
}
