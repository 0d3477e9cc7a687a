/**
 * Whether the store and the server of a process answer, for probes.
 * Invariants: each is looked at once at a time, and its answer is kept for a second, so that whoever asks often loads
 * neither; an asker waits no longer than LIMIT_MS; a word of ours leaves, and nothing of an error.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../core/state/errors.js';

/** Shorter than the second that probes wait by default. */
const LIMIT_MS = 800;
const KEPT_MS = 1_000;

/** `timeout`: no answer in time. `refused`: the server does not know or allow this process. */
export type PartAnswer = 'ok' | 'timeout' | 'refused' | 'unavailable';

export interface Readiness {
  readonly ok: boolean;
  readonly store: PartAnswer;
  readonly temporal: PartAnswer;
  /** Of what does not answer: the first look that found that (ISO 8601). */
  readonly since?: { readonly store?: string; readonly temporal?: string };
}

/** Each must end by itself some time, else nothing is looked at anew. */
export interface Looks {
  readonly store: () => Promise<unknown>;
  readonly temporal: () => Promise<unknown>;
}

export function readinessOf(looks: Looks): () => Promise<Readiness> {
  const parts = [part(looks.store), part(looks.temporal)] as const;
  return async () => {
    const [store, temporal] = await Promise.all([parts[0](), parts[1]()]);
    const since = {
      ...(store.since !== undefined && { store: store.since }),
      ...(temporal.since !== undefined && { temporal: temporal.since }),
    };
    const ok = Object.keys(since).length === 0;
    return { ok, store: store.answer, temporal: temporal.answer, ...(!ok && { since }) };
  };
}

interface Known {
  readonly answer: PartAnswer;
  readonly since?: string;
}

function part(look: () => Promise<unknown>): () => Promise<Known> {
  let known: Known = { answer: 'ok' };
  let at = -Infinity;
  let looking: Promise<void> | undefined;
  let asked: Promise<void> | undefined;

  function learn(answer: PartAnswer): void {
    at = performance.now();
    known =
      answer === 'ok' ? { answer } : { answer, since: known.since ?? new Date().toISOString() };
  }

  async function looked(): Promise<void> {
    try {
      await look();
      learn('ok');
    } catch (error) {
      learn(answerOf(error));
    } finally {
      looking = undefined;
    }
  }

  async function round(): Promise<void> {
    const late = new AbortController();
    const limit = sleep(LIMIT_MS, true, { signal: late.signal }).catch(() => false);
    const isLate = await Promise.race([(looking ??= looked()), limit]);
    late.abort();
    // An earlier look may have found more than that.
    if (isLate === true) learn(known.answer === 'ok' ? 'timeout' : known.answer);
    asked = undefined;
  }

  return async () => {
    if (performance.now() - at >= KEPT_MS) await (asked ??= round());
    return known;
  };
}

/** As gRPC counts them, and as our own errors name them. */
const REFUSED: ReadonlySet<unknown> = new Set([7, 16, 'permission', 'unauthenticated']);

function answerOf(error: unknown): PartAnswer {
  const why =
    error instanceof HoldfastError
      ? error.details?.['reason']
      : (error as { readonly code?: unknown } | undefined)?.code;
  return REFUSED.has(why) ? 'refused' : 'unavailable';
}
