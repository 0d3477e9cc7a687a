/**
 * Every failure of an effect, as a fact that all shells share.
 * Invariant: a failure keeps its class (an ErrorCode) and whether the effect may have reached its target.
 */
import { isErrorCode, type ErrorCode } from './errors.js';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** The activity's own time ran out. */
  readonly timedOut?: boolean;
  readonly cancelled?: boolean;
  readonly attempts?: number;
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
}

/** Normalises whatever a shell caught; unknown types become 'Internal'. */
export function failureOf(raw: RawFailure): Failure {
  const details =
    typeof raw.details === 'object' && raw.details !== null
      ? (raw.details as { readonly [key: string]: unknown })
      : undefined;
  return {
    code: isErrorCode(raw.type) ? raw.type : raw.cancelled ? 'Aborted' : 'Internal',
    message: (raw.message ?? 'no message').slice(0, FAILURE_MESSAGE_CHARS),
    ...(raw.timedOut && { timedOut: true }),
    ...(raw.cancelled && { cancelled: true }),
    ...(raw.attempts !== undefined && { attempts: raw.attempts }),
    ...(details && { details }),
  };
}

/** What the failure itself says is to be done, as one bounded line; undefined when that is no such text. */
export function hintOf({ details }: Failure): string | undefined {
  const hint = details?.['hint'];
  if (typeof hint !== 'string' || hint.trim() === '' || /\p{Cc}/u.test(hint)) return undefined;
  return hint.slice(0, HINT_CHARS);
}
