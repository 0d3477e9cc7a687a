/**
 * What the runs below a recorded run gave to executors: a live fork of that run asks before it does the same.
 * Invariant: a history is looked at by itself, and let go; what is lost of a run that a store knows is in the ledger there.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { recordedCalls, startedOthers, type RecordedCall } from '../../recording/handed-over.js';
import { lineOf } from '../../pure/goal/child-start.js';
import type { Bundle } from '../../replay/bundle.js';
import { reading, type ExportPlace, type ReadPlace } from '../../replay/export-run.js';
import { fetchSegments } from '../../replay/fetch-segments.js';
import type { TreeHead } from '../../replay/stream/run-tree.js';
import { ROOT } from '../../replay/stream/walk-bundle.js';
import { DEPTH_MAX, isChildOf, MEMBERS_MAX } from '../../replay/tree.js';
import type { ChildRow } from '../../store/children.js';
import { rowsBelow } from '../../store/rows-below.js';

/**
 * Of all other runs of the file. Undefined: the file is of a run alone. Errors: `ForkRefused` where it lacks a run of the tree, or
 * begins below another one: what that one and those beside it did is nowhere in it.
 */
export function callsInFile(
  file: Pick<Bundle, 'run' | 'segments' | 'members' | 'absent'>,
  runId: string,
): readonly RecordedCall[] | undefined {
  const segmentsOf = (member: number) =>
    (member === ROOT ? file : file.members?.[member])?.segments ?? [];
  return callsInTree(file, runId, (member) => recordedCalls(segmentsOf(member)));
}

/** The same of a tree whose histories are let go. `callsOf`: of a member by its place, or of ROOT. */
export function callsInTree(
  { run, members, absent = [] }: Pick<TreeHead, 'run' | 'members' | 'absent'>,
  runId: string,
  callsOf: (member: number) => readonly RecordedCall[],
): readonly RecordedCall[] | undefined {
  const top = lineOf(run.runId).at(-1);
  if (top !== run.runId) {
    throw lacking(
      'The file begins below another run, and has nothing of that one.',
      'Export the run above all of them, and name this one with --run.',
    );
  }
  const [lost] = absent;
  if (lost !== undefined) {
    const named = lost.runId.slice(0, SHOWN_CHARS);
    throw lacking(
      `The file has nothing of ${absent.length} of the runs of its tree, for example ${named}.`,
      'Fork the run itself where its store is.',
    );
  }
  if (members === undefined) return undefined;
  return [{ run }, ...members].flatMap((one, index) =>
    one.run.runId === runId
      ? []
      : callsOf(index + ROOT).map((call) => ({ ...call, runId: one.run.runId })),
  );
}

function lacking(message: string, hint: string): HoldfastError {
  return new HoldfastError('ForkRefused', message, {
    hint: `${hint} A dry fork needs nothing of them: leave out --live.`,
  });
}

const SHOWN_CHARS = 128;

/** Reading longer than this ends, ms: one history may take as long as its server does. */
const READING_MS = 120_000;

/**
 * Of a run that a server holds. Errors: those of reading its histories, `ForkRefused` for too many runs below it, or where reading
 * them takes longer than `limitMs` (default two minutes).
 */
export async function callsBelow(
  place: ExportPlace | ReadPlace,
  { run, segments }: Pick<Bundle, 'run' | 'segments'>,
  limitMs = READING_MS,
): Promise<readonly RecordedCall[]> {
  if (!startedOthers(segments)) return [];
  const wanted = { depth: DEPTH_MAX, count: MEMBERS_MAX };
  const store = 'archive' in place ? place.archive : place.store;
  const { rows, leftOut } = await rowsBelow(store, run, wanted);
  if (leftOut) {
    throw new HoldfastError('ForkRefused', `More than ${MEMBERS_MAX} runs are below the run.`, {
      hint: 'Fork one of the runs below it, or play the fork dry (`holdfast fork` without --live).',
    });
  }
  return reading(place, (histories) =>
    readInTime(rows, limitMs, (row) => callsOf(histories, run.tenant, row)),
  );
}

/** One after the other, so that one history is held at a time. */
export async function readInTime<Row, T>(
  rows: readonly Row[],
  limitMs: number,
  read: (row: Row) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  const deadline = performance.now() + limitMs;
  for (const [n, row] of rows.entries()) {
    if (performance.now() >= deadline) throw tooSlow(n, rows.length);
    found.push(...(await read(row)));
  }
  return found;
}

function tooSlow(read: number, all: number): HoldfastError {
  return new HoldfastError(
    'ForkRefused',
    `Reading the histories below the run takes too long: ${read} of ${all} were read.`,
    {
      hint: 'Fork one of the runs below it, or play the fork dry (`holdfast fork` without --live).',
    },
  );
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
