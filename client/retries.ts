/**
 * Retries of calls to the server, as the SDK makes them: from a timer, on a channel that may have been closed
 * meanwhile, which would throw where nobody can catch it.
 * Invariant: after `settle` no retry is left that could meet a closed channel.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

const PAUSE_MS_MAX = 2_000;

export interface Retries {
  readonly interceptor: ReturnType<typeof makeGrpcRetryInterceptor>;
  /** Starts no more retries, and waits until those under way have been sent. */
  settle(): Promise<void>;
}

export function retries(): Retries {
  const usual = defaultGrpcRetryOptions({ maxIntervalMs: () => PAUSE_MS_MAX });
  let closing = false;
  let newestAt = 0;
  return {
    interceptor: makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => !closing && usual.retryableDecider(attempt, status),
      delayFunction(attempt, status) {
        const delayMs = usual.delayFunction(attempt, status);
        newestAt = Math.max(newestAt, performance.now() + delayMs);
        return delayMs;
      },
    }),
    async settle() {
      closing = true;
      const leftMs = newestAt - performance.now();
      // The retry's own timer was set first, so it fires first.
      if (leftMs > 0) await sleep(Math.ceil(leftMs) + 1);
    },
  };
}
