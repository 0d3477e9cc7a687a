/**
 * A small in-process shell with a virtual clock. It drives `receive` and `advance` exactly as the workflow
 * does (all facts of an activation, then one decision), with scripted outcomes, and checks the invariants
 * after every step. Time stands still while anything can happen, then jumps to the next outcome.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../../core/state/ask.js';
import {
  isActivity,
  type ActivityEffect,
  type CallModelInput,
  type Effect,
  type Limited,
} from '../../core/state/effect.js';
import { advance, receive } from '../../core/loop/engine.js';
import type { EventType, RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Input, OutsideInput } from '../../core/state/input.js';
import { checkEvent, checkStep, startChecking } from '../../pure/invariants.js';
import { forkRun } from '../../core/loop/fork.js';
import { nextSegment, open } from '../../core/loop/open.js';
import type { RunResult } from '../../core/state/result.js';
import { viewOfRun } from '../../core/loop/run-result.js';
import type { Fork } from '../../core/state/fork.js';
import type { OpenRun, Run } from '../../core/state/run.js';
import { outcomeOf, type Outcome } from './outcomes.js';
import { notPlain } from './plain.js';
import { createTranscript } from './transcript.js';
import { decisionOn, type Script } from './script.js';
import type { Awaited, Shell, Started } from './shell-state.js';
import { keepsTwins, withBoth, withTwin } from './sealed-twin.js';

/** Start of virtual time, ms since epoch. */
export const START = 1_000_000;
/** Between the end of a segment and the start of the next. */
const SEGMENT_GAP_MS = 7;
const STEPS_MAX = 1_500;

keepsTwins((twin) => tick(twin, { timers: true }));

export type { Shell, Started } from './shell-state.js';

export function createShell(script: Script): Shell {
  return withTwin(script, newShell);
}

function newShell(script: Script): Shell {
  const { taskId = 'case', ...task } = script.task ?? {};
  const { tenant, cwd, parent } = script;
  const start = {
    v: 1,
    agent: 'case',
    task: { goal: 'Handle the case.', taskId, ...task },
    ...(cwd !== undefined && { session: { cwd } }),
    ...(parent !== undefined && { parent }),
  } as const;
  const run = open(
    { ...start, ...(tenant !== undefined && { tenant }) },
    { runId: 'run_1', at: START },
  );
  const shell = { script, run, now: START, transcript: createTranscript() };
  return begun({ ...shell, checks: startChecking() });
}

/** A fork of the run of a shell, as that run is now; no twin plays beside it. */
export function forkShell({ script, run, now, transcript }: Shell, terms: ForkTerms): Shell {
  const { changed = {}, outcomes = {}, results = {}, namesKeys = true } = terms;
  const fork = { run: run as OpenRun, step: 1, outcomes, results };
  const made = forkRun(fork, { runId: 'fork_1', taskId: 'fork', at: now, namesKeys });
  if (!made.ok) throw new Error(made.reason);
  const shell = { script: { ...script, ...changed }, run: made.value, now, transcript };
  // What its calls were proposed by is an event of its parent.
  return begun({ ...shell, checks: { ...startChecking(), partlyShown: true } });
}

interface ForkTerms {
  /** False: made by a release before. */
  readonly namesKeys?: boolean;
  readonly outcomes?: Fork['outcomes'];
  readonly results?: Fork['results'] & object;
  /** What models, tools and findings say to the fork in place of what they said to its parent. */
  readonly changed?: Partial<Script>;
}

type Beginning = Pick<Shell, 'script' | 'run' | 'now' | 'transcript' | 'checks'>;

function begun(begin: Beginning): Shell {
  const shell: Shell = {
    ...begin,
    inbox: [],
    awaited: [],
    effects: [],
    stored: [],
    events: [],
    verdicts: [],
    tickets: [],
    used: {},
    allotted: {},
    summaries: {},
    orders: 0,
  };
  decide(shell);
  return shell;
}

/** One decision, and what it starts. */
function decide(shell: Shell): void {
  const before = shell.run;
  const step = advance(before);
  const place = notPlain(step.run, 'the run');
  if (place !== undefined) throw new Error(`${place} is not plain JSON`);
  // A part that somebody changed after it was looked at shows at the end.
  if (
    step.run.final !== undefined &&
    !isDeepStrictEqual(JSON.parse(JSON.stringify(step.run)), step.run)
  )
    throw new Error('the run is not plain JSON');
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
    expect_(shell, effect.id, {
      due: effect.at,
      make: (at) => ({ type: 'timer_fired', id: effect.id, at }),
    });
  } else if (effect.kind === 'cancel') {
    cancel(shell, effect.target);
  } else if (effect.kind === 'start_child') {
    startChild(shell, effect);
  } else if (effect.kind === 'tell_child') {
    if (effect.message === 'interrupt' || effect.message === 'cancel')
      endChild(shell, effect.child, 1);
  } else if (isActivity(effect)) {
    const outcome = outcomeOf(shell, effect);
    const limitMs = effect.limits.totalMs ?? (effect.input as Limited).workMs;
    const tooLong = limitMs !== undefined && outcome.delayMs > limitMs;
    const shown: Outcome = tooLong ? timedOut(effect.id, limitMs) : outcome;
    if (Number.isFinite(shown.delayMs)) {
      const make = worked(shown.make, shell.now);
      expect_(shell, effect.id, { due: shell.now + shown.delayMs, make });
    }
  }
}

