/** Reading the projected table of questions to people. `projection` alone writes it. */
import type { AskOutcome } from '../core/ask/ask.js';
import type { AskView } from '../core/event.js';
import { checkIdentifiers, listLimit } from './bounds.js';
import type { Db } from './database.js';
import type { AskTable } from './schema.js';

export interface AskRow extends AskView {
  readonly tenant: string;
  readonly runId: string;
  readonly outcome: AskOutcome;
  /** Who decided; empty while pending, expired or withdrawn. */
  readonly by: readonly string[];
  readonly reason?: string;
  readonly resolvedAt?: number;
}

export interface AsksQuery {
  readonly runId?: string;
  readonly pendingOnly?: boolean;
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: { readonly openedAt: number; readonly askId: string };
}

export interface Asks {
  /** Oldest first, at most LIST_ROWS_MAX. */
  listAsks(tenant: string, query: AsksQuery): Promise<readonly AskRow[]>;
  /**
   * Should two runs share an ask id (ids are joined with colons, which run ids may contain), the pending
   * one, else the newest.
   */
  getAsk(tenant: string, askId: string): Promise<AskRow | undefined>;
}

export function asks(db: Db): Asks {
  return {
    async listAsks(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectAsks(db, tenant, query).execute()).map(askRow);
    },
    async getAsk(tenant, askId) {
      checkIdentifiers({ tenant, askId });
      const row = await db
        .selectFrom('asks')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('ask_id', '=', askId)
        .orderBy((eb) => eb.case().when('outcome', '=', 'pending').then(0).else(1).end())
        .orderBy('opened_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : askRow(row);
    },
  };
}

function selectAsks(db: Db, tenant: string, { runId, pendingOnly, limit, after }: AsksQuery) {
  let rows = db.selectFrom('asks').selectAll().where('tenant', '=', tenant);
  if (runId !== undefined) rows = rows.where('run_id', '=', runId);
  if (pendingOnly === true) rows = rows.where('outcome', '=', 'pending');
  if (after !== undefined) {
    const { openedAt, askId } = after;
    rows = rows.where((eb) =>
      eb.or([
        eb('opened_at', '>', openedAt),
        eb.and([eb('opened_at', '=', openedAt), eb('ask_id', '>', askId)]),
      ]),
    );
  }
  return rows.orderBy('opened_at').orderBy('ask_id').limit(listLimit(limit));
}

function askRow(row: AskTable): AskRow {
  return {
    ...(JSON.parse(row.view_json) as AskView),
    tenant: row.tenant,
    runId: row.run_id,
    outcome: row.outcome as AskOutcome,
    by: JSON.parse(row.by_json) as readonly string[],
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.resolved_at === null ? {} : { resolvedAt: row.resolved_at }),
  };
}
