/**
 * Archivals: that the history of a closed segment is still to be archived. A row for each keeps how often that was
 * tried and when it is tried next, so that any worker, or the same one after a restart, goes on where it was.
 * Invariants: a segment that has no row and no history was never closed under this program; whoever tries has
 * claimed the row before, in one statement that one alone can win; a row goes when the history is stored, and stays
 * for good as `history_lost` when Temporal has deleted it before.
 *
 *   (no row) ─open→ waiting ─claim→ waiting, claimed ─settle→ (no row) | waiting | history_lost
 *                              └─ the claimant died: due again at the end of its claim
 */
import { checkIdentifiers, listLimit, wellFormed } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { ArchivalTable } from './schema.js';

const FAULT_CHARS_MAX = 300;

export interface ArchivalName {
  readonly tenant: string;
  readonly runId: string;
  /** From 0. */
  readonly segment: number;
  /** Temporal run id. */
  readonly execution: string;
}

export interface Archival extends ArchivalName {
  /** Of the server that has the history. */
  readonly namespace: string;
  readonly state: 'waiting' | 'history_lost';
  /** When the segment was found closed; this and other times: ms since epoch. */
  readonly since: number;
  /** Begun so far, also those of workers that died. */
  readonly tries: number;
  /** While it waits. */
  readonly nextAt: number;
  /** When the history was found to be deleted. */
  readonly lostAt?: number;
  /** What went wrong in the last try. */
  readonly fault?: string;
}

export type ArchivalFate =
  | { readonly state: 'archived' }
  | { readonly state: 'waiting'; readonly fault: string; readonly nextAt: number }
  | { readonly state: 'history_lost'; readonly fault: string; readonly at: number };

export interface ArchivalClaim {
  readonly at: number;
  /** From then on another may claim it. */
  readonly until: number;
}

export interface Archivals {
  /** One that is there already stays as it is; there is none for a history that is archived. */
  openArchival(name: ArchivalName & { readonly namespace: string }, at: number): Promise<void>;
  /** Those that may be claimed now, the longest due first. */
  dueArchivals(wanted: {
    readonly namespace: string;
    readonly at: number;
    readonly limit: number;
  }): Promise<readonly ArchivalName[]>;
  /** Undefined: somebody else has it, it is not due, or there is none. */
  claimArchival(name: ArchivalName, claim: ArchivalClaim): Promise<Archival | undefined>;
  /** False: another has claimed it meanwhile; what was archived is archived nevertheless. */
  settleArchival(claimed: Archival, fate: ArchivalFate): Promise<boolean>;
  /** Of one run, or of all runs of all tenants; those that wait before those that are lost, the oldest first. */
  listArchivals(wanted: {
    readonly run?: { readonly tenant: string; readonly runId: string };
    readonly limit: number;
  }): Promise<readonly Archival[]>;
}

const IS_NAMED = `tenant = @tenant and run_id = @runId and segment = @segment and execution = @execution`;

const OPEN = `
  insert into archivals (tenant, run_id, segment, execution, namespace, state, tries, since, next_at)
  select @tenant, @runId, cast(@segment as integer), @execution, @namespace, 'waiting', 0,
    cast(@at as bigint), cast(@at as bigint)
  where not exists (select 1 from histories
    where tenant = @tenant and run_id = @runId and segment = @segment and execution = @execution)
  on conflict do nothing`;

const DUE = `
  select * from archivals where namespace = @namespace and state = 'waiting' and next_at <= @at
  order by next_at, tenant, run_id, segment limit @limit`;

const CLAIM = `
  update archivals set tries = tries + 1, next_at = @until
  where ${IS_NAMED} and state = 'waiting' and next_at <= @at
  returning *`;

const REMOVE = `delete from archivals where ${IS_NAMED}`;

/** The number of the try tells a claim from a later one. */
const SETTLE = `
  update archivals set state = @state, fault = @fault, next_at = @nextAt, lost_at = @lostAt
  where ${IS_NAMED} and state = 'waiting' and tries = @tries`;

const listOf = (isWanted: string): string => `
  select * from archivals where ${isWanted}
  order by case when state = 'waiting' then 0 else 1 end, since, tenant, run_id, segment limit @limit`;

export function archivals(db: Db): Archivals {
  return {
    async openArchival({ namespace, ...name }, at) {
      checkIdentifiers({ namespace });
      await change(db, OPEN, { ...boundName(name), namespace, at });
    },
    async dueArchivals({ namespace, at, limit }) {
      const rows = await rowsOf<ArchivalTable>(db, DUE, { namespace, at, limit: listLimit(limit) });
      return rows.map(nameOf);
    },
    async claimArchival(name, claim) {
      const [row] = await rowsOf<ArchivalTable>(db, CLAIM, { ...boundName(name), ...claim });
      return row === undefined ? undefined : archivalOf(row);
    },
    async settleArchival(claimed, fate) {
      const name = boundName(claimed);
      if (fate.state === 'archived') return (await change(db, REMOVE, name)) > 0;
      const values = {
        ...name,
        tries: claimed.tries,
        state: fate.state,
        fault: wellFormed(fate.fault.slice(0, FAULT_CHARS_MAX)),
        nextAt: fate.state === 'waiting' ? fate.nextAt : claimed.nextAt,
        lostAt: fate.state === 'waiting' ? null : fate.at,
      };
      return (await change(db, SETTLE, values)) > 0;
    },
    async listArchivals({ run, limit }) {
      if (run !== undefined) checkIdentifiers({ ...run });
      const isWanted = run === undefined ? '1 = 1' : 'tenant = @tenant and run_id = @runId';
      const values = { ...run, limit: listLimit(limit) };
      return (await rowsOf<ArchivalTable>(db, listOf(isWanted), values)).map(archivalOf);
    },
  };
}

function boundName({ tenant, runId, segment, execution }: ArchivalName) {
  checkIdentifiers({ tenant, runId, execution });
  return { tenant, runId, segment, execution };
}

function nameOf(row: ArchivalTable): ArchivalName {
  const { tenant, run_id: runId, segment, execution } = row;
  return { tenant, runId, segment, execution };
}

function archivalOf(row: ArchivalTable): Archival {
  return {
    ...nameOf(row),
    namespace: row.namespace,
    state: row.state as Archival['state'],
    since: row.since,
    tries: row.tries,
    nextAt: row.next_at,
    ...(row.lost_at !== null && { lostAt: row.lost_at }),
    ...(row.fault !== null && { fault: row.fault }),
  };
}
