/**
 * The ledger of side effects: stores what `pure/ledger` decides.
 * Invariants: each transition is one compare-and-set statement, on disk when it returns; L1–L3 hold
 * whatever the caller believed when it called; claims end by one clock (G108); the answer of a recorded row never changes; nothing is ever
 * deleted.
 *
 *   (no row) ─claim→ claimed ─record→ recorded        claimed ─voidClaim→ void (definite)
 *   (no row) ─burn→ void     claimed ─burn→ void      void ─recordByPerson→ recorded
 *   void of a smaller attempt ─claim→ claimed
 */
import { HoldfastError } from '../core/state/errors.js';
import type { LedgerRow, RecordedResult } from '../pure/ledger.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { change, dialectOf, rowsOf, type Db } from './database.js';
import type { LedgerTable } from './schema.js';

/** A ledger row and what it is about. `wasClaimed` is false after a definite void: nothing happened. */
export interface StoredLedgerRow extends LedgerRow {
  readonly tenant: string;
  readonly runId: string;
  readonly callKey: string;
  readonly tool: string;
  /** Voided because the tool itself said that nothing happened. */
  readonly definite: boolean;
  /** The first that a claimant said of its attempt after it had been taken away: kept, never acted on. */
  readonly late?: LateWord;
}

export interface LateWord {
  readonly attempt: number;
  /** ms since epoch. */
  readonly at: number;
  readonly result: RecordedResult;
}

export interface LedgerTarget {
  readonly tenant: string;
  readonly key: string;
  readonly argsDigest: string;
  /** From 1. */
  readonly attempt: number;
}

export interface LedgerSubject {
  readonly runId: string;
  readonly callKey: string;
  readonly tool: string;
  /** Of the arguments alone: forks compare it, whatever the version of the tool. Absent: unknown. */
  readonly plainDigest?: string;
}

export type ClaimInput = LedgerTarget &
  LedgerSubject & {
    /** ms since epoch by {@link Ledger.claimClock}: from then on the claimant no longer runs. */
    readonly claimedUntil: number;
    /** The tool recognises its key: a claim of the same attempt and digest may be renewed. */
    readonly sameKeyRetry: boolean;
  };

export type RecordInput = LedgerTarget & { readonly result: RecordedResult };

export type LateInput = LedgerTarget & Pick<LedgerSubject, 'runId'> & LateWord;

export interface Ledger {
  /**
   * The clock by which claims end, ms since epoch: that of the database, so that the clocks of workers need not agree.
   * SQLite has none but the machine's, which is that of its workers: `at` is given back.
   */
  claimClock(at: number): Promise<number>;
  getLedgerRow(tenant: string, key: string): Promise<StoredLedgerRow | undefined>;
  /** L1, in one statement. `row` is the row afterwards: the claim, or what stood in its way. */
  claim(
    input: ClaimInput,
  ): Promise<{ readonly claimed: boolean; readonly row: StoredLedgerRow | undefined }>;
  /** claimed → recorded, of the same attempt and digest; false: the claim is gone, read the row. */
  record(input: RecordInput & { readonly source: 'tool' }): Promise<boolean>;
  /**
   * Keeps what a claimant returned after its attempt was burned, for whoever looks into it; false: the
   * attempt was not taken away, or somebody's late word is there already.
   */
  noteLate(input: LateInput): Promise<boolean>;
  /** claimed → void, because the tool said that nothing happened; false: the claim is gone. */
  voidClaim(claim: {
    readonly tenant: string;
    readonly key: string;
    readonly attempt: number;
  }): Promise<boolean>;
  /**
   * L3: takes an attempt away from whoever may still want it. Inserts a void row, voids a claim of this
   * or a smaller attempt, raises an older void row to this attempt. A recorded row, a greater attempt and
   * a row of another run or digest are left alone. Gives the row afterwards.
   */
  burn(input: LedgerTarget & LedgerSubject): Promise<StoredLedgerRow>;
  /** void → recorded, of the same attempt and digest; false: read the row. */
  recordByPerson(input: RecordInput & { readonly source: 'person' | 'probe' }): Promise<boolean>;
  /** Rows of one run by key, at most LIST_ROWS_MAX; `after` is the last key of the page before. */
  listLedger(
    tenant: string,
    query: { readonly runId: string; readonly limit?: number; readonly after?: string },
  ): Promise<readonly StoredLedgerRow[]>;
}

