/** Replays histories in batches: setting a replay up costs more than replaying a run. */
import { replayRuns, type ReplayFailures } from '../../testing/replay.js';

export interface Replays {
  /** Undefined when the run replayed, else why not. */
  failureOf(runId: string): Promise<string | undefined>;
}

export function replaysAt(address: string): Replays {
  let waiting: string[] = [];
  let next: Promise<ReplayFailures> | undefined;
  let current: Promise<unknown> = Promise.resolve();

  /** Whoever asks while a batch is replayed waits for the next one. */
  function batch(): Promise<ReplayFailures> {
    next ??= current.then(() => {
      const runIds = waiting;
      waiting = [];
      next = undefined;
      const replayed = replayRuns({ address }, runIds);
      current = replayed.catch(() => undefined);
      return replayed;
    });
    return next;
  }

  return {
    async failureOf(runId) {
      waiting.push(runId);
      return (await batch()).get(runId);
    },
  };
}