function childAt({ script }: Shell, child: string) {
  return script.children?.[Number(/\d+$/.exec(child)?.[0]) - 1] ?? {};
}

/** It is there at once, and says later that it has ended. */
function startChild(shell: Shell, effect: Extract<Effect, { kind: 'start_child' }>): void {
  const { id, child } = effect;
  if (/:h\d+$/.test(child)) return startHanded(shell, id, child);
  const { ms = 10, silent, existed } = childAt(shell, child);
  const was = existed && { existed };
  expect_(shell, id, { due: shell.now, make: (at) => ({ type: 'child_started', id, ...was, at }) });
  if (Number.isFinite(ms) && !silent) endChild(shell, child, ms);
}

function startHanded(shell: Shell, id: string, child: string): void {
  const { handed = [] } = shell.script;
  const { existed, startsMs = 0 } = handed[Number(/\d+$/.exec(child)?.[0]) - 1] ?? {};
  expect_(shell, id, {
    due: shell.now + startsMs,
    make: (at) => ({ type: 'child_started', id, at, ...(existed && { existed }) }),
  });
}

function endChild(shell: Shell, child: string, ms: number): void {
  if (childAt(shell, child).waits) return;
  const id = `end of ${child}`;
  shell.awaited = shell.awaited.filter((one) => one.id !== id);
  expect_(shell, id, {
    due: shell.now + ms,
    make: (at) => {
      const { returns } = childAt(shell, child);
      if (returns === undefined) return { type: 'child_ended', child, at };
      return { type: 'child_done', child, ...(returns !== null && { result: returns }), at };
    },
  });
}

/** Scripted workers are always there: what an effect took it worked. */
function worked(make: Outcome['make'], since: number): Outcome['make'] {
  return (at) => {
    const input = make(at);
    const workedMs = at - since;
    if ('output' in input) return { ...input, output: { ...input.output, workedMs } } as Input;
    if (input.type !== 'effect_failed') return input;
    return { ...input, failure: { ...input.failure, workedMs } };
  };
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
  if (effect === undefined || !isActivity(effect)) return;
  const { since = shell.now } = shell.run.inflight[target] ?? {};
  const { make } = outcomeOf(shell, effect, 'cancelled');
  expect_(shell, target, { due: shell.now, make: worked(make, since) });
}

/** Puts inputs into the inbox: they are received with whatever comes back next, before it. */
export function post(shell: Shell, ...inputs: readonly Outside[]): void {
  withBoth(shell, (one) => postIn(one, ...inputs));
}

function postIn(shell: Shell, ...inputs: readonly Outside[]): void {
  for (const input of inputs) {
    if (input.type === 'decision' && input.ticket !== undefined) shell.tickets.push(input.ticket);
    shell.inbox.push({ ...input, at: shell.now } as Input);
  }
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
  withBoth(shell, (one) => activateIn(one));
}

function activateIn(shell: Shell): void {
  for (const input of shell.inbox.splice(0)) {
    shell.run = receive(shell.run, input);
    takeEvents(shell);
  }
  decide(shell);
}

/** The next outcome arrives, together with the inbox. False when nothing but timers is awaited. */
export function tick(shell: Shell, options: { readonly timers?: boolean } = {}): boolean {
  return withBoth(shell, (one) => tickIn(one, options));
}

function tickIn(shell: Shell, options: { readonly timers?: boolean } = {}): boolean {
  const candidates = shell.awaited.filter((one) => options.timers || !one.id.startsWith('timer-'));
  const next = candidates.sort((a, b) => a.due - b.due || a.order - b.order)[0];
  if (next === undefined || shell.run.final !== undefined) return false;
  arrive(shell, next);
  activate(shell);
  return true;
}

/** An outcome enters the inbox, and time is where it happened. */
function arrive(shell: Shell, one: Awaited): void {
  shell.awaited = shell.awaited.filter((other) => other !== one);
  shell.now = Math.max(shell.now, one.due);
  shell.inbox.push(one.make(shell.now));
}

/** Goes on until only timers, people or nothing at all are waited for. */
export function settle(shell: Shell): Shell {
  for (let step = 0; tick(shell); step += 1) refuseEndless(step);
  return shell;
}

/** Goes on to the end, letting timers fire. */
export function finish(shell: Shell): RunResult {
  for (let step = 0; tick(shell, { timers: true }); step += 1) refuseEndless(step);
  const result = resultOf(shell);
  if (!isDeepStrictEqual(shell.stored, shell.events)) throw new Error('the store misses events');
  return result;
}

