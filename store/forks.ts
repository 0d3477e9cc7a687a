/**
 * Forks of recorded runs: where each began, with the state that it begins from, and the calls that its record has.
 * Invariant: a row is written before its run is started, and never altered; all forks of runs of one tree, and theirs, have
 * one root, which is above that tree. Older releases took the parent for it (fork-family.ts).
 */
import { sha256Hex } from '../core/json/json.js';
import { lineOf } from '../pure/goal/child-start.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { immediate, type Db } from './database.js';
import { familyCalls, type FamilyCalls } from './family-calls.js';
import { forkFamily, topOfFamily, type ForkFamily } from './fork-family.js';
import type { ForkTable } from './fork-table.js';

export interface ForkRow {
  readonly runId: string;
  readonly parent: string;
  readonly root: string;
  readonly step: number;
  readonly digest: string;
  readonly body: string;
}

export interface NewFork {
  readonly tenant: string;
  readonly runId: string;
  readonly parent: string;
  readonly step: number;
  /** As JSON. */
  readonly body: string;
  /** ms since epoch. */
  readonly at: number;
  /** What the record of the parent gave to executors: the ledger of this store need not have it. */
  readonly calls?: readonly RecordedCallRow[];
}

export interface RecordedCallRow {
  /** The run below the parent whose call it was; absent: the parent itself. */
  readonly runId?: string;
  readonly key: string;
  readonly tool: string;
  /** Of tool, version and arguments. */
  readonly digest: string;
  /** Of the arguments alone; absent: nobody knows them, and any call of the tool may be the same. */
  readonly plainDigest?: string;
  /** ms since epoch. */
  readonly at: number;
  readonly isDone: boolean;
}

/** A fork in a list. */
export interface ForkLink {
  readonly runId: string;
  readonly parent: string;
  readonly step: number;
  /** ms since epoch. */
  readonly at: number;
}

export interface Forks extends ForkFamily, FamilyCalls {
  /** Gives the digest of the state. */
  putFork(fork: NewFork): Promise<string>;
  getFork(tenant: string, runId: string): Promise<ForkRow | undefined>;
  /** Forks of this run, but not theirs; the newest first, at most LIST_ROWS_MAX. */
  forksOf(tenant: string, parent: string, limit: number): Promise<readonly ForkLink[]>;
}

const CALLS_PER_STATEMENT = 200;

export function forks(db: Db): Forks {
  return {
    ...forkFamily(db),
    ...familyCalls(db),
    async putFork({ tenant, runId, parent, step, body, at, calls = [] }) {
      checkIdentifiers({ tenant, runId, parent });
      const digest = sha256Hex(body);
      await immediate(db, async (tx) => {
        await writeCalls(tx, { tenant, runId: parent }, calls);
        const root = (await topOfFamily(tx, tenant, parent)) ?? lineOf(parent).at(-1) ?? parent;
        const row = { tenant, run_id: runId, parent, root, step, digest, body, created_at: at };
        // A start that is sent again finds what it has written.
        await tx
          .insertInto('forks')
          .values(row)
          .onConflict((one) => one.doNothing())
          .execute();
      });
      return (await rowOf(db, tenant, runId))?.digest ?? digest;
    },
    async getFork(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      return rowOf(db, tenant, runId);
    },
    async forksOf(tenant, parent, limit) {
      checkIdentifiers({ tenant, parent });
      const rows = await linksIn(db, tenant)
        .where('parent', '=', parent)
        .orderBy('created_at', 'desc')
        .orderBy('run_id', 'desc')
        .limit(listLimit(limit))
        .execute();
      return rows.map(linkOf);
    },
  };
}

async function writeCalls(
  tx: Db,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
  calls: readonly RecordedCallRow[],
): Promise<void> {
  const rows = calls.map(
    ({ runId: member = runId, key, tool, digest, plainDigest = null, at, isDone }) => {
      checkIdentifiers({ member, key, tool, digest, ...(plainDigest !== null && { plainDigest }) });
      const done = isDone ? 1 : 0;
      const digests = { args_digest: digest, plain_digest: plainDigest };
      return { tenant, run_id: member, key, tool, ...digests, at, done };
    },
  );
  for (let from = 0; from < rows.length; from += CALLS_PER_STATEMENT) {
    await tx
      .insertInto('recorded_calls')
      .values(rows.slice(from, from + CALLS_PER_STATEMENT))
      // A later record knows more.
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'run_id', 'key']).doUpdateSet((known) => ({
          done: known.ref('excluded.done'),
          plain_digest: known.fn.coalesce('excluded.plain_digest', 'recorded_calls.plain_digest'),
        })),
      )
      .execute();
  }
}

function linksIn(db: Db, tenant: string) {
  return db
    .selectFrom('forks')
    .select(['run_id', 'parent', 'step', 'created_at'])
    .where('tenant', '=', tenant);
}

function linkOf(row: Pick<ForkTable, 'run_id' | 'parent' | 'step' | 'created_at'>): ForkLink {
  const { run_id: runId, parent, step, created_at: at } = row;
  return { runId, parent, step: Number(step), at: Number(at) };
}

async function rowOf(db: Db, tenant: string, id: string): Promise<ForkRow | undefined> {
  const row = await db
    .selectFrom('forks')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('run_id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { run_id: runId, parent, root, step, digest, body } = row;
  return { runId, parent, root, step: Number(step), digest, body };
}
