/**
 * The ledger of side effects: one row per `(tenant, key)`. This file decides, the store only stores
 * (each transition is one compare-and-set statement).
 *
 * Invariants:
 *  L1 A claim succeeds only without a row, or over a void row of a smaller attempt with the same digest.
 *  L2 A recorded result is never given to other arguments, or to another run (`key_conflict`).
 *  L3 What was burned (voided) can never be claimed again under the same attempt: a zombie finds its
 *     claim gone before it starts.
 */
import type { StoredText } from '../core/json/json.js';
import type { Attachment } from '../core/state/attachment.js';
import type { RetryClass } from '../core/state/tool.js';

/**
 * What took effect. `malformed`: its result does not fit the tool's output schema, with what the model is told
 * instead of it. `failed`: the call was answered with this error. Kept with the result, so that whoever finds it says the
 * same (G73).
 */
export type RecordedResult = StoredText & {
  readonly malformed?: string;
  readonly failed?: string;
  readonly attachments?: readonly Attachment[];
};

export interface LedgerRow {
  readonly key: string;
  /** The run that owns the key. */
  readonly runId: string;
  readonly argsDigest: string;
  readonly attempt: number;
  readonly state: 'claimed' | 'recorded' | 'void';
  /** The claim was made: a void row without it was burned before anything started. */
  readonly wasClaimed: boolean;
  /** ms since epoch after which the claimant is no longer running (claim + timeout + margin). */
  readonly claimedUntil: number;
  readonly result?: RecordedResult;
  readonly source?: 'tool' | 'probe' | 'person';
}

/** Added to a tool's timeout until its claim is taken to be dead, in ms. */
export const CLAIM_MARGIN_MS = 1_000;

export interface ClaimRequest {
  readonly runId: string;
  readonly digest: string;
  readonly attempt: number;
  readonly retry: RetryClass;
}

export type ClaimDecision =
  | { readonly kind: 'claim' }
  /** The same key took effect before: give its result, do nothing. */
  | { readonly kind: 'reuse'; readonly result: RecordedResult }
  /** Someone claimed it and its outcome is not known: never start a second one. */
  | { readonly kind: 'in_doubt' }
  | { readonly kind: 'key_conflict' };

/** What a worker that wants to execute may do, given the row it found. */
export function decideClaim(row: LedgerRow | undefined, request: ClaimRequest): ClaimDecision {
  if (row === undefined) return { kind: 'claim' };
  if (row.argsDigest !== request.digest || row.runId !== request.runId)
    return { kind: 'key_conflict' };
  if (row.state === 'recorded' && row.result !== undefined)
    return { kind: 'reuse', result: row.result };
  if (row.state === 'void')
    return row.attempt < request.attempt ? { kind: 'claim' } : { kind: 'in_doubt' };
  // The tool recognises its key, so calling it again under the same claim is safe.
  if (request.retry === 'same_key' && row.attempt === request.attempt) return { kind: 'claim' };
  return { kind: 'in_doubt' };
}

export type ReconcileStep =
  | {
      readonly kind: 'happened';
      readonly result: RecordedResult;
      readonly source: 'tool' | 'probe';
    }
  /** The claimant may still be running: look again then. */
  | { readonly kind: 'wait'; readonly until: number }
  /** Take the attempt away (CAS to void) before asking what happened. */
  | { readonly kind: 'burn' }
  /** Burned before anything was claimed: nothing can have happened, or ever will under this attempt. */
  | { readonly kind: 'not_happened' }
  /** Burned after a claim: only the tool's own probe, or a person, can tell. */
  | { readonly kind: 'probe' };

/** The next step of finding out what became of an attempt. */
export function decideReconcile(
  row: LedgerRow | undefined,
  call: Pick<ClaimRequest, 'runId' | 'digest' | 'attempt'>,
  now: number,
): ReconcileStep {
  if (row === undefined) return { kind: 'burn' };
  // The key belongs to another call (L2): of this one nothing was, or can be, started.
  if (row.argsDigest !== call.digest || row.runId !== call.runId) return { kind: 'not_happened' };
  if (row.state === 'recorded' && row.result !== undefined) {
    return {
      kind: 'happened',
      result: row.result,
      source: row.source === 'probe' ? 'probe' : 'tool',
    };
  }
  if (row.attempt < call.attempt) return { kind: 'burn' };
  // A row of a later attempt says nothing of this one: a reset has gone back behind it.
  const isUnclear = row.wasClaimed || row.attempt > call.attempt;
  if (row.state === 'void') return isUnclear ? { kind: 'probe' } : { kind: 'not_happened' };
  return now < row.claimedUntil ? { kind: 'wait', until: row.claimedUntil } : { kind: 'burn' };
}
