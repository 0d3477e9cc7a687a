/**
 * How errors leave an activity: as ApplicationFailure whose type is an ErrorCode (G29).
 * Invariants: nothing retryable is marked final and the other way round; messages are bounded.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode, type ErrorCode } from '../core/state/errors.js';
import { FAILURE_MESSAGE_CHARS } from '../core/state/failure.js';
import { isRecord } from '../core/json/shape.js';

/** Worth another attempt by themselves. A cut on attempts is made where they are counted. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'RateLimited',
  'Overloaded',
  'ServerError',
  'NetworkTimeout',
  'ToolRetryable',
  'StoreUnavailable',
  'TranscriptMissing',
  'NotServed',
  'WrongStore',
  'Internal',
]);

export interface FailureFacts {
  readonly message: string;
  readonly retryable?: boolean;
  /** Overrides the back-off before the next attempt, in ms. */
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Longest wait that another side may ask for before the next attempt, in ms. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export function failure(code: ErrorCode, facts: FailureFacts): ApplicationFailure {
  const { message, retryable = RETRYABLE.has(code), retryAfterMs, details, cause } = facts;
  return ApplicationFailure.create({
    type: code,
    message: message.slice(0, FAILURE_MESSAGE_CHARS),
    nonRetryable: !retryable,
    ...(details !== undefined && { details: [details] }),
    ...(retryAfterMs !== undefined && {
      nextRetryDelay: Math.max(1, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)),
    }),
    ...(cause instanceof Error && { cause }),
  });
}

/** What went wrong with what to do about it: for who reads the message, and for the run's result. */
export function toldOf(
  message: string,
  hint: string | undefined,
): Pick<FailureFacts, 'message' | 'details'> {
  return hint === undefined ? { message } : { message: `${message} ${hint}`, details: { hint } };
}

/** The facts that a failure carries. */
export function detailsOf({ details }: ApplicationFailure): Readonly<Record<string, unknown>> {
  const [facts] = details ?? [];
  return isRecord(facts) ? facts : {};
}

/** The same failure, with other facts for whoever hears of it. */
export function withFacts(
  { type, message, cause }: ApplicationFailure,
  facts: Pick<FailureFacts, 'details' | 'retryable' | 'retryAfterMs'>,
): ApplicationFailure {
  return failure(isErrorCode(type) ? type : 'Internal', { message, cause, ...facts });
}

/** Whatever was thrown, in the form in which it may leave. */
export function toFailure(error: unknown): ApplicationFailure | CancelledFailure {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof HoldfastError) {
    const hint = error.hint === undefined ? '' : ` ${error.hint}`;
    return failure(error.code, {
      message: `${error.message}${hint}`,
      ...(error.details && { details: error.details }),
    });
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failure('Internal', { message, cause: error });
}
