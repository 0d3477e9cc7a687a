/**
 * What was done for business objects, and what it has used up of the limits: one row for each execution of
 * a tool that declares either, beside its row in the ledger.
 *
 * Invariants:
 *  E1 A row is written in the transaction that claims its call; `holdEffects` comes before anything is read.
 *  E2 A total is the sum of the rows that count: all but those that are known not to have happened
 *     (`released`).
 *  E3 A release counts once, for the attempt that it names; the next attempt counts anew.
 *  Nothing is ever deleted.
 */
import type { EarlierEffect, Identity } from '../core/controls/repeats.js';
import {
  dayOf,
  NOTHING_SPENT,
  totalNames,
  type LimitScope,
  type Spending,
  type Total,
  type Totals,
} from '../core/controls/limits-across-runs.js';
import { checkIdentifiers } from './bounds.js';
import { change, holdEffects, immediate, rowsOf, type Db } from './database.js';
import {
  earlierEffects,
  identityDigest,
  listEffects,
  type EarlierQuery,
  type EffectRow,
} from './effect-lookup.js';
import type { EffectTable, EffectTotalTable } from './schema.js';

export interface EffectTarget {
  readonly tenant: string;
  readonly key: string;
  readonly runId: string;
  readonly argsDigest: string;
  readonly tool: string;
  readonly attempt: number;
}

/** A call that takes of the limits of its tool; without a key it has taken nothing yet. */
export type Spender = Pick<EffectTarget, 'tenant' | 'tool'> & { readonly key?: string };

export interface EffectInput extends EffectTarget {
  readonly toolVersion: string;
  /** When it was claimed, in ms since epoch. */
  readonly at: number;
  readonly identity?: Identity;
  /** Absent: the tool has no limits. */
  readonly spending?: Spending;
  readonly approvedBy: readonly string[];
  /** On what its permission rests: a tool, a policy or the question that was approved. */
  readonly reference: string;
}

export interface Effects {
  /** Until the transaction ends nobody else reserves for this tool. */
  holdTool(tenant: string, tool: string): Promise<void>;
  /** What counts against the limits of a tool now, without this call's own part if it has a key. */
  totalsFor(target: Spender, spending: Spending, at: number): Promise<Totals>;
  /** Effects of this tool for this identity that happened or may have; newest first. */
  earlierEffects(query: EarlierQuery): Promise<readonly EarlierEffect[]>;
  /** E1. Call it inside the transaction of the claim. */
  noteEffect(input: EffectInput): Promise<void>;
  /** E3: it is known that neither this attempt nor one before it happened. False: it does not count, or is another's. */
  releaseEffect(target: EffectTarget): Promise<boolean>;
  /** Everything that was done, or may have been, for a business object; newest first. */
  listEffects(
    tenant: string,
    query: { readonly subject: string; readonly limit?: number },
  ): Promise<readonly EffectRow[]>;
}

export function effects(db: Db): Effects {
  return {
    async holdTool(tenant, tool) {
      checkIdentifiers({ tenant, tool });
      await holdEffects(db, tenant, tool);
    },
    totalsFor: (target, spending, at) => totalsFor(db, { target, spending, at }),
    earlierEffects: (query) => earlierEffects(db, query),
    noteEffect: (input) => immediate(db, (tx) => note(tx, input)),
    releaseEffect: (target) => immediate(db, (tx) => release(tx, target)),
    listEffects: (tenant, query) => listEffects(db, tenant, query),
  };
}

const OWN = `select * from effects where tenant = @tenant and key = @key`;

async function ownRow(
  db: Db,
  { tenant, key }: Pick<EffectTarget, 'tenant' | 'key'>,
): Promise<EffectTable | undefined> {
  const [row] = await rowsOf<EffectTable>(db, OWN, { tenant, key });
  return row;
}

const TOTAL = `
  select * from effect_totals where tenant = @tenant and tool = @tool and name = @name`;

interface Wanted {
  readonly target: Spender;
  readonly spending: Spending;
  readonly at: number;
}