export function ledger(db: Db): Ledger {
  return {
    async claimClock(at) {
      const { name, now } = dialectOf(db);
      if (name === 'sqlite') return at;
      const [clock] = await rowsOf<{ readonly at: number }>(db, `select ${now} as at`, {});
      return Number(clock?.at ?? at);
    },
    getLedgerRow: (tenant, key) => readRow(db, tenant, key),
    async claim(input) {
      const { tenant, key } = input;
      const row = await claimRow(db, input);
      if (row !== undefined) return { claimed: true, row: ledgerRow(row) };
      return { claimed: false, row: await readRow(db, tenant, key) };
    },
    record: (input) => recordFrom(db, 'claimed', input),
    recordByPerson: (input) => recordFrom(db, 'void', input),
    noteLate: (input) => noteLate(db, input),
    async voidClaim({ tenant, key, attempt }) {
      checkIdentifiers({ tenant, key });
      const updated = await db
        .updateTable('ledger')
        .set({ state: 'void', definite: 1 })
        .where('tenant', '=', tenant)
        .where('key', '=', key)
        .where('state', '=', 'claimed')
        .where('attempt', '=', attempt)
        .executeTakeFirst();
      return updated.numUpdatedRows > 0n;
    },
    async burn(input) {
      checkIdentifiers(namesOf(input));
      const row = (await burnRow(db, input)) ?? (await selectRow(db, input.tenant, input.key));
      // Rows are never deleted: what was in the way of the insert is still there.
      if (row === undefined)
        throw new HoldfastError('Internal', `Ledger row ${input.key} vanished.`);
      return ledgerRow(row);
    },
    async listLedger(tenant, { runId, limit, after }) {
      checkIdentifiers({ tenant, runId });
      const rows = await db
        .selectFrom('ledger')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .where('key', '>', after ?? '')
        .orderBy('key')
        .limit(listLimit(limit ?? Infinity))
        .execute();
      return rows.map(ledgerRow);
    },
  };
}

// A renewed claim never ends earlier: the process that made it may still be running until then.
const CLAIM = `
  insert into ledger (tenant, key, args_digest, attempt, state, was_claimed, definite,
    claimed_until, run_id, call_key, tool, plain_digest)
  values (@tenant, @key, @argsDigest, @attempt, 'claimed', 1, 0,
    @claimedUntil, @runId, @callKey, @tool, @plainDigest)
  on conflict (tenant, key) do update set
    attempt = excluded.attempt, state = 'claimed', was_claimed = 1, definite = 0,
    claimed_until = case when ledger.claimed_until > excluded.claimed_until
      then ledger.claimed_until else excluded.claimed_until end,
    call_key = excluded.call_key, tool = excluded.tool,
    plain_digest = coalesce(excluded.plain_digest, ledger.plain_digest)
  where ledger.args_digest = excluded.args_digest and ledger.run_id = excluded.run_id and (
    (ledger.state = 'void' and ledger.attempt < excluded.attempt)
    or (@sameKeyRetry = 1 and ledger.state = 'claimed' and ledger.attempt = excluded.attempt))
  returning *`;

async function claimRow(db: Db, input: ClaimInput): Promise<LedgerTable | undefined> {
  const names = namesOf(input);
  checkIdentifiers(names);
  const { attempt, claimedUntil, plainDigest = null } = input;
  const sameKeyRetry = input.sameKeyRetry ? 1 : 0;
  const values = { ...names, plainDigest, attempt, claimedUntil, sameKeyRetry };
  const [row] = await rowsOf<LedgerTable>(db, CLAIM, values);
  return row;
}

