/**
 * Control from outside: other model, permission mode, thinking budget.
 * Invariants: effective with the next request or permission decision, never in the middle of one; a model that
 * nobody can resolve changes nothing; of several models the last one counts, of several permission modes each
 * is decided on in turn.
 */
import { follows } from '../step/changes.js';
import {
  refOf,
  type ActivityEffect,
  type EffectLimits,
  type ResolveModelInput,
  type ResolveModelOutput,
} from '../state/effect.js';
import { storeWork } from '../step/clock.js';
import type { Failure } from '../state/failure.js';
import { flying, only, start } from '../step/inflight.js';
import type { Ruling } from '../step/advance.js';
import { warn } from '../step/outbox.js';
import type { PermissionMode } from '../state/permission-mode.js';
import { withModelChoice, unservedLimit } from '../step/route.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import type { Settings } from '../state/settings.js';

/**
 * The next request waits for it. Under rules without `workedTime` it must not take long: when these limits end it, the
 * run goes on with the model that it has.
 */
const RESOLVE_LIMITS: EffectLimits = { attemptMs: 10_000, totalMs: 60_000, maximumAttempts: 5 };

/** Looks up the model that a person named. */
export function resolveWanted(run: OpenRun): Step<OpenRun> | undefined {
  const { wanted, ...choice } = run.modelChoice ?? {};
  if (wanted === undefined || flying(run, ['resolve_model'])) return undefined;
  return start({ ...run, modelChoice: choice }, 'resolve_model', (id, events): ActivityEffect => ({
    kind: 'resolve_model',
    id,
    input: {
      v: 1,
      run: refOf(run),
      model: wanted,
      ...unlimitedMoney(run),
      ...unservedLimit(run),
      events,
    },
    limits: storeWork(run, RESOLVE_LIMITS),
    summary: wanted,
  }));
}

function unlimitedMoney(run: OpenRun): Pick<ResolveModelInput, 'money'> {
  const isFree = run.frozen.budget.maxCostMicroUsd === 'unlimited';
  return isFree && follows(run, 'unpricedModels') ? { money: 'unlimited' } : {};
}

/** Rule: questions that are open are looked at again under the new mode (call/approve.ts, G14). */
export function decideMode(given: Run): Ruling<Run> {
  if (given.wantedModes === undefined) return undefined;
  const { wantedModes, ...run } = given;
  return only(wantedModes.reduce(withMode, run));
}

function withMode(run: Run, mode: PermissionMode): Run {
  const unlocked = run.frozen?.settings.allowBypassPermissions === true;
  if (mode === 'bypassPermissions' && !unlocked) {
    const message = 'bypassPermissions is not unlocked for this run (allowBypassPermissions)';
    return warn(run, 'permission_mode_refused', message);
  }
  const proven = run.frozen?.settings.requireProof === true && follows(run, 'provenModes');
  if (proven && widens(mode, run.frozen.settings)) {
    const message = 'decisions of this run must be proven, and nobody proves who wants this mode';
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

/** More than the run began with, or than doing nothing. */
function widens(mode: PermissionMode, { permissionMode }: Settings): boolean {
  return mode !== 'plan' && mode !== permissionMode;
}

/** Between two requests the resolved model takes the place of the other, and of a fallback. */
export function adoptModel(run: OpenRun): Ruling<OpenRun> {
  if (flying(run, ['resolve_model'])) return 'hold';
  const { next, ...choice } = run.modelChoice ?? {};
  return next && only({ ...run, modelChoice: { ...choice, route: next, onFallback: false } });
}

export function modelResolved(run: OpenRun, _: string, output: ResolveModelOutput): OpenRun {
  const { resolved } = output;
  return resolved.ok
    ? withModelChoice(run, { next: resolved.route })
    : warn(run, 'model_refused', resolved.reason);
}

export function modelNotResolved(run: OpenRun, _: string, failure: Failure): OpenRun {
  if (failure.cancelled) return run;
  return warn(run, 'model_refused', `the model could not be looked up: ${failure.message}`);
}
