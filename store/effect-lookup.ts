/**
 * Looking at what was done for business objects (effects.ts writes it): by the guard before a claim, and by
 * people afterwards.
 * Invariant: what is known not to have happened is left out, and nothing else.
 */
import { createHash } from 'node:crypto';
import type { EarlierEffect, Identity } from '../core/controls/repeats.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import { rowsOf, type Db } from './database.js';
import type { EffectTable } from './schema.js';

export interface EarlierQuery {
  readonly tenant: string;
  readonly tool: string;
  readonly identity: Identity;
  /** The call that is about to run: what it did itself is not earlier. Absent: it has no key yet. */
  readonly key?: string;
  /** ms since epoch. */
  readonly since: number;
  readonly limit: number;
}

/** An effect on a business object, as people look it up. */
export interface EffectRow extends EarlierEffect {
  readonly toolVersion: string;
  readonly agent: string;
  readonly caller?: string;
  readonly identity: Identity;
  readonly customer?: string;
  readonly reference: string;
}

// What the ledger calls void after a claim may have happened, as long as nobody has released it.
const EARLIER = `
  select e.key, e.run_id, e.tool, e.claimed_at, e.amount, e.approved_json, l.state
  from effects e join ledger l on l.tenant = e.tenant and l.key = e.key
  where e.tenant = @tenant and e.tool = @tool and e.identity = @identity and e.key <> @key
    and e.claimed_at >= @since and e.released = 0
  order by e.claimed_at desc, e.key limit @limit`;

/** No call has it. */
const NO_KEY = '';

type EarlierRow = Pick<
  EffectTable,
  'key' | 'run_id' | 'tool' | 'claimed_at' | 'amount' | 'approved_json'
> & { readonly state: string };

export async function earlierEffects(
  db: Db,
  query: EarlierQuery,
): Promise<readonly EarlierEffect[]> {
  const { tenant, tool, key, since } = query;
  checkIdentifiers({ tenant, tool, ...(key !== undefined && { key }) });
  const identity = identityDigest(query.identity);
  const limit = listLimit(query.limit);
  const values = { tenant, tool, key: key ?? NO_KEY, since, identity, limit };
  return (await rowsOf<EarlierRow>(db, EARLIER, values)).map(earlierOf);
}

function earlierOf(row: EarlierRow): EarlierEffect {
  return {
    key: row.key,
    runId: row.run_id,
    tool: row.tool,
    at: row.claimed_at,
    state: STATES[row.state] ?? 'in_doubt',
    ...(row.amount === null ? {} : { amount: row.amount }),
    approvedBy: JSON.parse(row.approved_json) as readonly string[],
  };
}

const STATES: { readonly [state: string]: EarlierEffect['state'] } = {
  claimed: 'under_way',
  recorded: 'done',
  void: 'in_doubt',
};

const LIST = `
  select e.*, l.state, r.agent, r.caller
  from effects e
    join ledger l on l.tenant = e.tenant and l.key = e.key
    left join runs r on r.tenant = e.tenant and r.run_id = e.run_id
  where e.tenant = @tenant and e.released = 0 and e.key in (
    select s.key from effect_subjects s
    where s.tenant = @tenant and s.subject in (@subject, @asGiven))
  order by e.claimed_at desc, e.key limit @limit`;

type ListedRow = EffectTable & {
  readonly state: string;
  readonly agent: string | null;
  readonly caller: string | null;
};

export async function listEffects(
  db: Db,
  tenant: string,
  { subject, limit = Infinity }: { readonly subject: string; readonly limit?: number },
): Promise<readonly EffectRow[]> {
  checkIdentifiers({ tenant, subject });
  const rows = await rowsOf<ListedRow>(db, LIST, {
    tenant,
    subject: subject.normalize('NFC'),
    // Releases before this one noted texts as tools gave them.
    asGiven: subject,
    limit: listLimit(limit),
  });
  return rows.map((row) => ({
    ...earlierOf(row),
    toolVersion: row.tool_version,
    agent: row.agent ?? '',
    ...(row.caller === null ? {} : { caller: row.caller }),
    identity: JSON.parse(row.identity_json) as Identity,
    ...(row.customer === null ? {} : { customer: row.customer }),
    reference: row.reference,
  }));
}

/** Any list of texts as one short text; no two lists share it. */
export function identityDigest(identity: Identity): string {
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}
