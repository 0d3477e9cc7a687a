/**
 * Control from outside (vocabulary D9): other model, permission mode, thinking budget.
 * Invariant: effective with the next request or permission decision, never in the middle of one.
 */
import type { ResolveModelOutput } from './effect.js';
import type { Failure } from './failure.js';
import type { OutsideInput } from './input.js';
import { warn } from './outbox.js';
import type { PermissionMode } from './permission-mode.js';
import type { OpenRun, Run } from './run.js';

export type Control = Extract<
  OutsideInput,
  { type: 'set_model' | 'set_permission_mode' | 'set_max_thinking_tokens' }
>;

export function control(run: Run, input: Control): Run {
  if (input.type === 'set_permission_mode') return setPermissionMode(run, input.mode);
  return warn(run, 'input_ignored', `${input.type} is not supported`);
}

/** Questions that are open are looked at again under the new mode (call/approve.ts, G14). */
function setPermissionMode(run: Run, mode: PermissionMode): Run {
  const unlocked = run.frozen?.settings.allowBypassPermissions === true;
  if (mode === 'bypassPermissions' && !unlocked) {
    const message = 'bypassPermissions is not unlocked for this run (allowBypassPermissions)';
    return warn(run, 'permission_mode_refused', message);
  }
  const before = run.permissionMode ?? run.frozen?.settings.permissionMode;
  if (before === mode) return run;
  return warn(
    { ...run, permissionMode: mode },
    'permission_mode',
    `${before ?? 'start'} → ${mode}`,
  );
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
