/**
 * Runs that belong to another one: the cycles of goals, and sub-agents of runs.
 * Invariants: a row is written before its child is started, and only a run that its row names as it is may open as a
 * child; a row whose child has events keeps its start; what is sealed stays sealed. The rows of a tree never pass the
 * limits of its root: they are counted in the transaction that adds one.
 */
import { checkIdentifiers, checkWholeNumbers, listLimit, LIST_ROWS_MAX } from './bounds.js';
import { change, holdRun, immediate, rowsOf, type Db } from './database.js';
import type { ChildTable } from './schema.js';

export interface ChildName {
  readonly tenant: string;
  /** Run id of the child. */
  readonly child: string;
}

export interface ChildStart extends ChildName {
  /** Run id of the goal, or of the run. */
  readonly parent: string;
  /** Number of the cycle, or of the sub-agent. */
  readonly n: number;
  /** Of `start`. */
  readonly digest: string;
  /** Everything that the child is told, as JSON text. */
  readonly start: string;
  /** Of a sub-agent. */
  readonly place?: TreePlace;
  /** Of the server that the parent is on; absent: not known. */
  readonly namespace?: string;
  /** It goes on when its parent has ended: it is never an orphan. */
  readonly detached?: true;
}

/** Where a sub-agent stands below its root. */
export interface TreePlace {
  /** Run id of the root. */
  readonly root: string;
  /** Names of the agents from the root to it, both among them. */
  readonly path: readonly string[];
  /** The call of its parent that started it. */
  readonly call: string;
}

export interface ChildRow extends ChildStart {
  /** 'sealed': its outcome counts, whatever it still does. */
  readonly state: 'open' | 'sealed';
}

/** Limits of a tree; a child that would pass one is not registered. */
export interface TreeRoom {
  /** Rows of the tree that are open at one time. */
  readonly atOnce: number;
  /** Rows of the tree. */
  readonly inAll: number;
}

/**
 * 'same': it was there; 'taken': the id is that of another run, or of a child that has begun otherwise; 'crowded': as
 * many are open as may be; 'used_up': there have been as many as may ever be.
 */
export type Registration = 'registered' | 'same' | 'taken' | 'crowded' | 'used_up';

export interface ChildrenQuery {
  readonly limit: number;
  /** Number of the last row of the page before. */
  readonly after?: number;
}

export interface Children {
  /** `room`: with `place`, the limits of the tree. */
  registerChild(child: ChildStart, room?: TreeRoom): Promise<Registration>;
  childRow(tenant: string, child: string): Promise<ChildRow | undefined>;
  /** Nothing that the child does from now on counts. Idempotent; false: there is no such row. */
  sealChild(tenant: string, child: string): Promise<boolean>;
  /** In the order of their numbers, at most LIST_ROWS_MAX. */
  listChildren(tenant: string, parent: string, query: ChildrenQuery): Promise<readonly ChildRow[]>;
  /** All sub-agents below a root, parents before their children, at most LIST_ROWS_MAX. */
  listTree(tenant: string, root: string): Promise<readonly ChildRow[]>;
}

const NEVER_AN_ORPHAN = 2;

const READ = `select * from children where tenant = @tenant and child = @child`;

const HAS_BEGUN = `select run_id from runs where tenant = @tenant and run_id = @child`;

const INSERT = `
  insert into children
    (tenant, child, parent, n, digest, start_json, state, root, path_json, call_id, namespace, watch)
  values (@tenant, @child, @parent, @n, @digest, @start, 'open', @root, @path, @call, @namespace, @watch)`;

const COUNT = `
  select count(*) as all_rows, coalesce(sum(case when state = 'open' then 1 else 0 end), 0) as open_rows
  from children where tenant = @tenant and root = @root`;

const TREE = `
  select * from children where tenant = @tenant and root = @root
  order by length(path_json), parent, n, child limit @limit`;

