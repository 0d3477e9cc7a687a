/**
 * Forks of recorded runs: where each began, with the state that it begins from.
 * Invariant: a row is written before its run is started, and never altered; all forks of a run, and theirs, have one root.
 */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { sha256Hex } from '../core/json/json.js';
import { checkIdentifiers } from './bounds.js';
import { immediate, rowsOf, type Db } from './database.js';

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
  /** Calls of this tool with these arguments that the recorded run, or any fork of it, handed over; newest first. */
  handedOverInFamily(query: FamilyQuery): Promise<readonly EarlierEffect[]>;
}

const FAMILY = `
  select key, run_id, state, claimed_until from ledger
  where tenant = @tenant and tool = @tool and args_digest = @argsDigest and key <> @key
    and run_id in (
      select root from forks where tenant = @tenant and run_id = @runId
      union select run_id from forks where tenant = @tenant
        and root = (select root from forks where tenant = @tenant and run_id = @runId))
  order by claimed_until desc, key limit @limit`;

interface Found {
  readonly key: string;
  readonly run_id: string;
  readonly state: string;
  readonly claimed_until: number;
}

const STATES: { readonly [state: string]: EarlierEffect['state'] } = {
  claimed: 'under_way',
  recorded: 'done',
};

export function forks(db: Db): Forks {
  return {
    async putFork({ tenant, runId, parent, step, body, at }) {
      checkIdentifiers({ tenant, runId, parent });
      const digest = sha256Hex(body);
      await immediate(db, async (tx) => {
        const root = (await rowOf(tx, tenant, parent))?.root ?? parent;
        const row = { tenant, run_id: runId, parent, root, step, digest, body, created_at: at };
        await tx.insertInto('forks').values(row).execute();
      });
      return digest;
    },
    getFork(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      return rowOf(db, tenant, runId);
    },
    async handedOverInFamily({ tenant, runId, key, tool, argsDigest, limit }) {
      checkIdentifiers({ tenant, runId, key, tool, argsDigest });
      const values = { tenant, runId, key, tool, argsDigest, limit };
      const found = await rowsOf<Found>(db, FAMILY, values);
      return found.map((row) => ({
        key: row.key,
        runId: row.run_id,
        tool,
        at: Number(row.claimed_until),
        state: STATES[row.state] ?? 'in_doubt',
        approvedBy: [],
      }));
    },
  };
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
