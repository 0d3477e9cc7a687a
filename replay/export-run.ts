/** Makes the bundle of a run, or of its whole tree: the histories, and what they refer to. */
import { codeVersion } from '../activities/run/code-version.js';
import type { PayloadCodec } from '@temporalio/common';
import { credentialsOf, type Credentials } from '../connection/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { rowsBelow } from '../store/rows-below.js';
import type { Store } from '../store/store.js';
import { connect } from '../worker/connection.js';
import { BUNDLE_BYTES_MAX, type Absent, type Bundle, type Member } from './bundle.js';
import { fetchSegments, type HistoryPlace } from './fetch-segments.js';
import { gather, gatherEvents } from './gather.js';
import { keepQuiet } from './keep-quiet.js';
import { DEPTH_MAX, MEMBERS_MAX, parentIn, type BundledRun } from './tree.js';
import { versionsOf } from './versions.js';

export interface ExportPlace extends Credentials {
  readonly address: string;
  readonly namespace: string;
  /** Those of the workers: a bundle holds payloads as they were before. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  readonly store: Store;
}

/** The run alone. Errors: `ServerUnavailable`, `RunNotFound`, `HistoryMissing`, `TranscriptMissing`, `StoreUnavailable`. */
export function exportRun(place: ExportPlace | ReadPlace, run: Bundle['run']): Promise<Bundle> {
  return reading(place, async (histories) => {
    const root = await recorded(histories, run);
    return bundleOf(histories.archive, [root]);
  });
}

/**
 * The run with all runs below it. One that has no history (any more), or whose id another run has, is noted as absent.
 * Errors: as above; `InvalidBundle` for more than a bundle holds.
 */
export function exportTree(place: ExportPlace, run: Bundle['run']): Promise<Bundle> {
  return reading(place, async (histories) => {
    const bounded = boundedPlace(histories);
    const { root, members, absent } = await recordTree(place.store, run, {
      record: (key) => recorded(bounded, key),
      parentOf: ({ segments }) => parentIn(segments[0]?.events[0]),
    });
    const bundle = await bundleOf(place.store, [root, ...members]);
    return { ...bundle, ...below(members, absent) };
  });
}

/** Of a tree that is a run alone, neither. */
export function below<T>(
  members: readonly T[],
  absent: readonly Absent[],
): { readonly members?: readonly T[]; readonly absent?: readonly Absent[] } {
  return {
    ...((members.length > 0 || absent.length > 0) && { members }),
    ...(absent.length > 0 && { absent }),
  };
}

/** Histories of a tree together are no larger than a bundle. */
export function boundedPlace<Place extends HistoryPlace>(place: Place): Place {
  let bytes = 0;
  return {
    ...place,
    heard(more) {
      bytes += more;
      if (bytes > BUNDLE_BYTES_MAX)
        throw tooMuch(`its histories have more than ${BUNDLE_BYTES_MAX} bytes`);
    },
  };
}

export interface Recording<T> {
  /** Errors: `RunNotFound`, `HistoryMissing`: there is no record. */
  record(run: Bundle['run']): Promise<T>;
  /** Run id of the run that started it, by its own history. */
  parentOf(recorded: T): string | undefined;
}

export interface RecordedTree<T> {
  readonly root: T;
  /** Each after its parent. */
  readonly members: readonly (T & Pick<Member, 'parent' | 'agentPath'>)[];
  readonly absent: readonly Absent[];
}

/** Records a run and all runs below it that the store knows. */
export async function recordTree<T extends object>(
  store: Store,
  run: Bundle['run'],
  { record, parentOf }: Recording<T>,
): Promise<RecordedTree<T>> {
  const root = await record(run);
  const members: RecordedTree<T>['members'][number][] = [];
  const absent: Absent[] = [];
  const { rows, leftOut } = await rowsBelow(store, run, { depth: DEPTH_MAX, count: MEMBERS_MAX });
  if (leftOut) throw tooMuch(`more than ${MEMBERS_MAX} runs are below it`);
  for (const { child: runId, parent, place: at } of rows) {
    const isLost = absent.some((one) => one.runId === parent);
    const member = isLost
      ? 'the run that started it is absent'
      : await record({ tenant: run.tenant, runId }).catch(whyAbsent);
    if (typeof member === 'string') absent.push({ runId, parent, reason: member });
    else if (parentOf(member) !== parent) absent.push({ runId, parent, reason: TAKEN });
    else members.push({ ...member, parent, ...(at !== undefined && { agentPath: at.path }) });
  }
  return { root, members, absent };
}

const TAKEN = 'another run has this id';
const REASON_CHARS_MAX = 500;

function whyAbsent(error: unknown): string {
  const isGone =
    error instanceof HoldfastError &&
    (error.code === 'RunNotFound' || error.code === 'HistoryMissing');
  if (!isGone) throw error;
  return error.message.slice(0, REASON_CHARS_MAX);
}

export type ReadPlace = HistoryPlace & { readonly archive: Store };

/** Over the connection that there is, or with one that is closed behind the work. */
export async function reading<T>(
  place: ExportPlace | ReadPlace,
  work: (place: ReadPlace) => Promise<T>,
): Promise<T> {
  if ('archive' in place) return work(place);
  const { address, namespace, store, payloadCodecs = [], ...credentials } = place;
  keepQuiet();
  const connection = await connect({ address, ...credentialsOf(credentials), attemptsMax: 1 });
  try {
    return await work({ connection, namespace, archive: store, payloadCodecs });
  } finally {
    await connection.close();
  }
}

async function recorded(place: ReadPlace, { tenant, runId }: Bundle['run']): Promise<BundledRun> {
  const run = { tenant, runId };
  const segments = await fetchSegments(place, run);
  const events = await gatherEvents(place.archive, run);
  return { run, versions: versionsOf(segments, codeVersion()), segments, events };
}

async function bundleOf(
  store: Store,
  [root, ...below]: readonly [BundledRun, ...BundledRun[]],
): Promise<Bundle> {
  const referred = await gather(store, root.run.tenant, [root, ...below]);
  return { ...root, exportedAt: Date.now(), ...referred, redactions: [] };
}

function tooMuch(reason: string): HoldfastError {
  return new HoldfastError('InvalidBundle', `The tree is too large for one bundle: ${reason}.`, {
    hint: 'Export the run without the runs below it (--alone), and each of them by its own id.',
  });
}
