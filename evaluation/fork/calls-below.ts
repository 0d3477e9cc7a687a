/**
 * What the runs below a recorded run gave to executors: a live fork of that run asks before it does the same.
 * Invariant: a history is looked at by itself, and let go; what is lost of a run that a store knows is in the ledger there.
 */
import { HoldfastError } from '../../core/state/errors.js';
import {
  callsOfRuns,
  recordedCalls,
  startedOthers,
  type RecordedCall,
} from '../../recording/handed-over.js';
import type { Bundle } from '../../replay/bundle.js';
import { reading, type ExportPlace, type ReadPlace } from '../../replay/export-run.js';
import { fetchSegments } from '../../replay/fetch-segments.js';
import { DEPTH_MAX, isChildOf, MEMBERS_MAX } from '../../replay/tree.js';
import type { ChildRow } from '../../store/children.js';
import { rowsBelow } from '../../store/rows-below.js';

/**
 * Of all other runs of the file. Undefined: the file is of a run alone. Errors: `ForkRefused` where it lacks a run below this one.
 */
export function callsInFile(
  file: Pick<Bundle, 'run' | 'segments' | 'members' | 'absent'>,
  runId: string,
): readonly RecordedCall[] | undefined {
  const { members, absent = [] } = file;
  const below = new Set([runId]);
  for (const one of members ?? []) if (below.has(one.parent)) below.add(one.run.runId);
  const lost = absent.filter(({ parent }) => below.has(parent));
  if (lost.length === 0) {
    const others = [file, ...(members ?? [])].filter(({ run }) => run.runId !== runId);
    return members === undefined ? undefined : callsOfRuns(others);
  }
  const named = lost[0]!.runId.slice(0, SHOWN_CHARS);
  throw new HoldfastError(
    'ForkRefused',
    `The file has nothing of ${lost.length} of the runs below, for example ${named}.`,
    { hint: 'Fork the run itself where its store is, or play the fork dry: leave out --live.' },
  );
}

const SHOWN_CHARS = 128;

/** Of a run that a server holds. Errors: those of reading its histories, `ForkRefused` for too many runs below it. */
export async function callsBelow(
  place: ExportPlace,
  { run, segments }: Pick<Bundle, 'run' | 'segments'>,
): Promise<readonly RecordedCall[]> {
  if (!startedOthers(segments)) return [];
  const wanted = { depth: DEPTH_MAX, count: MEMBERS_MAX };
  const { rows, leftOut } = await rowsBelow(place.store, run, wanted);
  if (leftOut) {
    throw new HoldfastError('ForkRefused', `More than ${MEMBERS_MAX} runs are below the run.`, {
      hint: 'Fork one of the runs below it, or play the fork dry: leave out --live.',
    });
  }
  return reading(place, async (histories) => {
    const calls: RecordedCall[] = [];
    for (const row of rows) calls.push(...(await callsOf(histories, run.tenant, row)));
    return calls;
  });
}

/** None of a run whose history is gone, or whose id another run has: the ledger has what its own one claimed. */
async function callsOf(
  place: ReadPlace,
  tenant: string,
  { child: runId, parent }: ChildRow,
): Promise<readonly RecordedCall[]> {
  const segments = await fetchSegments(place, { tenant, runId }).catch((error: unknown) => {
    const isGone =
      error instanceof HoldfastError &&
      (error.code === 'RunNotFound' || error.code === 'HistoryMissing');
    if (!isGone) throw error;
    return [];
  });
  if (!isChildOf(segments, parent)) return [];
  return recordedCalls(segments).map((call) => ({ runId, ...call }));
}
