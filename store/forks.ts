/**
 * Forks of recorded runs: where each began, with the state that it begins from, and the calls that its record has.
 * Invariant: a row is written before its run is started, and never altered; all forks of runs of one tree, and theirs, have
 * one root. Their family is that tree, the forks, and the trees below those.
 */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { sha256Hex } from '../core/json/json.js';
import { lineOf } from '../pure/goal/child-start.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { immediate, rowsOf, type Db } from './database.js';
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
  readonly digest: string;
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

export interface FamilyQuery {
  readonly tenant: string;
  readonly runId: string;
  /** The call's own key. */
  readonly key: string;
  readonly tool: string;
  readonly argsDigest: string;
  readonly limit: number;
}

export interface Forks {
  /** Gives the digest of the state. */
  putFork(fork: NewFork): Promise<string>;
  getFork(tenant: string, runId: string): Promise<ForkRow | undefined>;
  /** Forks of this run, but not theirs; the newest first, at most LIST_ROWS_MAX. */
  forksOf(tenant: string, parent: string, limit: number): Promise<readonly ForkLink[]>;
  /**
   * Of a fork, or of a run below one: calls of this tool with these arguments that any run of the family handed over, newest
   * first. Of any other run none.
   */
  handedOverInFamily(query: FamilyQuery): Promise<readonly EarlierEffect[]>;
}

const MEMBERS = `
  with recursive members(id) as (
    select cast(@root as text)
    union select run_id from forks where tenant = @tenant and root = @root
    union select parent from forks where tenant = @tenant and root = @root
    union select children.child from children join members on children.parent = members.id
      where children.tenant = @tenant
  )`;

/** What the ledger has of a call says more than the record, whose runs this store need not know. */
const FAMILY = `${MEMBERS}
  select key, run_id, state, claimed_until as at from ledger
  where tenant = @tenant and tool = @tool and args_digest = @argsDigest and key <> @key
    and run_id in (select id from members)
  union all
  select key, run_id, case done when 1 then 'recorded' else 'handed_over' end as state, at
  from recorded_calls
  where tenant = @tenant and tool = @tool and args_digest = @argsDigest and key <> @key
    and exists (select 1 from members where members.id = recorded_calls.run_id
      or substr(recorded_calls.run_id, 1, length(members.id) + 1) = members.id || ':')
    and not exists (select 1 from ledger
      where ledger.tenant = recorded_calls.tenant and ledger.key = recorded_calls.key)
  order by at desc, key limit @limit`;

interface Found {
  readonly key: string;
  readonly run_id: string;
  readonly state: string;
  readonly at: number;
}

const STATES: { readonly [state: string]: EarlierEffect['state'] } = {
  claimed: 'under_way',
  recorded: 'done',
};

const CALLS_PER_STATEMENT = 200;

export function forks(db: Db): Forks {
  return {
    async putFork({ tenant, runId, parent, step, body, at, calls = [] }) {
      checkIdentifiers({ tenant, runId, parent });
      const digest = sha256Hex(body);
      await immediate(db, async (tx) => {
        await writeCalls(tx, { tenant, runId: parent }, calls);
        const root = (await rootAbove(tx, tenant, parent)) ?? lineOf(parent).at(-1) ?? parent;
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
    getFork(tenant, runId) {
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
    async handedOverInFamily({ tenant, runId, key, tool, argsDigest, limit }) {
      checkIdentifiers({ tenant, runId, key, tool, argsDigest });
      const root = await rootAbove(db, tenant, runId);
      if (root === undefined) return [];
      const values = { tenant, root, key, tool, argsDigest, limit };
      const found = await rowsOf<Found>(db, FAMILY, values);
      return found.map((row) => ({
        key: row.key,
        runId: row.run_id,
        tool,
        at: Number(row.at),
        state: STATES[row.state] ?? 'in_doubt',
        approvedBy: [],
      }));
    },
  };
}

async function writeCalls(
  tx: Db,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
  calls: readonly RecordedCallRow[],
): Promise<void> {
  const rows = calls.map(({ runId: member = runId, key, tool, digest, at, isDone }) => {
    checkIdentifiers({ member, key, tool, digest });
    const done = isDone ? 1 : 0;
    return { tenant, run_id: member, key, tool, args_digest: digest, at, done };
  });
  for (let from = 0; from < rows.length; from += CALLS_PER_STATEMENT) {
    await tx
      .insertInto('recorded_calls')
      .values(rows.slice(from, from + CALLS_PER_STATEMENT))
      // A later record knows more.
      .onConflict((conflict) =>
        conflict
          .columns(['tenant', 'run_id', 'key'])
          .doUpdateSet((known) => ({ done: known.ref('excluded.done') })),
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

/** Of the nearest fork that the run is, or is below; undefined: it has nothing of a fork. */
async function rootAbove(db: Db, tenant: string, runId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('forks')
    .select(['run_id', 'root'])
    .where('tenant', '=', tenant)
    .where('run_id', 'in', lineOf(runId))
    .execute();
  const roots = new Map(found.map((row) => [row.run_id, row.root]));
  return roots.get(lineOf(runId).find((id) => roots.has(id)) ?? '');
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
