/**
 * What is heard of the sub-agents of a run: recorded, not decided on.
 * Invariant: each that was prepared ends once; what was reserved for it comes back with its end, less what it cost.
 */
import { addUsage, settleReservation } from '../money/budget.js';
import type { DelegatedStage } from '../state/call.js';
import type { ToolOutcome } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type {
  ChildEnd,
  CloseChildOutput,
  PrepareChildOutput,
} from '../state/payloads/child-payloads.js';
import { NO_USAGE } from '../state/model.js';
import type { OpenRun, Run } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import { creditWork } from '../step/clock.js';
import { baseOf, withCall } from '../step/open-work.js';
import { warn } from '../step/outbox.js';
import * as watch from '../step/watch-child.js';
import { withNextNumber } from './delegate.js';

/** Fact: its row is written, or it is not to be started. */
export function childPrepared(run: OpenRun, effectId: string, output: PrepareChildOutput): Run {
  const child = (run.children ?? []).find((one) => one.effectId === effectId);
  if (child === undefined) return run;
  const { refused, start: input, begun } = output;
  if (refused !== undefined || input === undefined) {
    return notStarted(run, child, refused ?? { why: 'invalid_arguments', message: 'no start' });
  }
  const { effectId: _, ...rest } = child;
  return withChild(run, { ...rest, stage: 'starting', due: begun === true, input });
}

/** Of one that had no time to start. */
export const STOPPED = {
  code: 'interrupted_mid_execution',
  message: 'Not started: the run was stopped.',
} as const;

/** Fact: nothing is known of its row, which an earlier attempt may have written: it is sealed before the call ends. */
export function childNotPrepared(run: OpenRun, effectId: string, failure: Failure): Run {
  const child = (run.children ?? []).find((one) => one.effectId === effectId);
  if (child === undefined) return run;
  const { effectId: _, ...rest } = child;
  const notStarted = failure.cancelled
    ? STOPPED
    : ({ code: 'execution_error', message: failure.message.slice(0, 2_000) } as const);
  return withChild(run, { ...rest, stage: 'open', due: true, last: true, notStarted });
}

type Refused = NonNullable<PrepareChildOutput['refused']>;

const CODES = {
  child_id_taken: 'execution_error',
  passed: 'execution_error',
  crowded: 'budget_exceeded',
  used_up: 'budget_exceeded',
  invalid_arguments: 'invalid_arguments',
} as const;

function notStarted(run: OpenRun, child: RunChild, refused: Refused): OpenRun {
  const { why, message, costMicroUsd = 0 } = refused;
  const call = callOf(run, child);
  if (why === 'passed' && call !== undefined && run.stopping === undefined) {
    const again = withNextNumber(withoutChild(run, child, costMicroUsd), call);
    if (again !== undefined) return again;
  }
  const detail = why === 'child_id_taken' ? `child_id_taken: ${message}` : message;
  return ended(run, child, { ...nothing(`Not started: ${detail}`, CODES[why]), costMicroUsd });
}

function nothing(text: string, code: NonNullable<ChildEnd['code']>): ChildEnd {
  const content = { text: text.slice(0, 2_000) };
  return { stopReason: 'failed', content, code, costMicroUsd: 0, usage: NO_USAGE, activeMs: 0 };
}

/** It waits for the outcomes of its sub-agents, in a full segment too. */
export function isEnding({ stopping, pausing }: OpenRun): boolean {
  return stopping !== undefined || pausing !== undefined;
}

/** Of one that another execution started: no segment of this one hears of its end. */
const NO_SEGMENT = -1;

/** Fact: it is there, or whether it is must be looked at. */
export function childStarted(run: OpenRun, effectId: string, existed: boolean): OpenRun {
  const child = (run.children ?? []).find((one) => one.effectId === effectId);
  if (child === undefined) return run;
  const { effectId: _, ...rest } = child;
  // Temporal tells its end to the execution that started it, which may have been another one.
  const heard = existed && rest.heardIn !== undefined ? { ...rest, heardIn: NO_SEGMENT } : rest;
  return withChild(run, watch.started(heard, existed));
}

/** Fact: it says that it has ended. */
export function childEnded(run: Run, id: string): Run {
  const children = run.children?.map((one) =>
    one.child === id && one.stage !== 'preparing' ? watch.saidToEnd(one) : one,
  );
  return children === undefined ? run : { ...run, children };
}

