/**
 * The audit trail: who saw, who decided what and when, and what was executed on whose word. Each row names
 * the hash of the row before it, and the newest hash, the head, can be signed and kept elsewhere.
 *
 * Invariants:
 *  T1 A row's hash covers its tenant, its number and everything that it says.
 *  T2 Of an unbroken chain that ends in a signed head nothing was changed, removed, inserted, reordered or
 *     cut off up to that head. Without a signed head only clumsy changes are found: whoever can write the
 *     table can make another chain.
 */
import { verifyEd25519 } from '../core/json/ed25519.js';
import { canonicalJson, sha256Hex, type Json } from '../core/json/json.js';
import type { DeskKey } from '../core/state/statement.js';

export const AUDIT_KINDS = [
  // What a run says of its questions.
  'asked',
  'resolved',
  'withdrawn',
  'escalated',
  /** A decision reached the run and does not count. */
  'ignored',
  /** Another permission mode was wanted, and counts from now on. */
  'mode_changed',
  // What was done on whose word.
  'effect_started',
  'effect_ended',
  'effect_refused',
  // What happened at the desk.
  'seen',
  'decided',
  'decision_refused',
  'answered',
  'message_sent',
  /** Something was said to a goal. */
  'goal_told',
  'interrupted',
  'run_started',
  'goal_started',
  /** A recorded run was forked: played without effects, or started. */
  'run_forked',
  /** Runs get this version of a connector's tool from now on. */
  'tool_approved',
  /** An operator has logged a connector in, or out. */
  'connector_login',
  'connector_logout',
  'access_denied',
  'key_added',
  'key_retired',
  'key_revoked',
  'frozen',
  'thawed',
  // What became of the store.
  'store_restored',
  'run_adopted',
  // Sub-agents and cycles whose parent is gone.
  'orphan_stopped',
  'orphan_ended',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

export interface AuditEntry {
  /** ms since epoch. */
  readonly at: number;
  readonly kind: AuditKind;
  /** The person or service; absent when nobody was told apart. */
  readonly by?: string;
  readonly runId?: string;
  readonly askId?: string;
  readonly facts: { readonly [name: string]: Json };
}

export interface AuditRow extends AuditEntry {
  readonly tenant: string;
  /** From 1, without gaps. */
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
}

export interface AuditHead {
  readonly tenant: string;
  /** 0: nothing yet. */
  readonly seq: number;
  readonly hash: string;
}

/** Before the first row. */
export const NO_HASH = '0'.repeat(64);

export function emptyHead(tenant: string): AuditHead {
  return { tenant, seq: 0, hash: NO_HASH };
}

/** The row that comes after this head. */
export function chained(head: AuditHead, entry: AuditEntry): AuditRow {
  const { tenant, hash: prev } = head;
  const row = { tenant, seq: head.seq + 1, prev, ...entry };
  return { ...row, hash: hashOf(row) };
}

function hashOf(row: Omit<AuditRow, 'hash'>): string {
  const { tenant, seq, prev, at, kind, by = null, runId = null, askId = null, facts } = row;
  return sha256Hex(canonicalJson({ v: 1, tenant, seq, prev, at, kind, by, runId, askId, facts }));
}

export interface AuditFault {
  /** The row at which the chain breaks. */
  readonly seq: number;
  readonly what: 'missing' | 'misplaced' | 'changed' | 'not_the_signed_head' | 'cut_off';
  readonly message: string;
}

/** Whether this row may follow that head. */
export function checkRow(head: AuditHead, row: AuditRow): AuditFault | undefined {
  const expected = head.seq + 1;
  if (row.seq > expected) {
    return fault(expected, 'missing', `row ${expected} is missing`);
  }
  if (row.seq !== expected) {
    return fault(row.seq, 'misplaced', `row ${row.seq} stands where row ${expected} must be`);
  }
  const { hash, ...said } = row;
  if (hashOf(said) !== hash) {
    return fault(row.seq, 'changed', `row ${row.seq} does not have the hash of what it says`);
  }
  if (row.prev !== head.hash) {
    return fault(row.seq, 'misplaced', `row ${row.seq} does not follow the row before it`);
  }
  return undefined;
}

/** Whether a chain passes through a head that was signed. `at`: the chain's head at that number. */
export function checkHead(signed: AuditHead, at: AuditHead | undefined): AuditFault | undefined {
  if (at === undefined) {
    return fault(
      signed.seq,
      'cut_off',
      `the chain ends before row ${signed.seq}, which was signed`,
    );
  }
  return at.hash === signed.hash
    ? undefined
    : fault(signed.seq, 'not_the_signed_head', `row ${signed.seq} is not the one that was signed`);
}

function fault(seq: number, what: AuditFault['what'], message: string): AuditFault {
  return { seq, what, message };
}

/** A head as it is published. */
export interface SignedHead extends AuditHead {
  readonly v: 1;
  readonly at: number;
  readonly kid: string;
  readonly signature: string;
}

/** The text under a head's signature. */
export function headText({ tenant, seq, hash, at, kid }: Omit<SignedHead, 'signature'>): string {
  return canonicalJson({ purpose: 'holdfast.audit', v: 1, tenant, seq, hash, at, kid });
}

export function isHeadSignedBy(keys: readonly DeskKey[], head: SignedHead): boolean {
  const found = keys.find(({ kid }) => kid === head.kid);
  return found !== undefined && verifyEd25519(found.key, headText(head), head.signature);
}
