/**
 * What the desk signs when a person decides (design §9): one text that names the person, the decision and
 * the exact action, for one question of one run of one tenant.
 *
 * Invariants:
 *  S1 The text is canonical JSON of named fields: no order of keys and no delimiter in a value can make two
 *     statements the same text.
 *  S2 Whatever a decision can carry is in it: what is not named here is under `content`.
 */
import { canonicalJson, digestOf } from '../digest.js';
import type { Json } from '../json.js';
import type { AskKind, Decision, DecisionKind } from './ask.js';

/** A public key of the desk. */
export interface DeskKey {
  readonly kid: string;
  /** 64 hex digits (RFC 8032). */
  readonly key: string;
}

/** Keys that a run knows at the same time: the newest ones. */
export const DESK_KEYS_MAX = 8;

export interface Statement {
  readonly v: 1;
  readonly kid: string;
  readonly tenant: string;
  readonly runId: string;
  readonly askId: string;
  readonly kind: AskKind;
  readonly argsHash: string;
  readonly policyVersion: string;
  readonly decision: DecisionKind;
  /** Digest of what comes with the decision: corrected action, value, amount, grant, reason, interrupt. */
  readonly content: string;
  readonly by: string;
  readonly roles: readonly string[];
  readonly decidedAt: number;
  readonly nonce: string;
}

/** A statement with its signature, as a run keeps it and hands it to whoever executes. */
export interface SignedStatement {
  readonly statement: Statement;
  /** 128 hex digits. */
  readonly signature: string;
}

/** What the run knows of the question; the rest of a statement is the decision's. */
export type StatementPlace = Pick<Statement, 'tenant' | 'runId' | 'kind' | 'policyVersion'>;

/** Of a decision as `parseDecision` gives it; undefined when it names no key or itself by no nonce. */
export function statementOf(place: StatementPlace, decision: Decision): Statement | undefined {
  const { kid, nonce, askId, argsHash, by, roles, decidedAt } = decision;
  if (kid === undefined || nonce === undefined) return undefined;
  const { tenant, runId, kind, policyVersion } = place;
  return {
    v: 1,
    kid,
    tenant,
    runId,
    askId,
    kind,
    argsHash,
    policyVersion,
    decision: decision.decision,
    content: contentDigest(decision),
    by,
    roles,
    decidedAt,
    nonce,
  };
}

/** The text under the signature. */
export function statementText(statement: Statement): string {
  return canonicalJson({ purpose: 'holdfast.decision', ...statement });
}

/** Of everything that a decision brings along; of nothing it is the digest of nothing. */
export function contentDigest(decision: Decision): string {
  const { args, tool, value, amount, grant, reason, interrupt } = decision;
  return digestOf({
    ...(args !== undefined && { args }),
    ...(tool !== undefined && { tool }),
    ...(value !== undefined && { value }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant: grant as unknown as Json }),
    ...(reason !== undefined && { reason }),
    ...(interrupt && { interrupt }),
  });
}
