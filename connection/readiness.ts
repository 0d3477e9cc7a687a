/**
 * Whether the store and the server of a process answer, for probes.
 * Invariants: each is looked at once at a time, and its answer is kept for a second, so that whoever asks often loads
 * neither; an asker waits no longer than LIMIT_MS; a word of ours leaves, and nothing of an error.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Shorter than the second that probes wait by default. */
const LIMIT_MS = 800;
const KEPT_MS = 1_000;

/** `timeout`: no answer in time; `unavailable`: an error. */
export type PartAnswer = 'ok' | 'timeout' | 'unavailable';

export interface Readiness {
  readonly ok: boolean;
  readonly store: PartAnswer;
  readonly temporal: PartAnswer;
  /** The first look in a row that found something away (ISO 8601). */
  readonly since?: string;
}

export interface WorkerReadiness extends Readiness {
  /** Temporal's word for the state of the worker: `running` takes work, `draining` does not. */
  readonly worker: string;
}

type Look = () => Promise<unknown>;

/** Each look must end by itself some time, else nothing is looked at anew. */
export function readinessOf(store: Look, temporal: Look): () => Promise<Readiness> {
  const parts = [part(store), part(temporal)] as const;
  let since: string | undefined;
  return async () => {
    const [ofStore, ofTemporal] = await Promise.all([parts[0](), parts[1]()]);
    const ok = ofStore === 'ok' && ofTemporal === 'ok';
    since = ok ? undefined : (since ?? new Date().toISOString());
    return { ok, store: ofStore, temporal: ofTemporal, ...(since && { since }) };
  };
}

function part(look: Look): () => Promise<PartAnswer> {
  let known: PartAnswer = 'ok';
  let at = -Infinity;
  let looking: Promise<void> | undefined;
  let asked: Promise<void> | undefined;

  function learn(answer: PartAnswer): void {
    at = performance.now();
    known = answer;
  }

  async function looked(): Promise<void> {
    const answer = await look().then(
      () => 'ok' as const,
      () => 'unavailable' as const,
    );
    looking = undefined;
    learn(answer);
  }

  async function round(): Promise<void> {
    const late = new AbortController();
    const limit = sleep(LIMIT_MS, true, { signal: late.signal }).catch(() => false);
    const isLate = await Promise.race([(looking ??= looked()), limit]);
    late.abort();
    // An earlier look may have found more than that.
    if (isLate) learn(known === 'ok' ? 'timeout' : known);
    asked = undefined;
  }

  return async () => {
    if (performance.now() - at >= KEPT_MS) await (asked ??= round());
    return known;
  };
}
