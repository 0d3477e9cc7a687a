/**
 * Closed histories of runs, kept beyond Temporal's retention for replay.
 * Invariant: one row per segment and execution, compressed, never changed.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { checkIdentifiers, LIST_ROWS_MAX } from './bounds.js';
import type { Db } from './database.js';
import type { HistoryTable } from './schema.js';

/** Largest history that is unpacked, in bytes (Temporal's own limit is 50 MiB). */
const HISTORY_BYTES_MAX = 256 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export interface ArchivedHistory {
  /** From 0; grows with each continue-as-new. */
  readonly segment: number;
  /** Temporal run id. */
  readonly execution: string;
  readonly history: Uint8Array;
}

export interface Histories {
  /** Idempotent: the first archive of a segment and execution stays. */
  archiveHistory(
    archive: ArchivedHistory & { readonly tenant: string; readonly runId: string },
  ): Promise<void>;
  /** By segment, at most LIST_ROWS_MAX. After a reset a segment has several executions. */
  readHistories(tenant: string, runId: string): Promise<readonly ArchivedHistory[]>;
  /** One of them; undefined: it is not archived. */
  readHistory(execution: Execution): Promise<ArchivedHistory | undefined>;
}

export interface Execution {
  readonly tenant: string;
  readonly runId: string;
  /** Temporal run id. */
  readonly execution: string;
}

export function histories(db: Db): Histories {
  return {
    async archiveHistory({ tenant, runId, segment, execution, history }) {
      checkIdentifiers({ tenant, runId, execution });
      const packed = await compress(history);
      await db
        .insertInto('histories')
        .values({ tenant, run_id: runId, segment, execution, gzip: packed })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async readHistories(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      const rows = await db
        .selectFrom('histories')
        .select(['segment', 'execution', 'gzip'])
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .orderBy('segment')
        .orderBy('execution')
        .limit(LIST_ROWS_MAX)
        .execute();
      return Promise.all(rows.map(unpacked));
    },
    async readHistory({ tenant, runId, execution }) {
      checkIdentifiers({ tenant, runId, execution });
      const row = await db
        .selectFrom('histories')
        .select(['segment', 'execution', 'gzip'])
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .where('execution', '=', execution)
        .orderBy('segment')
        .executeTakeFirst();
      return row === undefined ? undefined : unpacked(row);
    },
  };
}

type PackedHistory = Pick<HistoryTable, 'segment' | 'execution' | 'gzip'>;

async function unpacked({
  segment,
  execution,
  gzip: packed,
}: PackedHistory): Promise<ArchivedHistory> {
  const history = await decompress(packed, { maxOutputLength: HISTORY_BYTES_MAX });
  return { segment, execution, history };
}