async function totalsFor(db: Db, { target, spending, at }: Wanted): Promise<Totals> {
  const { tenant, tool, key } = target;
  checkIdentifiers({ tenant, tool, ...(key !== undefined && { key }) });
  const own = key === undefined ? undefined : await ownRow(db, { tenant, key });
  const ownNames = own === undefined || own.released === 1 ? [] : Object.values(namesOf(own));
  const names = totalNames(spending, dayOf(at));
  const read = async (scope: LimitScope): Promise<Total> => {
    const name = names[scope];
    if (name === undefined) return NOTHING_SPENT;
    const [row] = await rowsOf<EffectTotalTable>(db, TOTAL, { tenant, tool, name });
    const { amount, count } = row ?? NOTHING_SPENT;
    const mine = ownNames.includes(name);
    return { amount: amount - (mine ? (own?.amount ?? 0) : 0), count: count - (mine ? 1 : 0) };
  };
  return {
    perCustomerAndDay: await read('perCustomerAndDay'),
    perDay: await read('perDay'),
    inAll: await read('inAll'),
  };
}

const NOTE = `
  insert into effects (tenant, key, tool, tool_version, run_id, args_digest, attempt, claimed_at,
    limited, day, amount, customer, identity, identity_json, approved_json, reference, released)
  values (@tenant, @key, @tool, @toolVersion, @runId, @argsDigest, @attempt, @at,
    @limited, @day, @amount, @customer, @identity, @identityJson, @approvedJson, @reference, 0)
  on conflict (tenant, key) do update set
    tool = excluded.tool, tool_version = excluded.tool_version, run_id = excluded.run_id,
    args_digest = excluded.args_digest, attempt = excluded.attempt,
    claimed_at = excluded.claimed_at, limited = excluded.limited, day = excluded.day,
    amount = excluded.amount, customer = excluded.customer, identity = excluded.identity,
    identity_json = excluded.identity_json, approved_json = excluded.approved_json,
    reference = excluded.reference, released = 0`;

const NOTE_SUBJECT = `
  insert into effect_subjects (tenant, subject, key) values (@tenant, @subject, @key)
  on conflict (tenant, subject, key) do nothing`;

async function note(tx: Db, input: EffectInput): Promise<void> {
  const { tenant, key, tool, runId, argsDigest, toolVersion, attempt, at, spending } = input;
  checkIdentifiers({ tenant, key, tool, runId, argsDigest, toolVersion });
  await holdEffects(tx, tenant, tool);
  const before = await ownRow(tx, input);
  if (before !== undefined && before.released === 0) await addToTotals(tx, before, -1);
  const { identity = [], approvedBy, reference } = input;
  const values = { tenant, key, tool, toolVersion, runId, argsDigest, attempt, at, reference };
  await change(tx, NOTE, {
    ...values,
    limited: spending === undefined ? 0 : 1,
    day: dayOf(at),
    amount: spending?.amount ?? null,
    customer: spending?.customer ?? null,
    identity: identity.length === 0 ? null : identityDigest(identity),
    identityJson: JSON.stringify(identity),
    approvedJson: JSON.stringify(approvedBy),
  });
  for (const subject of new Set(identity)) await change(tx, NOTE_SUBJECT, { tenant, subject, key });
  const row = await ownRow(tx, input);
  if (row !== undefined) await addToTotals(tx, row, 1);
}

const RELEASE = `
  update effects set released = 1
  where tenant = @tenant and key = @key and run_id = @runId and args_digest = @argsDigest
    and attempt <= @attempt and released = 0`;

async function release(tx: Db, target: EffectTarget): Promise<boolean> {
  const { tenant, key, runId, argsDigest, attempt, tool } = target;
  checkIdentifiers({ tenant, key, runId, argsDigest, tool });
  await holdEffects(tx, tenant, tool);
  if ((await change(tx, RELEASE, { tenant, key, runId, argsDigest, attempt })) === 0) return false;
  const row = await ownRow(tx, target);
  if (row !== undefined) await addToTotals(tx, row, -1);
  return true;
}

const ADD = `
  insert into effect_totals (tenant, tool, name, amount, count)
  values (@tenant, @tool, @name, @amount, @count)
  on conflict (tenant, tool, name) do update set
    amount = effect_totals.amount + excluded.amount, count = effect_totals.count + excluded.count`;

async function addToTotals(tx: Db, row: EffectTable, sign: 1 | -1): Promise<void> {
  const { tenant, tool } = row;
  const amount = sign * (row.amount ?? 0);
  for (const name of Object.values(namesOf(row))) {
    await change(tx, ADD, { tenant, tool, name, amount, count: sign });
  }
}

/** The totals that a row is part of. */
function namesOf({ limited, amount, customer, day }: EffectTable): ReturnType<typeof totalNames> {
  if (limited === 0) return {};
  return totalNames({ amount: amount ?? 0, ...(customer !== null && { customer }) }, day);
}
