/** Reading the projected table of questions to people. `projection` alone writes it. */
import type { AskOutcome } from '../core/state/ask-kinds.js';
import type { AskView } from '../core/state/ask-view.js';
import { searchPattern } from './ask-search.js';
import { checkIdentifiers, checkWholeNumbers, listLimit } from './bounds.js';
import type { Db } from './database.js';
import { sql } from './query-builder.js';
import type { AskTable } from './schema.js';
import {
  isUnder,
  placeColumns,
  shownPlace,
  type PlaceColumns,
  type ShownPlace,
} from './tree-place.js';

export interface AskRow extends AskView, ShownPlace {
  readonly tenant: string;
  readonly runId: string;
  readonly outcome: AskOutcome;
  /** Who decided; empty while pending, expired or withdrawn. */
  readonly by: readonly string[];
  readonly reason?: string;
  readonly resolvedAt?: number;
}

/** Which questions. */
export interface AsksFilter {
  readonly runId?: string;
  /** Of this run and of the sub-agents below it. */
  readonly under?: string;
  readonly pendingOnly?: boolean;
  /** Decided, expired or withdrawn. */
  readonly endedOnly?: boolean;
  /** Absent: of every kind. */
  readonly kinds?: readonly AskRow['kind'][];
  /** Stands somewhere in the question, its arguments or its ids (ask-search.ts); case does not matter. */
  readonly search?: string;
}

export interface AsksQuery extends AsksFilter {
  readonly limit: number;
  /** Default: the oldest first. */
  readonly newestFirst?: boolean;
  /** The last row of the page before. */
  readonly after?: { readonly openedAt: number; readonly askId: string };
}

export interface Asks {
  /** At most LIST_ROWS_MAX. */
  listAsks(tenant: string, query: AsksQuery): Promise<readonly AskRow[]>;
  countAsks(tenant: string, filter: AsksFilter): Promise<number>;
  /**
   * Should two runs share an ask id (ids are joined with colons, which run ids may contain), the pending
   * one, else the newest.
   */
  getAsk(tenant: string, askId: string): Promise<AskRow | undefined>;
  /** Questions of the run that were open before the event with this number, the oldest first. */
  asksOpenAt(at: {
    readonly tenant: string;
    readonly runId: string;
    readonly seq: number;
  }): Promise<readonly AskView[]>;
  /** Number of the event before the one that asked; 0: the question is not there. */
  openedSeq(ask: Pick<AskRow, 'tenant' | 'runId' | 'askId'>): Promise<number>;
}

export function asks(db: Db): Asks {
  return {
    async listAsks(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectAsks(db, tenant, query).execute()).map(askRow);
    },
    async countAsks(tenant, filter) {
      checkIdentifiers({ tenant });
      const counted = await chosen(db, tenant, filter)
        .select((eb) => eb.fn.countAll().as('rows'))
        .executeTakeFirst();
      return Number(counted?.rows ?? 0);
    },
    async getAsk(tenant, askId) {
      checkIdentifiers({ tenant, askId });
      const row = await db
        .selectFrom('asks')
        .select(ASK_COLUMNS)
        .select(placeColumns('asks'))
        .where('tenant', '=', tenant)
        .where('ask_id', '=', askId)
        .orderBy((eb) => eb.case().when('outcome', '=', 'pending').then(0).else(1).end())
        .orderBy('opened_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : askRow(row);
    },
    async asksOpenAt({ tenant, runId, seq }) {
      checkIdentifiers({ tenant, runId });
      const rows = await db
        .selectFrom('asks')
        .select('view_json')
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .where('opened_seq', '<', seq)
        .where((eb) => eb.or([eb('closed_seq', 'is', null), eb('closed_seq', '>=', seq)]))
        .orderBy('opened_seq')
        .limit(listLimit(Number.POSITIVE_INFINITY))
        .execute();
      return rows.map((row) => JSON.parse(row.view_json) as AskView);
    },
    async openedSeq({ tenant, runId, askId }) {
      checkIdentifiers({ tenant, runId, askId });
      const row = await db
        .selectFrom('asks')
        .select('opened_seq')
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .where('ask_id', '=', askId)
        .executeTakeFirst();
      return Math.max(0, Number(row?.opened_seq ?? 0) - 1);
    },
  };
}

/** The rows of a filter, before anything of them is selected. */
function chosen(
  db: Db,
  tenant: string,
  { runId, under, pendingOnly, endedOnly, kinds, search }: AsksFilter,
) {
  let rows = db.selectFrom('asks').where('tenant', '=', tenant);
  if (runId !== undefined) rows = rows.where('run_id', '=', runId);
  if (under !== undefined) rows = rows.where(isUnder(tenant, under));
  if (pendingOnly === true) rows = rows.where('outcome', '=', 'pending');
  if (endedOnly === true) rows = rows.where('outcome', '!=', 'pending');
  // An empty list of values is no SQL that PostgreSQL knows.
  if (kinds !== undefined) {
    rows = kinds.length === 0 ? rows.where(sql<boolean>`1 = 0`) : rows.where('kind', 'in', kinds);
  }
  if (search !== undefined) {
    const pattern = searchPattern(search);
    rows = rows.where(
      sql<boolean>`(search_text like ${pattern} escape '!' or search_text = ''
        and upper(run_id || ' ' || view_json) like ${pattern} escape '!')`,
    );
  }
  return rows;
}

function selectAsks(
  db: Db,
  tenant: string,
  { limit, after, newestFirst = false, ...filter }: AsksQuery,
) {
  const [beyond, order] = newestFirst ? (['<', 'desc'] as const) : (['>', 'asc'] as const);
  let rows = chosen(db, tenant, filter).select(ASK_COLUMNS).select(placeColumns('asks'));
  if (after !== undefined) {
    const { openedAt, askId } = after;
    checkWholeNumbers({ openedAt });
    rows = rows.where((eb) =>
      eb.or([
        eb('opened_at', beyond, openedAt),
        eb.and([eb('opened_at', '=', openedAt), eb('ask_id', beyond, askId)]),
      ]),
    );
  }
  return rows.orderBy('opened_at', order).orderBy('ask_id', order).limit(listLimit(limit));
}

/** Without what only a search looks at. */
export const ASK_COLUMNS = [
  'tenant',
  'run_id',
  'ask_id',
  'kind',
  'opened_at',
  'opened_seq',
  'view_json',
  'outcome',
  'by_json',
  'reason',
  'resolved_at',
  'closed_seq',
] as const satisfies readonly (keyof AskTable)[];

type Selected = Pick<AskTable, (typeof ASK_COLUMNS)[number]>;

export function askRow(row: Selected & Partial<PlaceColumns>): AskRow {
  return {
    ...(JSON.parse(row.view_json) as AskView),
    tenant: row.tenant,
    runId: row.run_id,
    ...shownPlace(row),
    outcome: row.outcome as AskOutcome,
    by: JSON.parse(row.by_json) as readonly string[],
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.resolved_at === null ? {} : { resolvedAt: row.resolved_at }),
  };
}
