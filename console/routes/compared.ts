/** Two runs compared by what they were given and what they decided: the same as `holdfast diff --json`. */
import { z } from 'zod';
import type { RunEvent } from '../../core/state/event.js';
import { diffOf, type ComparedRun, type Diff, type SideEntry } from '../../recording/diff.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import * as shapes from '../http/shapes.js';
import { diff } from '../http/step-shapes.js';
import { asksIn } from '../trail.js';
import { recordOf } from './steps.js';

const BYTES_MAX = 4 * 1024 * 1024;

const compareRuns = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/diff/{other}',
  name: 'compareRuns',
  summary:
    'Two runs compared: the first difference, the first decision that differs, why, and both paths from there on.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id, other: shapes.id }),
  query: z.strictObject({
    actions: z
      .enum(['true', 'false'])
      .optional()
      .describe('true: what was done is compared, not what models and tools said'),
  }),
  answers: { 200: { description: 'The comparison.', schema: diff } },
  async handle({ desk, person, params: { runId, other }, query }) {
    const compared = async (id: string): Promise<ComparedRun> => {
      const record = await recordOf(desk, person, { runId: id });
      return { runId: id, events: await record.events(), steps: record.fold.steps };
    };
    const a = await compared(runId);
    const b = await compared(other);
    const found = bounded(diffOf(a, b, { actions: query.actions === 'true' }));
    const shown = [
      ...shownOf(
        a.events,
        found.rows.map((row) => row.a),
      ),
      ...shownOf(
        b.events,
        found.rows.map((row) => row.b),
      ),
    ];
    await desk.views.note(desk, person, shown.flatMap(asksIn));
    return { status: 200, body: found };
  },
});

function shownOf(events: readonly RunEvent[], sides: readonly (SideEntry | null)[]) {
  const seqs = new Set(sides.flatMap((side) => (side === null ? [] : [side.seq])));
  return events.filter(({ stamp }) => seqs.has(stamp.seq));
}

/** Half of the rows again and again, until the rest is small enough. */
function bounded(found: Diff): Diff & { readonly rowsLeftOut?: number } {
  let rows = found.rows;
  while (rows.length > 1 && Buffer.byteLength(JSON.stringify(rows)) > BYTES_MAX) {
    rows = rows.slice(0, Math.floor(rows.length / 2));
  }
  const rowsLeftOut = found.rows.length - rows.length;
  return rowsLeftOut === 0 ? found : { ...found, rows, rowsLeftOut };
}

export const comparedEndpoints: readonly Endpoint[] = [compareRuns];
