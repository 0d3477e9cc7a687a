/**
 * The audit trail's table (pure/audit.ts). It is only ever added to.
 * Invariant: rows of a tenant are numbered without gaps and chained in the order of their commits, whoever
 * writes them.
 */
import {
  chained,
  emptyHead,
  type AuditEntry,
  type AuditHead,
  type AuditKind,
  type AuditRow,
} from '../pure/audit.js';
import type { Json } from '../core/json/json.js';
import {
  checkIdentifiers,
  checkWholeNumbers,
  LIST_ROWS_MAX,
  listLimit,
  wellFormed,
} from './bounds.js';
import {
  atEnd,
  change,
  holdAudit,
  immediate,
  lastStepsOf,
  rowsOf,
  type Db,
  type LastSteps,
} from './database.js';
import type { AuditTable } from './schema.js';
import { isToldBefore, isWritten } from './told-before.js';

/** Most entries of one call. */
const APPEND_AUDIT_MAX = 1_000;
const FACTS_CHARS_MAX = 8_192;

export interface AuditQuery {
  /** Rows after this number; default: all, also those whose number nobody here would have given. */
  readonly after?: number;
  readonly limit: number;
  readonly runId?: string;
  readonly askId?: string;
  readonly kind?: AuditKind;
}

export interface EntryToAppend extends AuditEntry {
  /** An earlier write of it was left without an answer: the row may be there. */
  readonly sentBefore?: true;
}

export interface Audit {
  /** Adds entries, in order; in a transaction as the last thing that it does. */
  appendAudit(tenant: string, entries: readonly EntryToAppend[]): Promise<void>;
  /** In order, at most LIST_ROWS_MAX. */
  readAudit(tenant: string, query: AuditQuery): Promise<readonly AuditRow[]>;
  auditHead(tenant: string): Promise<AuditHead>;
  /** What it says last of this attempt of a call; undefined: nothing started on a person's word. */
  lastOnEffect(tenant: string, effect: AuditedEffect): Promise<AuditRow | undefined>;
}

export interface AuditedEffect {
  readonly runId: string;
  readonly key: string;
  readonly argsHash: string;
  readonly attempt: number;
}

export function audit(db: Db): Audit {
  return {
    async appendAudit(tenant, entries) {
      checkIdentifiers({ tenant });
      await immediate(db, async (tx) => appendEntries(tx, tenant, entries));
    },
    async readAudit(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectRows(db, tenant, query).execute()).map(auditRow);
    },
    async auditHead(tenant) {
      checkIdentifiers({ tenant });
      return headOf(db, tenant);
    },
    async lastOnEffect(tenant, effect) {
      checkIdentifiers({ tenant, runId: effect.runId });
      return lastOnEffect(db, tenant, effect);
    },
  };
}

/**
 * The same within a write transaction, at its end: whoever held the trail and then waited for something else
 * could meet somebody who has that and waits for the trail.
 */
export function appendEntries(tx: Db, tenant: string, entries: readonly EntryToAppend[]): void {
  if (entries.length === 0) return;
  const waiting = waitingIn(tx);
  const before = waiting.get(tenant);
  const added = entries.slice(0, APPEND_AUDIT_MAX);
  if (before !== undefined) return void before.push(...added);
  waiting.set(tenant, [...added]);
  atEnd(tx, async () => {
    const all = waiting.get(tenant) ?? [];
    waiting.delete(tenant);
    await chainEntries(tx, tenant, all);
  });
}

/** Entries by their tenant: those of one transaction are chained together. */
type Waiting = Map<string, EntryToAppend[]>;
const waitingOf = new WeakMap<LastSteps, Waiting>();

function waitingIn(tx: Db): Waiting {
  const steps = lastStepsOf(tx);
  const waiting = waitingOf.get(steps) ?? new Map();
  waitingOf.set(steps, waiting);
  return waiting;
}

const APPEND = `
  insert into audit (tenant, seq, at, kind, by_whom, run_id, ask_id, facts_json, prev_hash, hash)
  values (@tenant, @seq, @at, @kind, @by_whom, @run_id, @ask_id, @facts_json, @prev_hash, @hash)`;

