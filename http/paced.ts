/** What a run tells, with its pauses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf } from '../client/first-of.js';
import type { WholeTreeMoment } from '../client/index.js';

/** How long nothing happens in a run before it counts as waiting, in ms. */
const QUIET_MS = 400;

export type Paced = WholeTreeMoment | { readonly kind: 'quiet' } | { readonly kind: 'limit' };

/** The moments, and between them that nothing has happened for a while. */
export async function* paced(
  moments: AsyncGenerator<WholeTreeMoment, void, undefined>,
  limit: AbortSignal,
): AsyncGenerator<Paced, void, undefined> {
  let next = moments.next();
  try {
    while (!limit.aborted) {
      const first = await unlessQuiet(next, limit);
      if (first === 'quiet') yield { kind: 'quiet' };
      else if (first.done === true) return;
      else {
        next = moments.next();
        // A slow reader hears of a failure late, and a failure that nobody has heard of ends the process.
        next.catch(() => undefined);
        yield first.value;
      }
    }
    yield { kind: 'limit' };
  } finally {
    next.catch(() => undefined);
    // Whoever reads has stopped the reading; nobody waits for its end.
    void moments.return().catch(() => undefined);
  }
}

/** At the limit it is quiet at once. */
async function unlessQuiet<T>(next: Promise<T>, limit: AbortSignal): Promise<T | 'quiet'> {
  const pause = new AbortController();
  const stop = (): void => pause.abort();
  limit.addEventListener('abort', stop, { once: true });
  const quiet = sleep(QUIET_MS, 'quiet' as const, { signal: pause.signal }).catch(
    () => 'quiet' as const,
  );
  return firstOf<T | 'quiet'>([next, quiet]).finally(() => {
    limit.removeEventListener('abort', stop);
    stop();
  });
}
