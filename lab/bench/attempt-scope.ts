/** What an attempt of an activity is given where there is no Temporal: it is the first one, and nobody stops it. */
import { attemptsKey, workOf, type Scope } from '../../activities/index.js';

export interface AttemptIn {
  readonly effectId: string;
  readonly runId: string;
  readonly error: Scope['error'];
}

const HEARTBEAT_MS = 10_000;

export function attemptScope({ effectId, runId, error }: AttemptIn): Scope {
  const site = { details: undefined, attempt: 1, scheduledAt: Date.now() };
  return {
    execution: runId,
    effectId: attemptsKey(effectId, runId),
    attempt: 1,
    work: workOf({ ...site, silenceMs: HEARTBEAT_MS, clock: Date.now, tell: () => undefined }),
    leave: () => undefined,
    silenceMs: HEARTBEAT_MS,
    signal: new AbortController().signal,
    stopRequested: () => false,
    namespace: 'default',
    fetchHistory: () => Promise.reject(new Error('There is no server.')),
    error,
    warn: () => undefined,
  };
}
