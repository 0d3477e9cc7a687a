/**
 * Chunks of streams in the order in which they were written to a SQLite database, whoever wrote them: one query
 * for all readers of this process, instead of one for each of them.
 * Invariant: a hint, as all changes are. What was skipped is in the store, and a reader that misses it looks there.
 */
import type { WrittenChunk } from '../changes.js';
import { rowsOf, type Db } from '../database.js';
import type { StreamChunkTable } from '../schema.js';
import { batchOf } from '../streams.js';

/** Chunks of one look; after a longer pause readers look into the store. */
const ROWS_MAX = 500;
/** Longer ones are left to those who want them. */
const TEXT_MAX = 64 * 1024;

const LAST = 'select max(rowid) as position from stream_chunks';

const NEWER = `
  select tenant, run_id, fence, first, count, call, attempt, message_id,
    case when length(entries_json) <= ${TEXT_MAX} then entries_json end as entries_json
  from stream_chunks where rowid > @after and rowid <= @last order by rowid limit ${ROWS_MAX + 1}`;

type Row = Omit<StreamChunkTable, 'entries_json'> & { readonly entries_json: string | null };

export interface ChunkTail {
  /** What was written since the last call; nothing of it when nobody `isWanted`. */
  next(isWanted: boolean): Promise<readonly WrittenChunk[]>;
}

export function chunkTail(db: Db): ChunkTail {
  let position: number | undefined;
  return {
    async next(isWanted) {
      const [row] = await rowsOf<{ readonly position: number | null }>(db, LAST, {});
      const last = row?.position ?? 0;
      const after = position;
      position = last;
      // SQLite numbers from the start again when all rows were removed.
      if (!isWanted || after === undefined || last <= after) return [];
      const rows = await rowsOf<Row>(db, NEWER, { after, last });
      return rows.length > ROWS_MAX ? [] : rows.map(written);
    },
  };
}

function written(row: Row): WrittenChunk {
  const { tenant, run_id: runId, entries_json: text } = row;
  const batch = () => (text === null ? undefined : batchOf({ ...row, entries_json: text }));
  return { tenant, runId, batch };
}
