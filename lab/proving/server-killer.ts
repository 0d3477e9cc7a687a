/**
 * Kills the Temporal server while runs are under way and starts it again on the same data.
 * Invariant: the seed decides when, counted in model requests of all runs, and for how long.
 */
import { drawBelow, seededRandom, type TestServer } from '../../testing/index.js';

/** Not one of the streams of runs. */
const STREAM = 501_000_001;
const DOWN_MS_MAX = 1_500;

export interface ServerKill {
  /** After so many model requests. */
  readonly after: number;
  readonly downMs: number;
}

/** So many kills, spread at random over the model requests that are to be expected. */
export function planServerKills(
  seed: number,
  kills: number,
  requests: number,
): readonly ServerKill[] {
  const random = seededRandom(seed, STREAM);
  const share = Math.max(1, requests) / Math.max(1, kills);
  return Array.from({ length: kills }, (_, number) => ({
    after: Math.max(1, Math.floor(number * share + random() * share)),
    downMs: drawBelow(random, DOWN_MS_MAX + 1),
  }));
}

export interface ServerKiller {
  /** A model request was made. */
  requested(): void;
  /** Resolves when no kill is under way. Errors: what kept the server from starting again. */
  settled(): Promise<void>;
}

export const NO_SERVER_KILLS: ServerKiller = {
  requested: () => undefined,
  settled: () => Promise.resolve(),
};

export interface ServerKillerOptions {
  readonly server: Pick<TestServer, 'crash'>;
  readonly plan: readonly ServerKill[];
  /** Called before each kill. */
  readonly onKill: () => Promise<void>;
}

export function serverKiller({ server, plan, onKill }: ServerKillerOptions): ServerKiller {
  const waiting = [...plan];
  let requests = 0;
  let working = Promise.resolve();
  const kill = async ({ downMs }: ServerKill): Promise<void> => {
    await onKill();
    await server.crash(downMs);
  };
  return {
    requested() {
      requests += 1;
      while (waiting[0] !== undefined && waiting[0].after <= requests) {
        const due = waiting.shift()!;
        // One after the other: a server that is down cannot be killed.
        working = working.then(() => kill(due));
        working.catch(() => undefined);
      }
    },
    settled: () => working,
  };
}
