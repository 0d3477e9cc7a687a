/** Entries of the audit trail that are there already. Both look within the transaction that holds the trail. */
import type { AuditEntry, AuditHead, AuditKind } from '../pure/audit.js';
import { rowsOf, type Db } from './database.js';
import type { AuditTable } from './schema.js';

const TOLD = `
  select by_whom, facts_json from audit
  where tenant = @tenant and ask_id = @askId and kind = @kind and run_id = @runId`;

/** What both the sender of a decision and the run's event may tell. */
const TOLD_TWICE: readonly AuditKind[] = ['decided', 'decision_refused'];

/**
 * A decision that its sender has written is not written again from the run's event, nor the other way round: while the
 * store is away the run tells it, and its sender may send it again when the store is back. The same of its refusal.
 */
export async function isToldBefore(tx: Db, tenant: string, entry: AuditEntry): Promise<boolean> {
  const { kind, runId, askId, by = null, facts } = entry;
  if (!TOLD_TWICE.includes(kind) || runId === undefined || askId === undefined) return false;
  const { nonce, event } = facts;
  if (typeof nonce !== 'string' || nonce === '') return false;
  const rows = await rowsOf<Told>(tx, TOLD, { tenant, kind, runId, askId });
  return rows.some(({ by_whom, facts_json: text }) => {
    if (by_whom !== by) return false;
    const told = JSON.parse(text) as AuditEntry['facts'];
    return told.nonce === nonce && (event !== undefined || told.event !== undefined);
  });
}

type Told = Pick<AuditTable, 'by_whom' | 'facts_json'>;

/** Newest rows among which an entry whose write had no answer is looked for. */
const NEWEST_ROWS = 10_000;

const WRITTEN = `
  select 1 from audit
  where tenant = @tenant and seq > @from and at = @at and kind = @kind and facts_json = @facts
    and coalesce(by_whom, '') = @by and coalesce(run_id, '') = @runId
    and coalesce(ask_id, '') = @askId`;

/** Whether a row says letter by letter the same, with the same time: whoever else did the same then is told by it too. */
export async function isWritten(
  tx: Db,
  { tenant, seq }: AuditHead,
  entry: AuditEntry,
): Promise<boolean> {
  const { at, kind, by = '', runId = '', askId = '', facts } = entry;
  const said = { at, kind, by, runId, askId, facts: JSON.stringify(facts) };
  return (await rowsOf(tx, WRITTEN, { tenant, from: seq - NEWEST_ROWS, ...said })).length > 0;
}
