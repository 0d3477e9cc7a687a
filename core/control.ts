/**
 * Control from outside (vocabulary D9): other model, permission mode, thinking budget.
 * Invariant: effective with the next request or permission decision, never in the middle of one.
 */
import type { ResolveModelOutput } from './effect.js';
import type { Failure } from './failure.js';
import type { OutsideInput } from './input.js';
import { warn } from './outbox.js';
import type { OpenRun, Run } from './run.js';

export type Control = Extract<
  OutsideInput,
  { type: 'set_model' | 'set_permission_mode' | 'set_max_thinking_tokens' }
>;

export function control(run: Run, input: Control): Run {
  return warn(run, 'input_ignored', `${input.type} is not supported`);
}

export function modelResolved(
  run: OpenRun,
  effectId: string,
  _output: ResolveModelOutput,
): OpenRun {
  return warn(run, 'late_input', `${effectId} was not asked for`);
}

export function modelNotResolved(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  return warn(run, 'late_input', `${effectId} was not asked for: ${failure.message}`);
}
