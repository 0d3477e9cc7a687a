/**
 * The rows of children that may turn out to be orphans, for those who look after them (worker/sweeper.ts).
 * Invariants: of several workers one alone looks at the children of a parent until its time is over; a child is told to
 * stop, and is over, once each, and the audit trail says so in the same transaction; what is over is not looked at again.
 *
 *   watched ─markStopped→ told to stop ─┐
 *      └──────────── settleEnded, markOver┴→ over
 */
import { appendEntries } from './audit.js';
import { checkIdentifiers, checkWholeNumbers, listLimit } from './bounds.js';
import type { RunName } from './changes.js';
import type { ChildName } from './children.js';
import { change, immediate, rowsOf, type Db } from './database.js';
import type { ChildTable } from './schema.js';

export interface WatchedChild extends ChildName {
  readonly parent: string;
  /** Of a sub-agent: run id of the root of its tree. */
  readonly root?: string;
  /** Its parent waits for nothing of it any more. */
  readonly sealed: boolean;
  /** It was told to stop. */
  readonly told: boolean;
}

/** Of an orphan, as the audit trail has it. Times: ms since epoch. */
export interface OrphanWord {
  readonly at: number;
  readonly why: string;
}

export interface EndedOrphan extends ChildName {
  readonly parent: string;
  readonly costMicroUsd: number;
  readonly stopReason: string;
}

export interface LookTime {
  readonly at: number;
  /** Until then nobody else looks. */
  readonly until: number;
}

export interface Orphans {
  /** Children that have their result are watched no more. Returns those of them that were told to stop. */
  settleEnded(look: {
    readonly namespace: string;
    readonly at: number;
  }): Promise<readonly EndedOrphan[]>;
  /** Parents of watched children that are due, the longest due first. */
  dueParents(wanted: {
    readonly namespace: string;
    readonly at: number;
    readonly limit: number;
  }): Promise<readonly RunName[]>;
  /** The watched children of a parent, for whoever has them now; none: another worker has them. */
  claimChildren(
    parent: RunName & { readonly namespace: string },
    look: LookTime,
  ): Promise<readonly WatchedChild[]>;
  /** Seals it. False: somebody else has done that. */
  markStopped(name: ChildName, word: OrphanWord): Promise<boolean>;
  /** Nothing of it runs or will. `word`: it is sealed and told, with what it has cost. False: it was over before. */
  markOver(
    name: ChildName,
    word?: OrphanWord & { readonly costMicroUsd: number },
  ): Promise<boolean>;
  lookAgain(name: ChildName, at: number): Promise<void>;
}

const ENDED_MAX = 500;
/** Of one parent at one time. */
const CHILDREN_MAX = 200;

const HERE = `(c.namespace is null or c.namespace = @namespace)`;
const NAMED = `tenant = @tenant and child = @child`;

const ENDED = `
  select c.tenant, c.child, c.parent, c.watch, r.cost_micro_usd, r.stop_reason
  from children c join runs r on r.tenant = c.tenant and r.run_id = c.child
  where c.watch < 2 and r.completed_at is not null and ${HERE} limit @limit`;

const DUE = `
  select c.tenant, c.parent, min(c.look_at) as due_at from children c
  where c.watch < 2 and c.look_at <= @at and ${HERE}
  group by c.tenant, c.parent order by due_at, c.tenant, c.parent limit @limit`;

const CLAIM = `
  update children set look_at = @until
  where tenant = @tenant and child in (
    select c.child from children c
    where c.tenant = @tenant and c.parent = @runId and c.watch < 2 and c.look_at <= @at and ${HERE}
    order by c.n limit @limit)
    and watch < 2 and look_at <= @at
  returning *`;

const STOP = `
  update children set watch = 1, state = 'sealed' where ${NAMED} and watch = 0 returning parent`;
const OVER = `update children set watch = 2 where ${NAMED} and watch < 2 returning parent`;
const LOOK = `update children set look_at = @at where ${NAMED} and watch < 2`;
const SEAL = `update children set state = 'sealed' where ${NAMED}`;

interface EndedRow {
  readonly tenant: string;
  readonly child: string;
  readonly parent: string;
  readonly watch: number;
  readonly cost_micro_usd: number | null;
  readonly stop_reason: string | null;
}

export function orphans(db: Db): Orphans {
  return {
    async settleEnded({ namespace, at }) {
      const rows = await rowsOf<EndedRow>(db, ENDED, { namespace, limit: ENDED_MAX });
      if (rows.length === 0) return [];
      return immediate(db, async (tx) => {
        const ended: EndedOrphan[] = [];
        for (const row of rows) {
          const orphan = await settled(tx, row, at);
          if (orphan !== undefined) ended.push(orphan);
        }
        return ended;
      });
    },
    async dueParents({ namespace, at, limit }) {
      checkWholeNumbers({ at });
      const values = { namespace, at, limit: listLimit(limit) };
      const rows = await rowsOf<Pick<ChildTable, 'tenant' | 'parent'>>(db, DUE, values);
      return rows.map(({ tenant, parent: runId }) => ({ tenant, runId }));
    },
    async claimChildren({ tenant, runId, namespace }, { at, until }) {
      checkIdentifiers({ tenant, runId, namespace });
      const values = { tenant, runId, namespace, at, until, limit: CHILDREN_MAX };
      return (await rowsOf<ChildTable>(db, CLAIM, values)).map(watchedOf);
    },
    async markStopped(name, { at, why }) {
      checkIdentifiers({ ...name });
      return immediate(db, async (tx) => {
        const [row] = await rowsOf<Pick<ChildTable, 'parent'>>(tx, STOP, bound(name));
        if (row === undefined) return false;
        const facts = { why, parent: row.parent };
        appendEntries(tx, name.tenant, [{ at, kind: 'orphan_stopped', runId: name.child, facts }]);
        return true;
      });
    },
    async markOver(name, word) {
      checkIdentifiers({ ...name });
      return immediate(db, async (tx) => {
        const [row] = await rowsOf<Pick<ChildTable, 'parent'>>(tx, OVER, bound(name));
        if (row === undefined) return false;
        if (word === undefined) return true;
        await change(tx, SEAL, bound(name));
        const { at, why, costMicroUsd } = word;
        const facts = { why, parent: row.parent, costMicroUsd, result: null };
        appendEntries(tx, name.tenant, [{ at, kind: 'orphan_ended', runId: name.child, facts }]);
        return true;
      });
    },
    async lookAgain(name, at) {
      checkIdentifiers({ ...name });
      checkWholeNumbers({ at });
      await change(db, LOOK, { ...bound(name), at });
    },
  };
}

async function settled(tx: Db, row: EndedRow, at: number): Promise<EndedOrphan | undefined> {
  const { tenant, child, parent, cost_micro_usd: cost, stop_reason: reason } = row;
  const [changed] = await rowsOf(tx, OVER, { tenant, child });
  if (changed === undefined || row.watch === 0) return undefined;
  const ended = { tenant, child, parent, costMicroUsd: cost ?? 0, stopReason: reason ?? '' };
  const facts = { parent, costMicroUsd: ended.costMicroUsd, result: ended.stopReason };
  appendEntries(tx, tenant, [{ at, kind: 'orphan_ended', runId: child, facts }]);
  return ended;
}

function bound({ tenant, child }: ChildName): { readonly tenant: string; readonly child: string } {
  return { tenant, child };
}

function watchedOf({ tenant, child, parent, root, state, watch }: ChildTable): WatchedChild {
  const held = { sealed: state !== 'open', told: watch === 1 };
  return { tenant, child, parent, ...held, ...(root !== null && { root }) };
}
