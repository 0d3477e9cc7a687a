/**
 * What the family of a fork gave to executors. The family is the tree that the first of its runs belongs to, all forks of runs
 * of that tree and of one another, and the trees below those.
 * Invariants: a call of the family with the same tool and arguments is found under every version of the tool; one of which the
 * store cannot tell the arguments counts as the same; of two runs of a family that claim at once the second finds the first.
 */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { digestOf } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import { lineOf } from '../pure/goal/child-start.js';
import { checkIdentifiers } from './bounds.js';
import { holdEffects, rowsOf, type Db } from './database.js';

export interface FamilyQuery {
  readonly tenant: string;
  readonly runId: string;
  /** The call's own key. */
  readonly key: string;
  readonly tool: string;
  /** Of tool, version and arguments. */
  readonly argsDigest: string;
  /** Of the arguments alone. */
  readonly plainDigest: string;
  readonly limit: number;
}

export interface ForkFamily {
  /**
   * Of a fork, or of a run below one: calls of this tool with these arguments that any run of the family handed over, newest
   * first. Of any other run none. Call it inside the transaction of the claim.
   */
  handedOverInFamily(query: FamilyQuery): Promise<readonly EarlierEffect[]>;
}

export function forkFamily(db: Db): ForkFamily {
  return {
    async handedOverInFamily(query) {
      const { tenant, runId, key, tool, argsDigest, plainDigest } = query;
      checkIdentifiers({ tenant, runId, key, tool, argsDigest, plainDigest });
      const top = await topOfFamily(db, tenant, runId);
      if (top === undefined) return [];
      await holdEffects(db, tenant, tool);
      const { limit } = query;
      const values = { tenant, top, key, tool, argsDigest };
      const same = await rowsOf<FoundCall>(db, SAME, { ...values, plainDigest, limit });
      const untold = await rowsOf<FoundCall>(db, UNTOLD, { ...values, limit: UNTOLD_MAX + 1 });
      return [...same, ...(await perhapsSame(db, query, untold))]
        .toSorted(newestFirst)
        .slice(0, limit)
        .map((row) => earlierOf(row, tool));
    },
  };
}

/** Roots above roots: more were never written, and rows that go round in a circle end here. */
const ROOTS_MAX = 1_000;

/** The run above all of a fork's family; undefined: the run has nothing of a fork. */
export async function topOfFamily(
  db: Db,
  tenant: string,
  runId: string,
): Promise<string | undefined> {
  let top: string | undefined;
  for (let n = 0; n < ROOTS_MAX; n += 1) {
    const root = await rootAbove(db, tenant, top ?? runId);
    if (root === undefined || root === top) break;
    top = root;
  }
  // Older releases took a run inside a tree for the root.
  return top === undefined ? undefined : lineOf(top).at(-1);
}

/** Of the nearest fork that the run is, or is below. */
async function rootAbove(db: Db, tenant: string, runId: string): Promise<string | undefined> {
  const line = lineOf(runId);
  const found = await db
    .selectFrom('forks')
    .select(['run_id', 'root'])
    .where('tenant', '=', tenant)
    .where('run_id', 'in', line)
    .execute();
  const roots = new Map(found.map((row) => [row.run_id, row.root]));
  return roots.get(line.find((id) => roots.has(id)) ?? '');
}

// ';' comes behind ':': what lies between begins with the id of the run and a colon.
export const MEMBERS = `
  with recursive forked(id) as (
    select cast(@top as text)
    union select root from forks where tenant = @tenant and root = @top
    union select forks.run_id from forks join forked
      on forks.root = forked.id or (forks.root > forked.id || ':' and forks.root < forked.id || ';')
      where forks.tenant = @tenant
  ),
  members(id) as (
    select id from forked
    union select parent from forks where tenant = @tenant and run_id in (select id from forked)
    union select root from forks where tenant = @tenant and run_id in (select id from forked)
    union select children.child from children join members on children.parent = members.id
      where children.tenant = @tenant
  ),`;

// Of a row of the ledger: a fork was told what became of a call of the recorded run, and never claimed that call under this
// key of its own. A copy of the store that took its place may have lost a claim.
export const TOLD: string = `(ledger.claimed_until = 0
  and ledger.run_id in (select run_id from forks where tenant = @tenant)
  and not exists (select 1 from recorded_calls told where told.tenant = @tenant
    and told.run_id = ledger.run_id and told.key = ledger.key)
  and not exists (select 1 from store_identity where epoch > 1))`;

export const IS_TOLD: string = `case when ${TOLD} then 1 else 0 end`;

