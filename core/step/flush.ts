/** Carries events to the store when no other effect will. */
import { storeWork } from './effect-limits.js';
import { refOf, type ActivityEffect, type EffectLimits } from '../state/effect.js';
import { start, type Step } from './inflight.js';
import type { Run } from '../state/run.js';

/** Work on the store alone: repeated until it is there, because nothing may be lost. */
export const STORE_LIMITS: EffectLimits = { attemptMs: 30_000, maximumAttempts: 0 };

export function flush<R extends Run>(run: R): Step<R> {
  return start(run, 'flush', (id, events): ActivityEffect => ({
    kind: 'flush',
    id,
    input: { v: 1, run: refOf(run), events },
    limits: storeWork(run, STORE_LIMITS),
    summary: `${events.length} events`,
  }));
}
