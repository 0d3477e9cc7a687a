/** What must hold of whatever a step starts: limits, money, grants. A part of the invariants. */
import type { ActivityEffect } from '../../core/state/effect.js';
import { committedMicroUsd } from '../../core/money/budget.js';
import { isOpen, type Run, type Step } from '../../core/state/run.js';
import { NEW_WORK, started, type StepPredicate } from './step.js';

export const STARTING_PREDICATES: readonly StepPredicate[] = [
  startsFitTheMoney,
  toolCallsFitTheCap,
  grantsNameTheirCall,
  theGuardIsKept,
  nothingStartsAfterStop,
];

const ASKS_A_MODEL: readonly ActivityEffect['kind'][] = ['call_model', 'compact', 'prepare_child'];

function isPaid(effect: ActivityEffect): boolean {
  if (effect.kind === 'execute_tool') return effect.input.cost !== undefined;
  return ASKS_A_MODEL.includes(effect.kind);
}

function startsFitTheMoney(_before: Run, step: Step): string | undefined {
  const { run } = step;
  if (!isOpen(run) || !started(step).some(isPaid)) return undefined;
  const limit = run.frozen.budget.maxCostMicroUsd;
  const committed = committedMicroUsd(run);
  if (run.money.overrun) return 'a paid call after an overrun';
  return limit === 'unlimited' || committed <= limit
    ? undefined
    : `${committed} micro-USD spent and reserved, the limit is ${limit}`;
}

function toolCallsFitTheCap(_before: Run, step: Step): string | undefined {
  const { run } = step;
  if (!isOpen(run) || !started(step).some((effect) => effect.kind === 'execute_tool'))
    return undefined;
  const limit = run.frozen.budget.maxToolCalls;
  return limit === 'unlimited' || run.tally.toolCalls <= limit
    ? undefined
    : `${run.tally.toolCalls} tool calls, the limit is ${limit}`;
}

function grantsNameTheirCall(_before: Run, step: Step): string | undefined {
  const wrong = started(step).find(
    (effect) =>
      effect.kind === 'execute_tool' && effect.input.grant.digest !== effect.input.call.digest,
  );
  return wrong === undefined ? undefined : `the grant of ${wrong.id} is for another call`;
}

/** A run that compacts and fails must not do so in a circle (C20). */
function theGuardIsKept(before: Run, step: Step): string | undefined {
  const { run } = step;
  const [was, is] = [before, run].map((one) => one.compactions?.reactiveAttempts ?? 0) as [
    number,
    number,
  ];
  const limit = run.frozen?.budget.maxReactiveCompactions ?? 0;
  if (is < was) return `${was} reactive compactions became ${is}`;
  return is > was && is > limit ? `${is} reactive compactions, the limit is ${limit}` : undefined;
}

function nothingStartsAfterStop(before: Run, step: Step): string | undefined {
  // Of calls side by side one may start before another, in the same step, stops the run.
  const serial = step.run.frozen?.settings.toolExecution === 'serial';
  const stopped = before.stopping !== undefined || (serial && step.run.stopping !== undefined);
  const late = stopped && started(step).find((effect) => NEW_WORK.includes(effect.kind));
  return late ? `${late.id} starts although the run stops` : undefined;
}