// Nobody claimed this attempt. What an older one did is no longer in the row: who asks about an attempt before the
// row's own does not take it for an answer (decideReconcile).
const BURN = `
  insert into ledger (tenant, key, args_digest, attempt, state, was_claimed, definite,
    claimed_until, run_id, call_key, tool, plain_digest)
  values (@tenant, @key, @argsDigest, @attempt, 'void', 0, 0, 0, @runId, @callKey, @tool, @plainDigest)
  on conflict (tenant, key) do update set
    was_claimed = case when ledger.state = 'claimed' then ledger.was_claimed else 0 end,
    attempt = excluded.attempt, state = 'void', definite = 0
  where ledger.args_digest = excluded.args_digest and ledger.run_id = excluded.run_id and (
    (ledger.state = 'claimed' and ledger.attempt <= excluded.attempt)
    or (ledger.state = 'void' and ledger.attempt < excluded.attempt))
  returning *`;

async function burnRow(
  db: Db,
  input: LedgerTarget & LedgerSubject,
): Promise<LedgerTable | undefined> {
  const { attempt, plainDigest = null } = input;
  const values = { ...namesOf(input), plainDigest, attempt };
  const [row] = await rowsOf<LedgerTable>(db, BURN, values);
  return row;
}

const RECORD = `
  update ledger set state = 'recorded', definite = 0, result_json = @result, source = @source
  where tenant = @tenant and key = @key and state = @state and attempt = @attempt
    and args_digest = @argsDigest`;

async function recordFrom(
  db: Db,
  state: 'claimed' | 'void',
  input: RecordInput & { readonly source: 'tool' | 'person' | 'probe' },
): Promise<boolean> {
  const { tenant, key, argsDigest, attempt, result, source } = input;
  checkIdentifiers({ tenant, key, argsDigest });
  const values = { tenant, key, state, attempt, argsDigest, source };
  return (await change(db, RECORD, { ...values, result: JSON.stringify(result) })) > 0;
}

const NOTE_LATE = `
  update ledger set late_json = @late
  where tenant = @tenant and key = @key and args_digest = @argsDigest and run_id = @runId
    and late_json is null and not (attempt = @attempt
      and (state = 'claimed' or (state = 'recorded' and source = 'tool')))`;

async function noteLate(db: Db, input: LateInput): Promise<boolean> {
  const { tenant, key, argsDigest, runId, attempt, at, result } = input;
  checkIdentifiers({ tenant, key, argsDigest, runId });
  const word: LateWord = { attempt, at, result };
  const values = { tenant, key, argsDigest, runId, attempt };
  return (await change(db, NOTE_LATE, { ...values, late: JSON.stringify(word) })) > 0;
}

async function selectRow(db: Db, tenant: string, key: string): Promise<LedgerTable | undefined> {
  checkIdentifiers({ tenant, key });
  const statement = 'select * from ledger where tenant = @tenant and key = @key';
  const [row] = await rowsOf<LedgerTable>(db, statement, { tenant, key });
  return row;
}

async function readRow(db: Db, tenant: string, key: string): Promise<StoredLedgerRow | undefined> {
  const row = await selectRow(db, tenant, key);
  return row === undefined ? undefined : ledgerRow(row);
}

function namesOf(input: LedgerTarget & LedgerSubject) {
  const { tenant, key, argsDigest, runId, callKey, tool } = input;
  return { tenant, key, argsDigest, runId, callKey, tool };
}

function ledgerRow(row: LedgerTable): StoredLedgerRow {
  return {
    tenant: row.tenant,
    key: row.key,
    argsDigest: row.args_digest,
    attempt: row.attempt,
    state: row.state as LedgerRow['state'],
    wasClaimed: row.was_claimed === 1 && row.definite === 0,
    definite: row.definite === 1,
    claimedUntil: row.claimed_until,
    runId: row.run_id,
    callKey: row.call_key,
    tool: row.tool,
    ...(row.result_json === null ? {} : { result: JSON.parse(row.result_json) as RecordedResult }),
    ...(row.source === null ? {} : { source: row.source as 'tool' | 'probe' | 'person' }),
    ...(row.late_json === null ? {} : { late: JSON.parse(row.late_json) as LateWord }),
  };
}
