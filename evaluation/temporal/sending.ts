/**
 * What a case sends to its run at one moment comes together: on a real server the run might have ended on the
 * first of several decisions before the second is sent.
 * Invariant: every wait has a limit, because something that is sent may be answered only after what waits here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityEffect } from '../../core/state/effect.js';

/** Longest wait for what is still being sent, in ms. */
const SENT_LIMIT_MS = 3_000;
/** Steps that bring a run further; the others may be what a decision waits for. */
const STEPS: ReadonlySet<ActivityEffect['kind']> = new Set([
  'call_model',
  'execute_tool',
  'close_run',
]);

export interface Sending {
  /** Sends; steps that begin meanwhile wait for the end of it. */
  during<T>(send: () => Promise<T>): Promise<T>;
  /** Before a step: waits until nothing is being sent. */
  before(kind: ActivityEffect['kind']): Promise<void>;
}

export function sendingOf(limitMs = SENT_LIMIT_MS): Sending {
  let last: Promise<unknown> = Promise.resolve();
  return {
    during(send) {
      const sent = send();
      last = Promise.allSettled([last, sent]);
      return sent;
    },
    async before(kind) {
      if (!STEPS.has(kind)) return;
      const limit = new AbortController();
      const { signal } = limit;
      await Promise.race([last, sleep(limitMs, undefined, { signal }).catch(() => undefined)]);
      limit.abort();
    },
  };
}