const REPLACE = `
  update children set n = @n, digest = @digest, start_json = @start
  where tenant = @tenant and child = @child`;

const SEAL = `
  update children set state = 'sealed' where tenant = @tenant and child = @child`;

const LIST = `
  select * from children where tenant = @tenant and parent = @parent and n > @after
  order by n, child limit @limit`;

export function children(db: Db): Children {
  return {
    async registerChild(given, room) {
      const { tenant, child, parent, n, digest, start, place, namespace = null } = given;
      const watch = given.detached === true ? NEVER_AN_ORPHAN : 0;
      checkIdentifiers({ tenant, child, parent, digest, ...(place && { root: place.root }) });
      checkWholeNumbers({ n });
      return immediate(db, async (tx) => {
        // One at a time joins a tree.
        if (place !== undefined) await holdRun(tx, { tenant, runId: place.root });
        // Whoever writes events of the child waits: whether it has begun stays true.
        await holdRun(tx, { tenant, runId: child });
        const [row] = await rowsOf<ChildTable>(tx, READ, { tenant, child });
        if (row !== undefined && row.parent !== parent) return 'taken';
        if (row?.digest === digest && row.n === n) return 'same';
        if (row?.state === 'sealed') return 'taken';
        if ((await rowsOf(tx, HAS_BEGUN, { tenant, child })).length > 0) return 'taken';
        const values = { tenant, child, n, digest, start };
        if (row !== undefined) {
          await change(tx, REPLACE, values);
          return 'registered';
        }
        const full = place && room && (await fullness(tx, { tenant, root: place.root }, room));
        if (full !== undefined) return full;
        const tree = {
          root: place?.root ?? null,
          path: place === undefined ? null : JSON.stringify(place.path),
          call: place?.call ?? null,
          namespace,
          watch,
        };
        await change(tx, INSERT, { ...values, parent, ...tree });
        return 'registered';
      });
    },
    async childRow(tenant, child) {
      checkIdentifiers({ tenant, child });
      const [row] = await rowsOf<ChildTable>(db, READ, { tenant, child });
      return row && childOf(row);
    },
    async sealChild(tenant, child) {
      checkIdentifiers({ tenant, child });
      return (await change(db, SEAL, { tenant, child })) > 0;
    },
    async listChildren(tenant, parent, { limit, after = 0 }) {
      checkIdentifiers({ tenant, parent });
      checkWholeNumbers({ after });
      const values = { tenant, parent, after, limit: listLimit(limit) };
      return (await rowsOf<ChildTable>(db, LIST, values)).map(childOf);
    },
    async listTree(tenant, root) {
      checkIdentifiers({ tenant, root });
      const values = { tenant, root, limit: listLimit(LIST_ROWS_MAX) };
      return (await rowsOf<ChildTable>(db, TREE, values)).map(childOf);
    },
  };
}

interface Counted {
  readonly all_rows: number;
  readonly open_rows: number;
}

async function fullness(
  tx: Db,
  tree: { readonly tenant: string; readonly root: string },
  { atOnce, inAll }: TreeRoom,
): Promise<'crowded' | 'used_up' | undefined> {
  const [counted] = await rowsOf<Counted>(tx, COUNT, tree);
  if (Number(counted?.all_rows ?? 0) >= inAll) return 'used_up';
  return Number(counted?.open_rows ?? 0) >= atOnce ? 'crowded' : undefined;
}

function placeOf({ root, path_json: path, call_id: call }: ChildTable): TreePlace | undefined {
  if (root === null || path === null) return undefined;
  return { root, path: JSON.parse(path) as readonly string[], call: call ?? '' };
}

function childOf(row: ChildTable): ChildRow {
  const { tenant, child, parent, n, digest, start_json: start } = row;
  const place = placeOf(row);
  // What a newer release may write otherwise stands for an end.
  const state = row.state === 'open' ? 'open' : 'sealed';
  return { tenant, child, parent, n, digest, start, state, ...(place !== undefined && { place }) };
}
