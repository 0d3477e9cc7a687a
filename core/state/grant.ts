/** Standing grants: approvals that cover later calls as well (G13). */
import type { PolicyCondition } from './policy.js';
import type { SignedStatement } from './statement.js';

export const GRANT_USES_MAX = 1_000;

export const GRANT_CONDITIONS_MAX = 20;

/** What a person may add to an approval. */
export interface GrantRequest {
  readonly matcher: {
    readonly tool: string;
    /** All of them must hold of a later call's arguments. */
    readonly when: readonly PolicyCondition[];
  };
  /** Later calls that it covers. */
  readonly uses: number;
  readonly expiresInMs: number;
}

export interface StandingGrant {
  /** The ask whose approval made it. */
  readonly id: string;
  readonly tool: string;
  readonly when: readonly PolicyCondition[];
  readonly usesLeft: number;
  /** ms since epoch. */
  readonly expiresAt: number;
  readonly by: readonly string[];
  /** What they signed, where proofs are required. */
  readonly signed?: readonly SignedStatement[];
}

/** What people see of one. */
export type GrantView = Omit<StandingGrant, 'signed'>;