/** Goes on until an event of this kind has been emitted. */
export function until(shell: Shell, type: EventType, more: object = {}): RunEvent {
  const from = shell.events.length;
  const wanted = Object.entries(more);
  for (let step = 0; ; step += 1) {
    refuseEndless(step);
    const found = shell.events
      .slice(from)
      .find(
        (one) =>
          one.type === type && wanted.every(([key, value]) => Reflect.get(one, key) === value),
      );
    if (found !== undefined) return found;
    if (!tick(shell)) throw new Error(`the run rests without ${type} ${JSON.stringify(more)}`);
  }
}

function refuseEndless(step: number): void {
  if (step > STEPS_MAX) throw new Error('this never ends');
}

/** Lets time pass; what is due meanwhile happens in its order. */
export function pass(shell: Shell, ms: number): void {
  withBoth(shell, (one) => passIn(one, ms));
}

function passIn(shell: Shell, ms: number): void {
  const end = shell.now + ms;
  for (;;) {
    const due = shell.awaited
      .filter((one) => one.due <= end)
      .sort((a, b) => a.due - b.due || a.order - b.order)[0];
    if (due === undefined || shell.run.final !== undefined) break;
    arrive(shell, due);
    activate(shell);
  }
  shell.now = end;
}

/** The due outcome of one effect and these inputs arrive in one activation, in this order. */
export function together(shell: Shell, order: readonly ('timer' | Outside)[]): void {
  withBoth(shell, (one) => togetherIn(one, order));
}

function togetherIn(shell: Shell, order: readonly ('timer' | Outside)[]): void {
  for (const one of order) {
    const timer = shell.awaited.find((awaited) => awaited.id.startsWith('timer-'));
    if (one !== 'timer') post(shell, one);
    else if (timer !== undefined) arrive(shell, timer);
  }
  activate(shell);
}

/** Continues as new at the next boundary, through JSON, as the workflow does. */
export function crossSegment(shell: Shell): void {
  withBoth(shell, (one) => crossSegmentIn(one));
}

function crossSegmentIn(shell: Shell): void {
  send(shell, { type: 'segment_full' });
  for (let step = 0; shell.run.final === undefined && tick(shell); step += 1) refuseEndless(step);
  if (shell.run.final?.kind !== 'continue_as_new')
    throw new Error('the run did not continue as new');
  const { final: _, ...carried } = JSON.parse(JSON.stringify(shell.run)) as Run;
  shell.now += SEGMENT_GAP_MS;
  shell.run = nextSegment(carried, { at: shell.now, previousExecution: 'execution-1' });
  shell.awaited = [];
  for (const [id, { kind, at }] of Object.entries(shell.run.inflight)) {
    if (kind !== 'timer' || at === undefined) throw new Error(`${id} was left behind`);
    perform(shell, { kind, id, at, summary: 'deadline' });
  }
  decide(shell);
}

export function resultOf(shell: Shell): RunResult {
  const { final } = shell.run;
  if (final?.kind !== 'result')
    throw new Error(`the run has no result but ${JSON.stringify(final)}`);
  return final.result;
}

/** The only open ask. */
export function askOf(shell: Shell): AskView {
  const { asks } = viewOfRun(shell.run);
  if (asks.length !== 1) throw new Error(`${asks.length} asks are open`);
  return asks[0]!;
}

/** A person answers the only open ask now. */
export function answer(shell: Shell, changes: Partial<Decision> = {}): void {
  const decision = decisionOn(askOf(shell), { decidedAt: shell.now, ...changes });
  send(shell, { type: 'decision', decision });
}

export function ofType<Type extends EventType>(shell: Shell, type: Type) {
  return shell.events.filter((one): one is Extract<RunEvent, { type: Type }> => one.type === type);
}

export function started<Kind extends ActivityEffect['kind']>(shell: Shell, kind: Kind) {
  return shell.effects.filter((one): one is Started<Kind> => one.kind === kind);
}

/** Model requests in order. */
export function requestsOf(shell: Shell): readonly CallModelInput[] {
  return started(shell, 'call_model').map((effect) => effect.input);
}

/** Executions in order: `call tool key attempt`. */
export function executedOf(shell: Shell): readonly string[] {
  return started(shell, 'execute_tool').map(({ input: { call } }) =>
    [call.callId, call.tool, call.key, call.attempt].join(' '),
  );
}

/** What every call ended with: `ok`, or its code. */
export function codesOf(shell: Shell): { readonly [callId: string]: string } {
  return Object.fromEntries(
    ofType(shell, 'tool_finished').map((event) => [event.callId, event.code ?? event.status]),
  );
}

export function warningsOf(shell: Shell): readonly string[] {
  return ofType(shell, 'warning').map((event) => event.code);
}

export function transitionsOf(shell: Shell): readonly string[] {
  return ofType(shell, 'transition').map((event) => event.reason);
}