// Of a row of `calls`: a call of its own, the word that it happened, or a word where nothing else of the same call is known.
export const COUNTS: string = `(calls.told = 0 or calls.state = 'recorded'
  or not exists (select 1 from calls made where made.told = 0 and made.tool = calls.tool
    and (made.args_digest = calls.args_digest or made.plain_digest = calls.plain_digest)))`;

/** What the ledger has of a call says more than the record, whose runs this store need not know. */
const CALLS = `${MEMBERS}
  calls as (
    select ledger.key, ledger.run_id, ledger.tool, ledger.state, ${IS_TOLD} as told,
      coalesce(recorded_calls.at, ledger.claimed_until) as at, ledger.args_digest,
      coalesce(ledger.plain_digest, recorded_calls.plain_digest) as plain_digest
    from ledger left join recorded_calls on recorded_calls.tenant = ledger.tenant
      and recorded_calls.run_id = ledger.run_id and recorded_calls.key = ledger.key
    where ledger.tenant = @tenant and ledger.tool = @tool and ledger.key <> @key
      and ledger.run_id in (select id from members)
    union all
    select key, run_id, tool, case done when 1 then 'recorded' else 'handed_over' end as state, 0 as told,
      at, args_digest, plain_digest
    from recorded_calls
    where tenant = @tenant and tool = @tool and key <> @key
      and exists (select 1 from members where members.id = recorded_calls.run_id
        or substr(recorded_calls.run_id, 1, length(members.id) + 1) = members.id || ':')
      and not exists (select 1 from ledger
        where ledger.tenant = recorded_calls.tenant and ledger.key = recorded_calls.key)
  )
  select key, run_id, state, at from calls where ${COUNTS} and`;

const NEWEST = `order by at desc, key limit @limit`;

const SAME = `${CALLS} (args_digest = @argsDigest or plain_digest = @plainDigest) ${NEWEST}`;

/** Rows of older releases, and of workers of theirs: the digest of another version tells nothing of the arguments. */
const UNTOLD = `${CALLS} args_digest <> @argsDigest and plain_digest is null ${NEWEST}`;

/** A row of the ledger, or of a record. */
export interface FoundCall {
  readonly key: string;
  readonly run_id: string;
  readonly state: string;
  readonly at: number;
}

const UNTOLD_MAX = 200;
const RUNS_MAX = 20;
const STARTS_MAX = 1_000;

/** Those of which no event says that the arguments were others. */
async function perhapsSame(
  db: Db,
  { tenant, tool, plainDigest }: FamilyQuery,
  untold: readonly FoundCall[],
): Promise<readonly FoundCall[]> {
  const runs = [...new Set(untold.map((row) => row.run_id))].slice(0, RUNS_MAX);
  const told = new Map<string, boolean>();
  for (const runId of runs) {
    for (const { key, args } of await startsIn(db, { tenant, runId, tool })) {
      const place = JSON.stringify([runId, key]);
      told.set(place, told.get(place) === true || digestOf(args) === plainDigest);
    }
  }
  // One more than is looked at stands for all that follow.
  return untold.filter(
    (row, n) => n >= UNTOLD_MAX || told.get(JSON.stringify([row.run_id, row.key])) !== false,
  );
}

const STARTS = `
  select body from events where tenant = @tenant and run_id = @runId
    and body like '%"type":"tool_started"%' and body like @pattern escape '!'
  order by seq desc limit @limit`;

async function startsIn(
  db: Db,
  of: { readonly tenant: string; readonly runId: string; readonly tool: string },
) {
  const named = `"tool":${JSON.stringify(of.tool)}`.replaceAll(/[!%_]/g, '!$&');
  const values = { tenant: of.tenant, runId: of.runId, pattern: `%${named}%`, limit: STARTS_MAX };
  const rows = await rowsOf<{ readonly body: string }>(db, STARTS, values);
  return rows.flatMap(({ body }) => {
    const event = JSON.parse(body) as RunEvent;
    return event.type === 'tool_started' && event.tool === of.tool ? [event] : [];
  });
}

const STATES: { readonly [state: string]: EarlierEffect['state'] } = {
  claimed: 'under_way',
  recorded: 'done',
};

export function earlierOf(row: FoundCall, tool: string): EarlierEffect {
  return {
    key: row.key,
    runId: row.run_id,
    tool,
    at: Number(row.at),
    state: STATES[row.state] ?? 'in_doubt',
    approvedBy: [],
  };
}

function newestFirst(one: FoundCall, other: FoundCall): number {
  return Number(other.at) - Number(one.at) || (one.key < other.key ? -1 : 1);
}
