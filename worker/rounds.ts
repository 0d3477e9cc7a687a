/**
 * What a worker does again and again beside what it serves.
 * Invariants: a round that fails ends nothing and is told once until one succeeds; a worker that ends waits for a round
 * under way, but not for long.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a round under way may take to end when the worker does. */
const GRACE_MS = 3_000;

export interface Rounds {
  /** Pause between two rounds. */
  readonly everyMs: number;
  /** Ends soon after the signal. */
  readonly round: (signal: AbortSignal) => Promise<void>;
  /** Told when a round fails. */
  readonly away: string;
  /** For whoever operates the worker. */
  readonly tell: (line: string, facts: { readonly [name: string]: string }) => void;
}

export interface RunningRounds {
  /** Idempotent. */
  stop(): Promise<void>;
}

export function startRounds(rounds: Rounds): RunningRounds {
  const ending = new AbortController();
  const loop = repeat(rounds, ending.signal);
  return {
    async stop() {
      ending.abort();
      const late = new AbortController();
      await Promise.race([loop, pause(GRACE_MS, late.signal)]);
      late.abort();
    },
  };
}

async function repeat({ round, everyMs, away, tell }: Rounds, signal: AbortSignal): Promise<void> {
  let isAway = false;
  while (!signal.aborted) {
    const failed = await round(signal).then(
      () => false,
      () => true,
    );
    if (failed && !isAway && !signal.aborted) tell(away, {});
    isAway = failed;
    await pause(everyMs, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