async function chainEntries(
  tx: Db,
  tenant: string,
  entries: readonly EntryToAppend[],
): Promise<void> {
  await holdAudit(tx, tenant);
  let head = await headOf(tx, tenant);
  for (const { sentBefore, ...given } of entries) {
    const entry = storable(given);
    if (await isToldBefore(tx, tenant, entry)) continue;
    if (sentBefore && (await isWritten(tx, head, entry))) continue;
    const row = chained(head, entry);
    await change(tx, APPEND, { ...tableRow(row) });
    head = { tenant, seq: row.seq, hash: row.hash };
  }
}

/** As the database will give it back: what is hashed is what is read. */
function storable({ by, runId, askId, facts, ...entry }: AuditEntry): AuditEntry {
  const text = wellFormed(JSON.stringify(facts));
  const short = text.length <= FACTS_CHARS_MAX ? text : JSON.stringify({ tooLarge: text.length });
  return {
    ...entry,
    ...(by !== undefined && { by: named(by) }),
    ...(runId !== undefined && { runId: named(runId) }),
    ...(askId !== undefined && { askId: named(askId) }),
    facts: JSON.parse(short) as AuditEntry['facts'],
  };
}

const NAME_CHARS_MAX = 400;

function named(text: string): string {
  return wellFormed(text.slice(0, NAME_CHARS_MAX)).replaceAll('\0', '\uFFFD');
}

/** A run waits for what is in doubt: its newest rows are enough. */
async function lastOnEffect(
  db: Db,
  tenant: string,
  { runId, key, argsHash, attempt }: AuditedEffect,
): Promise<AuditRow | undefined> {
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('run_id', '=', runId)
    .where('kind', 'in', ['effect_started', 'effect_ended'])
    .orderBy('seq', 'desc')
    .limit(LIST_ROWS_MAX)
    .execute();
  return rows
    .map(auditRow)
    .find(
      ({ facts }) => facts.key === key && facts.argsHash === argsHash && facts.attempt === attempt,
    );
}

const HEAD = `select seq, hash from audit where tenant = @tenant order by seq desc limit 1`;

async function headOf(db: Db, tenant: string): Promise<AuditHead> {
  const [newest] = await rowsOf<Pick<AuditTable, 'seq' | 'hash'>>(db, HEAD, { tenant });
  return newest === undefined ? emptyHead(tenant) : { tenant, ...newest };
}

function selectRows(db: Db, tenant: string, { after, limit, runId, askId, kind }: AuditQuery) {
  let rows = db.selectFrom('audit').selectAll().where('tenant', '=', tenant);
  if (after !== undefined) {
    checkWholeNumbers({ after });
    rows = rows.where('seq', '>', after);
  }
  if (runId !== undefined) rows = rows.where('run_id', '=', runId);
  if (askId !== undefined) rows = rows.where('ask_id', '=', askId);
  if (kind !== undefined) rows = rows.where('kind', '=', kind);
  return rows.orderBy('seq').limit(listLimit(limit));
}

function tableRow(row: AuditRow): AuditTable {
  return {
    tenant: row.tenant,
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    by_whom: row.by ?? null,
    run_id: row.runId ?? null,
    ask_id: row.askId ?? null,
    facts_json: JSON.stringify(row.facts),
    prev_hash: row.prev,
    hash: row.hash,
  };
}

function auditRow(row: AuditTable): AuditRow {
  return {
    tenant: row.tenant,
    seq: row.seq,
    at: row.at,
    // Rows that somebody has tampered with must be readable, too: their hash tells.
    kind: row.kind as AuditKind,
    ...(row.by_whom !== null && { by: row.by_whom }),
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.ask_id !== null && { askId: row.ask_id }),
    facts: factsOf(row.facts_json),
    prev: row.prev_hash,
    hash: row.hash,
  };
}

/**
 * Of a text that is not letter by letter what `tableRow` writes, the text itself: what another reader would
 * make of it (the first of two equal names, say) was never hashed.
 */
function factsOf(text: string): { readonly [name: string]: Json } {
  try {
    const facts = JSON.parse(text) as { readonly [name: string]: Json };
    if (JSON.stringify(facts) === text) return facts;
  } catch {
    // No JSON at all.
  }
  return { unreadable: String(text).slice(0, FACTS_CHARS_MAX) };
}
