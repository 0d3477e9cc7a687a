/** Where in the stream of a run a reader begins who does not read all of it. */
import type { StreamEntry, StreamPlace } from '../pure/stream.js';
import { checkIdentifiers } from './bounds.js';
import type { StreamOf } from './changes.js';
import { rowsOf, type Db } from './database.js';
import type { StreamChunkTable } from './schema.js';

/** Both are numbers of events. */
interface StreamSpan {
  readonly since: number;
  readonly until: number;
}

export interface StreamPlaces {
  /**
   * The newest attempt that began before the event `until`, as far as it began after the event `since`; else the first one
   * after `since`. undefined: the run has no chunks.
   */
  placeInStream(run: StreamOf, span: StreamSpan): Promise<StreamPlace | undefined>;
}

const PAGE_ROWS = 100;

/** The start of an attempt is its first chunk, or stands behind the end of the one before. */
const BEGINNINGS = `
  select fence, entries_json from stream_chunks
  where tenant = @tenant and run_id = @runId and fence < @before and first <= 1
  order by fence desc, first limit ${PAGE_ROWS}`;

type Row = Pick<StreamChunkTable, 'fence' | 'entries_json'>;

export function streamPlaces(db: Db): StreamPlaces {
  return {
    async placeInStream({ tenant, runId }, { since, until }) {
      checkIdentifiers({ tenant, runId });
      let place: StreamPlace | undefined;
      for (let before = Number.MAX_SAFE_INTEGER; ;) {
        const rows = await rowsOf<Row>(db, BEGINNINGS, { tenant, runId, before });
        for (const { fence, entries_json: json } of rows) {
          place ??= { fence: fence + 1, index: 0 };
          const eventsBefore = startIn(json);
          if (eventsBefore === undefined) continue;
          if (eventsBefore <= since) return place;
          place = { fence, index: 0 };
          if (eventsBefore <= until) return place;
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE_ROWS) return place;
        // The page may end between two rows of one attempt.
        before = last.fence + 1;
      }
    },
  };
}

function startIn(json: string): number | undefined {
  const entries = JSON.parse(json) as readonly StreamEntry[];
  return entries.find((entry) => entry.kind === 'attempt_started')?.eventsBefore;
}
