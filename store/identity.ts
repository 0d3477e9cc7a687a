/**
 * Which store this is: its identity, made with it, and its epoch, which says how often an older copy has taken its
 * place (G116). Runs that it has adopted from another store.
 * Invariants: the identity never changes; the epoch only grows, by one declaration or one detection at a time, and
 * each growth is audited; a run once adopted stays so.
 */
import type { StoreRef } from '../core/state/payloads/payload.js';
import type { AuditRow } from '../pure/audit.js';
import { appendEntries } from './audit.js';
import { checkIdentifiers } from './bounds.js';
import { change, immediate, rowsOf, type Db } from './database.js';
import { ALL_TENANTS } from './desk-keys.js';

export interface EpochChange {
  /** ms since epoch. */
  readonly at: number;
  readonly by: string;
  /** Why: a text for people. */
  readonly reason: string;
  /** Changes nothing when the store has another epoch by now. */
  readonly from?: number;
}

export interface Adoption {
  readonly tenant: string;
  readonly runId: string;
  /** ms since epoch. */
  readonly at: number;
  readonly by: string;
}

export interface Identity {
  /**
   * The store's identity and epoch. A database that says of itself that it was restored or promoted since the last
   * call gets the next epoch. `at`: ms since epoch.
   */
  identity(at: number): Promise<StoreRef>;
  /** What rows should be here and are not is unknown from now on. Gives the identity afterwards. */
  raiseEpoch(change: EpochChange): Promise<StoreRef>;
  /** A run that was begun with another store goes on with this one. False: it was adopted before. */
  adoptRun(adoption: Adoption): Promise<boolean>;
  isAdopted(tenant: string, runId: string): Promise<boolean>;
}

/** `marks`: an expression that gives a text which changes with every restore and promotion, or null. */
export function identity(db: Db, marks: string): Identity {
  const select = selectIdentity(marks);
  return {
    async identity(at) {
      const found = await firstIdentity(db, select);
      if (found.marks === null || found.marks === found.known) return refOf(found);
      return immediate(db, (tx) => noticeMarks(tx, marks, at));
    },
    raiseEpoch: (asked) => immediate(db, (tx) => raise(tx, marks, asked)),
    async adoptRun({ tenant, runId, at, by }) {
      checkIdentifiers({ tenant, runId });
      return immediate(db, async (tx) => {
        const added = await change(tx, ADOPT, { tenant, runId, at, by });
        if (added === 0) return false;
        const { id } = await readIdentity(tx, marks);
        appendEntries(tx, tenant, [{ at, kind: 'run_adopted', by, runId, facts: { store: id } }]);
        return true;
      });
    },
    async isAdopted(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const rows = await rowsOf(db, ADOPTED, { tenant, runId });
      return rows.length > 0;
    },
  };
}

const ADOPT = `
  insert into adopted_runs (tenant, run_id, at, by_whom) values (@tenant, @runId, @at, @by)
  on conflict (tenant, run_id) do nothing`;

const ADOPTED = 'select run_id from adopted_runs where tenant = @tenant and run_id = @runId';

/** Of a store that nobody has used yet. */
export async function nameStore(db: Db, id: string): Promise<void> {
  await change(db, 'update store_identity set id = @id', { id });
}

interface IdentityRow extends StoreRef {
  /** What the database said of itself when it was last looked at; null: nothing. */
  readonly known: string | null;
  /** What it says now. */
  readonly marks: string | null;
}

function selectIdentity(marks: string): string {
  return `select id, epoch, marks as known, ${marks} as marks from store_identity`;
}

function readIdentity(db: Db, marks: string): Promise<IdentityRow> {
  return firstIdentity(db, selectIdentity(marks));
}

async function firstIdentity(db: Db, select: string): Promise<IdentityRow> {
  const [row] = await rowsOf<IdentityRow>(db, select, {});
  return row!;
}

function refOf({ id, epoch }: StoreRef): StoreRef {
  return { id, epoch };
}

const NOTE_MARKS = `
  update store_identity set marks = @found where coalesce(marks, '') <> @found`;

/** Of several processes that notice it at once one alone raises the epoch. */
async function noticeMarks(tx: Db, marks: string, at: number): Promise<StoreRef> {
  const { known, marks: found, ...ref } = await readIdentity(tx, marks);
  if (found === null) return ref;
  const isFirst = (await change(tx, NOTE_MARKS, { found })) > 0;
  if (!isFirst || known === null) return refOf(await readIdentity(tx, marks));
  const reason = `The database was restored or promoted: it was ${known}, it is ${found}.`;
  return raise(tx, marks, { at, by: NOTICED_BY, reason });
}

const NOTICED_BY = 'holdfast';
/** The same database of the same cluster, on another timeline (store/postgres/restore-marks.ts). */
const OTHER_TIMELINE = /: it was ([^/ ]+\/[^/ ]+)\/[^/ ]+, it is \1\/[^/ ]+\.$/;

/** Read off the reason, which releases before have written as well. */
export function isPromotion({ by, facts: { reason } }: Pick<AuditRow, 'by' | 'facts'>): boolean {
  return by === NOTICED_BY && typeof reason === 'string' && OTHER_TIMELINE.test(reason);
}

const RAISE = `
  update store_identity set epoch = epoch + 1 where @from = 0 or epoch = @from`;

async function raise(
  tx: Db,
  marks: string,
  { at, by, reason, from = 0 }: EpochChange,
): Promise<StoreRef> {
  const raised = (await change(tx, RAISE, { from })) > 0;
  const { marks: found, ...now } = await readIdentity(tx, marks);
  // What a person tells first is not noticed once more.
  if (raised && found !== null) await change(tx, NOTE_MARKS, { found });
  if (raised) {
    const facts = { store: now.id, epoch: now.epoch, reason };
    appendEntries(tx, ALL_TENANTS, [{ at, kind: 'store_restored', by, facts }]);
  }
  return refOf(now);
}
