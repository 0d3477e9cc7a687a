/**
 * Runs that belong to another one: the cycles of goals.
 * Invariants: a row is written before its child is started, and only a run that its row names as it is may open as a
 * child; a row whose child has events keeps its start; what is sealed stays sealed.
 */
import { checkIdentifiers, checkWholeNumbers, listLimit } from './bounds.js';
import { change, holdRun, immediate, rowsOf, type Db } from './database.js';
import type { ChildTable } from './schema.js';

export interface ChildName {
  readonly tenant: string;
  /** Run id of the child. */
  readonly child: string;
}

export interface ChildStart extends ChildName {
  /** Run id of the goal. */
  readonly parent: string;
  /** Number of the cycle. */
  readonly n: number;
  /** Of `start`. */
  readonly digest: string;
  /** Everything that the child is told, as JSON text. */
  readonly start: string;
}

export interface ChildRow extends ChildStart {
  /** 'sealed': its outcome counts, whatever it still does. */
  readonly state: 'open' | 'sealed';
}

/** 'same': it was there; 'taken': the id is that of another run, or of a child that has begun otherwise. */
export type Registration = 'registered' | 'same' | 'taken';

export interface ChildrenQuery {
  readonly limit: number;
  /** Number of the last row of the page before. */
  readonly after?: number;
}

export interface Children {
  registerChild(child: ChildStart): Promise<Registration>;
  childRow(tenant: string, child: string): Promise<ChildRow | undefined>;
  /** Nothing that the child does from now on counts. Idempotent; false: there is no such row. */
  sealChild(tenant: string, child: string): Promise<boolean>;
  /** In the order of their numbers, at most LIST_ROWS_MAX. */
  listChildren(tenant: string, parent: string, query: ChildrenQuery): Promise<readonly ChildRow[]>;
}

const READ = `select * from children where tenant = @tenant and child = @child`;

const HAS_BEGUN = `select run_id from runs where tenant = @tenant and run_id = @child`;

const INSERT = `
  insert into children (tenant, child, parent, n, digest, start_json, state)
  values (@tenant, @child, @parent, @n, @digest, @start, 'open')`;

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
    async registerChild(given) {
      const { tenant, child, parent, n, digest, start } = given;
      checkIdentifiers({ tenant, child, parent, digest });
      checkWholeNumbers({ n });
      return immediate(db, async (tx) => {
        // Whoever writes events of the child waits: whether it has begun stays true.
        await holdRun(tx, { tenant, runId: child });
        const [row] = await rowsOf<ChildTable>(tx, READ, { tenant, child });
        if (row !== undefined && row.parent !== parent) return 'taken';
        if (row?.digest === digest && row.n === n) return 'same';
        if (row?.state === 'sealed') return 'taken';
        if ((await rowsOf(tx, HAS_BEGUN, { tenant, child })).length > 0) return 'taken';
        const values = { tenant, child, n, digest, start };
        await (row === undefined
          ? change(tx, INSERT, { ...values, parent })
          : change(tx, REPLACE, values));
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
  };
}

function childOf(row: ChildTable): ChildRow {
  const { tenant, child, parent, n, digest, start_json: start } = row;
  // What a newer release may write otherwise stands for an end.
  const state = row.state === 'open' ? 'open' : 'sealed';
  return { tenant, child, parent, n, digest, start, state };
}
