/** What the predicates over steps share. */
import { isActivity, type ActivityEffect } from '../../core/state/effect.js';
import type { Run, Step } from '../../core/state/run.js';

/** `before` is the run that `advance` was given. */
export type StepPredicate = (before: Run, step: Step) => string | undefined;

export function started(step: Step): readonly ActivityEffect[] {
  return step.effects.filter(isActivity);
}

/** Effects that go on with the run's task. */
export const NEW_WORK: readonly ActivityEffect['kind'][] = [
  'call_model',
  'compact',
  'execute_tool',
  'reconcile_tool',
  'prepare_child',
  'prepare_handoff',
];
