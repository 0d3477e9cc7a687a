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
import { DEPTH_MAX, isChildOf, MEMBERS_MAX, type BundledRun } from './tree.js';
import { versionsOf } from './versions.js';

export interface ExportPlace extends Credentials {
  readonly address: string;
  readonly namespace: string;
  /** Those of the workers: a bundle holds payloads as they were before. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  readonly store: Store;
}

/** The run alone. Errors: `ServerUnavailable`, `RunNotFound`, `HistoryMissing`, `TranscriptMissing`, `StoreUnavailable`. */
export function exportRun(place: ExportPlace, run: Bundle['run']): Promise<Bundle> {
  return reading(place, async (histories) => {
    const root = await recorded(histories, run);
    return bundleOf(place.store, [root]);
  });
}

/**
 * The run with all runs below it. One that has no history (any more), or whose id another run has, is noted as absent.
 * Errors: as above; `InvalidBundle` for more than a bundle holds.
 */
export function exportTree(place: ExportPlace, run: Bundle['run']): Promise<Bundle> {
  return reading(place, async (histories) => {
    let bytes = 0;
    const heard = (more: number): void => {
      bytes += more;
      if (bytes > BUNDLE_BYTES_MAX)
        throw tooMuch(`its histories have more than ${BUNDLE_BYTES_MAX} bytes`);
    };
    const bounded = { ...histories, heard };
    const root = await recorded(bounded, run);
    const members: Member[] = [];
    const absent: Absent[] = [];
    const below = await rowsBelow(place.store, run, { depth: DEPTH_MAX, count: MEMBERS_MAX });
    if (below.leftOut) throw tooMuch(`more than ${MEMBERS_MAX} runs are below it`);
    for (const { child: runId, parent, place: at } of below.rows) {
      const isLost = absent.some((one) => one.runId === parent);
      const member = isLost
        ? 'the run that started it is absent'
        : await recorded(bounded, { tenant: run.tenant, runId }).catch(whyAbsent);
      if (typeof member === 'string') absent.push({ runId, parent, reason: member });
      else if (!isChildOf(member.segments, parent)) absent.push({ runId, parent, reason: TAKEN });
      else members.push({ ...member, parent, ...(at !== undefined && { agentPath: at.path }) });
    }
    const bundle = await bundleOf(place.store, [root, ...members]);
    return {
      ...bundle,
      ...((members.length > 0 || absent.length > 0) && { members }),
      ...(absent.length > 0 && { absent }),
    };
  });
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

async function reading<T>(
  { address, namespace, store, payloadCodecs = [], ...credentials }: ExportPlace,
  work: (place: HistoryPlace & { readonly archive: Store }) => Promise<T>,
): Promise<T> {
  keepQuiet();
  const connection = await connect({ address, ...credentialsOf(credentials), attemptsMax: 1 });
  try {
    return await work({ connection, namespace, archive: store, payloadCodecs });
  } finally {
    await connection.close();
  }
}

async function recorded(
  place: HistoryPlace & { readonly archive: Store },
  { tenant, runId }: Bundle['run'],
): Promise<BundledRun> {
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