/** Fact: the timer of a look has fired, or what was told to stop has had its time. */
export function childTimer(run: OpenRun, timer: string): OpenRun {
  if (run.childGrace === timer) {
    const { childGrace: _, ...rest } = run;
    return {
      ...rest,
      children: (run.children ?? []).map((one) => ({ ...one, last: true as const })),
    };
  }
  const child = run.children?.find(({ look }) => look?.timer === timer);
  return child === undefined ? run : withChild(run, watch.lookedFor(child));
}

/** Fact: its outcome, or none yet. */
export function childClosed(run: OpenRun, effectId: string, output: CloseChildOutput): Run {
  const child = (run.children ?? []).find((one) => one.effectId === effectId);
  if (child === undefined) return run;
  if (output.end !== undefined) return ended(run, child, explained(child, output.end));
  const { effectId: _, ...rest } = child;
  return withChild(run, watch.goesOn(rest, output.waiting === true));
}

/** Why it was not started says more than that there is nothing of it. */
function explained({ notStarted }: RunChild, end: ChildEnd): ChildEnd {
  if (notStarted === undefined || end.code !== 'execution_error') return end;
  return { ...end, code: notStarted.code, content: { text: notStarted.message } };
}

/** The store gave no answer that helps: it is looked at again, or, where no more is waited for, nobody knows. */
export function childNotClosed(run: OpenRun, effectId: string, failure: Failure): Run {
  const child = (run.children ?? []).find((one) => one.effectId === effectId);
  if (child === undefined) return run;
  if (child.last) {
    const cost = child.sliceMicroUsd ?? 0;
    const lost = nothing(`lost: ${failure.message}`, 'outcome_unknown');
    return ended(run, child, { ...lost, costMicroUsd: cost, unconfirmed: true });
  }
  const { effectId: _, ...rest } = child;
  return withChild(run, watch.goesOn(rest, false));
}

/** Its call has its outcome, what it cost is spent, and what was left comes back. */
export function ended(run: OpenRun, child: RunChild, end: ChildEnd): OpenRun {
  const call = callOf(run, child);
  const billed = withoutChild(run, child, end.costMicroUsd);
  const tally = { ...billed.tally, usage: addUsage(billed.tally.usage, end.usage) };
  const worked = creditWork(
    { ...billed, tally },
    { kind: 'start_child', cancelled: false, since: child.startedAt },
    Math.min(end.activeMs, run.now - child.startedAt),
  );
  const told = end.unconfirmed
    ? warn(worked, 'agent_lost', `the end of ${child.child} cannot be confirmed`)
    : worked;
  if (call === undefined) return told;
  const cost = (call.costMicroUsd ?? 0) + end.costMicroUsd;
  return withCall(told, {
    ...baseOf(call),
    attempts: call.attempts + 1,
    ...(cost > 0 && { costMicroUsd: cost }),
    stage: 'returned',
    grant: call.grant,
    startedAt: call.startedAt,
    durationMs: run.now - call.startedAt,
    fact: { kind: 'outcome', outcome: outcomeOf(end) },
  });
}

function outcomeOf({ code, content }: ChildEnd): ToolOutcome {
  if (code === undefined) return { kind: 'ok', content };
  const message = 'text' in content ? content.text : content.preview;
  return { kind: 'error', code, message };
}

function withoutChild(run: OpenRun, child: RunChild, costMicroUsd: number): OpenRun {
  const { children = [], ...rest } = run;
  const others = children.filter(({ child: id }) => id !== child.child);
  const spent = { billed: costMicroUsd, lost: 0, by: 'the sub-agent' } as const;
  const without = others.length === 0 ? rest : { ...rest, children: others };
  return settleReservation(without, child.child, spent);
}

export function callOf(run: OpenRun, { child }: RunChild): DelegatedStage | undefined {
  return run.turn?.calls.find(
    (one): one is DelegatedStage => one.stage === 'delegated' && one.child === child,
  );
}

export function withChild<R extends Run>(run: R, child: RunChild): R {
  const { children = [] } = run;
  return { ...run, children: children.map((one) => (one.child === child.child ? child : one)) };
}
