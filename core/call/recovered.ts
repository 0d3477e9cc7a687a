/**
 * Tells what was done to find out what became of a call, as soon as it is known.
 * Invariant: nothing follows from it; outputs that do not say what was done tell nothing.
 */
import { follows } from '../step/changes.js';
import { type Finding, RECOVERY_STEPS_MAX, type RecoveryStep } from '../state/recovery.js';
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import type { ExecutingStage } from '../state/call.js';
import { keyOf } from '../step/open-work.js';

export interface Recovered {
  readonly steps?: readonly RecoveryStep[] | undefined;
  /** undefined: what the executing stage says was being recorded. */
  readonly finding: Finding['kind'] | undefined;
}

export function tellRecovery(run: OpenRun, effectId: string, recovered: Recovered): OpenRun {
  if (!follows(run, 'toldRecovery')) return run;
  const { steps = [], finding } = recovered;
  const call = run.turn?.calls.find(
    (one): one is ExecutingStage => one.stage === 'executing' && one.effectId === effectId,
  );
  // `run_result` is the last event.
  if (steps.length === 0 || call === undefined || run.stopping?.result !== undefined) return run;
  return emit(run, {
    type: 'tool_reconciled',
    callId: call.id,
    tool: call.tool,
    key: keyOf(run, call),
    attempt: call.attempt,
    finding: finding ?? call.answer?.kind ?? 'unknown',
    steps: timed(steps.slice(0, RECOVERY_STEPS_MAX), run.now - call.startedAt),
  });
}

/** An attempt was lost for what remains of the time since it was handed over. */
function timed(steps: readonly RecoveryStep[], sinceMs: number): readonly RecoveryStep[] {
  const told = steps.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  const durationMs = Math.max(0, sinceMs - told);
  return steps.map((step) =>
    step.step === 'attempt_lost' && step.durationMs === undefined ? { ...step, durationMs } : step,
  );
}
