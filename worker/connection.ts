/** Reaching the Temporal server, with a bounded wait and an error that says what failed and what to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import {
  accessRefused,
  checkMaterial,
  connectionFailure,
  refusalIn,
  sdkTls,
  tlsOf,
  type Credentials,
} from '../connection/index.js';
import type { HoldfastError } from '../core/state/errors.js';

const ATTEMPTS_MAX = 10;
const PAUSE_MS = 500;
/** A server that takes the call and then says nothing would be waited for without end. */
const OPEN_LIMIT_MS = 10_000;
/** Waiting mends these; anything else is said at once. */
const MAY_PASS: ReadonlySet<unknown> = new Set(['no_answer', 'timeout', 'unknown_host']);

export interface ServerPlace extends Credentials {
  readonly address: string;
  /** Default 10: five seconds for a server that is just starting. */
  readonly attemptsMax?: number;
  /** Longest wait for one connection, ms; default 10,000. After so long no other attempt is made. */
  readonly limitMs?: number;
}

/** Errors: ServerUnavailable with `details.reason`; InvalidConfig for certificates that cannot be used. */
export async function connect(place: ServerPlace): Promise<NativeConnection> {
  const { address, apiKey, metadata, attemptsMax = ATTEMPTS_MAX } = place;
  const { limitMs = OPEN_LIMIT_MS } = place;
  const tls = tlsOf(place);
  if (tls !== undefined) checkMaterial(tls);
  const open = () =>
    NativeConnection.connect({
      address,
      tls: sdkTls(place) ?? false,
      ...(apiKey !== undefined && { apiKey }),
      ...(metadata !== undefined && { metadata: { ...metadata } }),
    });
  const until = performance.now() + limitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTime(open(), limitMs);
    } catch (error) {
      await throwUnlessPassing(place, error, {
        isFirst: attempt === 1,
        isLast: attempt >= attemptsMax || performance.now() >= until,
      });
    }
    await sleep(PAUSE_MS);
  }
}

/** A connection that comes too late is closed. */
async function inTime(
  opening: Promise<NativeConnection>,
  limitMs: number,
): Promise<NativeConnection> {
  const waiting = new AbortController();
  const late = sleep(limitMs, undefined, { signal: waiting.signal }).then(() => {
    opening.then(
      (connection) => void connection.close().catch(() => undefined),
      () => undefined,
    );
    throw new Error('no connection came about in time');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([opening, late]);
  } finally {
    waiting.abort();
  }
}

/** Knocking takes a moment, and the first failure shows what does not pass. */
async function throwUnlessPassing(
  place: ServerPlace,
  error: unknown,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Promise<void> {
  if (!isFirst && !isLast) return;
  const failure = await failureOf(place, error);
  if (isLast || !MAY_PASS.has(failure.details?.['reason'])) throw failure;
}

async function failureOf(place: ServerPlace, error: unknown): Promise<HoldfastError> {
  const refusal = refusalIn(error instanceof Error ? error.message : String(error));
  if (refusal !== undefined) return accessRefused(place, { ...refusal, cause: error });
  return connectionFailure(place, error);
}
