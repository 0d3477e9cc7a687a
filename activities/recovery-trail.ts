/** Notes what an activity does to find out what became of a call, and how long each step takes. */
import {
  RECOVERY_NAMES_MAX,
  RECOVERY_STEPS_MAX,
  RECOVERY_TEXT_CHARS_MAX,
  type RecoveryStep,
} from '../core/state/recovery.js';

export interface RecoveryTrail {
  /** A step that has just ended: it took the time since the one before it. */
  took(step: Omit<RecoveryStep, 'durationMs'>): void;
  /** A fact that took no time here. */
  fact(step: RecoveryStep): void;
  readonly steps: readonly RecoveryStep[];
}

export function startTrail(clock: () => number): RecoveryTrail {
  const steps: RecoveryStep[] = [];
  let last = clock();
  const add = (step: RecoveryStep): void => {
    if (steps.length < RECOVERY_STEPS_MAX) steps.push(bounded(step));
  };
  return {
    took(step) {
      const at = clock();
      add({ ...step, durationMs: Math.max(0, at - last) });
      last = at;
    },
    fact: add,
    steps,
  };
}

function bounded(step: RecoveryStep): RecoveryStep {
  const { message, by } = step;
  const short = (text: string): string => text.slice(0, RECOVERY_TEXT_CHARS_MAX);
  return {
    ...step,
    ...(message !== undefined && { message: short(message) }),
    ...(by !== undefined && { by: by.slice(0, RECOVERY_NAMES_MAX).map(short) }),
  };
}
