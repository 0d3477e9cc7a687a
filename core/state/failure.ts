/**
 * Every failure of an effect, as a fact that all shells share.
 * Invariant: a failure keeps its class (an ErrorCode) and whether the effect may have reached its target.
 */
import { isErrorCode, type ErrorCode } from './errors.js';
import { ownValue } from '../json/json.js';
import { isRecord } from '../json/shape.js';
import { isCount } from '../json/count.js';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** The activity's own time ran out. */
  readonly timedOut?: boolean;
  readonly cancelled?: boolean;
  /** No worker of its task queue took it for as long as the run waits. */
  readonly unserved?: true;
  readonly attempts?: number;
  /** How long its attempts worked, in ms; absent: nobody knows. */
  readonly workedMs?: number;
  /** The ledger attempt that it had claimed, as it said with its end or its last heartbeat. */
  readonly claimed?: number;
  /** Facts the activity added: cost and usage of failed attempts, retry class, what to do next. */
  readonly details?: { readonly [key: string]: unknown };
}

export const FAILURE_MESSAGE_CHARS = 1_000;
const HINT_CHARS = 300;

/** What a shell knows of a failed effect, in the terms of no particular engine. */
export interface RawFailure {
  readonly type?: string | null;
  readonly message?: string;
  readonly timedOut?: boolean;
  readonly cancelled?: boolean;
  readonly attempts?: number;
  readonly details?: unknown;
  /** With a timeout: which of the activity's limits ended, as Temporal names it. */
  readonly timeoutType?: string;
  /** With a timeout: what the activity said with its last heartbeat. */
  readonly progress?: unknown;
}

/** Limits of the effect that failed, ms. */
export interface FailureLimits {
  readonly attemptMs: number;
  /** How long it may have waited for a worker; absent: as long as it took. */
  readonly queuedMs?: number;
}

/** Normalises whatever a shell caught of an effect with these limits; unknown types become 'Internal'. */
export function failureOf(raw: RawFailure, { attemptMs, queuedMs }: FailureLimits): Failure {
  const details =
    typeof raw.details === 'object' && raw.details !== null
      ? (raw.details as { readonly [key: string]: unknown })
      : undefined;
  // Where nothing limits the wait for a worker, the time of the whole effect has run out.
  if (queuedMs !== undefined && raw.timeoutType === 'SCHEDULE_TO_START') return untaken(raw);
  return {
    code: isErrorCode(raw.type) ? raw.type : raw.cancelled ? 'Aborted' : 'Internal',
    message: (raw.message ?? 'no message').slice(0, FAILURE_MESSAGE_CHARS),
    ...((raw.timedOut || details?.['timedOut'] === true) && { timedOut: true }),
    ...(raw.cancelled && { cancelled: true }),
    ...(raw.attempts !== undefined && { attempts: raw.attempts }),
    ...workOf(raw, attemptMs),
    ...countIn('claimed', raw.timedOut === true ? raw.progress : raw.details),
    ...(details && { details }),
  };
}

/** A delivery before it may have worked, and was lost: only then was a heartbeat heard. */
function untaken({ progress }: RawFailure): Failure {
  const message = 'No worker of its task queue took it.';
  if (progress === undefined || progress === null)
    return { code: 'ToolUnavailable', message, unserved: true, attempts: 0 };
  const told = { ...countIn('workedMs', progress), ...countIn('claimed', progress) };
  return { code: 'Internal', message, unserved: true, ...told };
}

/**
 * An attempt whose own time ran out has worked for all of it, but for the time in which, by its last heartbeat, no
 * model or tool was at work; of a lost one the last heartbeat tells.
 */
function workOf(raw: RawFailure, attemptMs: number): Pick<Failure, 'workedMs'> {
  const { workedMs } = countIn('workedMs', raw.timedOut === true ? raw.progress : raw.details);
  if (raw.timeoutType !== 'START_TO_CLOSE') return workedMs === undefined ? {} : { workedMs };
  const { idleMs = 0 } = countIn('idleMs', raw.progress);
  return { workedMs: Math.max(attemptMs - idleMs, workedMs ?? 0) };
}

function countIn<Name extends string>(
  name: Name,
  told: unknown,
): { readonly [name in Name]?: number } {
  const value = isRecord(told) ? ownValue(told, name) : undefined;
  return isCount(value) ? ({ [name]: value } as { readonly [name in Name]?: number }) : {};
}

/** What the failure itself says is to be done, as one bounded line; undefined when that is no such text. */
export function hintOf({ details }: Failure): string | undefined {
  const hint = details?.['hint'];
  if (typeof hint !== 'string' || hint.trim() === '' || /\p{Cc}/u.test(hint)) return undefined;
  return hint.slice(0, HINT_CHARS);
}
