/**
 * Changed arguments of a call on their way through `check_call`: what came back, or that it failed.
 */
import type { CheckCallOutput } from '../effect.js';
import type { Failure } from '../failure.js';
import { warn } from '../outbox.js';
import type { OpenRun } from '../run.js';

export function callChecked(run: OpenRun, effectId: string, _output: CheckCallOutput): OpenRun {
  return warn(run, 'late_input', `${effectId} belongs to no call`);
}

export function callNotChecked(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  return warn(run, 'late_input', `${effectId} belongs to no call: ${failure.message}`);
}
