/**
 * Exports a run, or its tree, without holding more than one of its histories: each is written to a spool when it has been
 * read, with its events and messages, and large texts are read when they are written.
 * Invariant: the bundle is the one that `exportRun` or `exportTree` gives.
 */
import { codeVersion } from '../../activities/run/code-version.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { payloadValues } from '../../recording/history.js';
import { BUNDLE_BYTES_MAX, type Bundle } from '../bundle.js';
import {
  below,
  boundedPlace,
  reading,
  recordTree,
  type ExportPlace,
  type ReadPlace,
  type RecordedTree,
} from '../export-run.js';
import { segmentsFromNewest } from '../fetch-segments.js';
import { eventPages } from '../gather.js';
import type { References } from '../references.js';
import { parentIn } from '../tree.js';
import { versionFactsOf, versionsFrom, type VersionFacts } from '../versions.js';
import { tooLargeBundle } from './bundle-pieces.js';
import { listForm, type BundleSource, type RunSource } from './bundle-source.js';
import { spoolOf, type BundleSpool } from './bundle-spool.js';

export interface StreamOptions {
  /** The run by itself. */
  readonly alone: boolean;
  /** For the spool: a folder on a disk that has room for a bundle. */
  readonly folder: string;
  /** Is shown every recorded value, large texts among them when they are written, and may throw. */
  readonly look?: (value: Json) => void;
}

export interface SpooledExport {
  readonly source: BundleSource;
  /** Known when the source has been written. */
  counts(): { readonly events: number; readonly nodes: number; readonly blobs: number };
  /** Gives the spool back. */
  close(): Promise<void>;
}

/** Errors: those of `exportTree`. */
export async function openExport(
  place: ExportPlace,
  run: Bundle['run'],
  { alone, folder, look = () => undefined }: StreamOptions,
): Promise<SpooledExport> {
  const { store } = place;
  const spool = await spoolOf({ store, tenant: run.tenant, folder, look });
  try {
    const tree = await reading(place, (histories) => {
      const bounded = alone ? histories : boundedPlace(histories);
      const record = (key: Bundle['run']): Promise<SpooledRun> => spooledRun(bounded, key, spool);
      return alone
        ? record(run).then((root) => ({ root, members: [], absent: [] }))
        : recordTree(store, run, { record, parentOf: ({ startedBy }) => startedBy });
    });
    // A run that is absent after all is not in the bundle, and neither is what it refers to.
    for (const { referred } of [tree.root, ...tree.members]) referred.forEach(spool.refer);
    await spool.readConversation();
    return {
      source: sourceOfTree(tree, spool),
      counts: () => ({ ...spool.counts(), events: tree.root.eventCount }),
      close: () => spool.close(),
    };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

function sourceOfTree({ root, members, absent }: RecordedTree<SpooledRun>, spool: BundleSpool) {
  return {
    ...root,
    exportedAt: Date.now(),
    redactions: [],
    nodes: () => spool.nodes(),
    blobs: () => spool.blobs(),
    ...below(members, absent),
  };
}

interface SpooledRun extends RunSource {
  readonly startedBy: string | undefined;
  readonly eventCount: number;
  /** What it refers to, of the newest segment first. */
  readonly referred: readonly References[];
}

async function spooledRun(
  place: ReadPlace,
  { tenant, runId }: Bundle['run'],
  spool: BundleSpool,
): Promise<SpooledRun> {
  const run = { tenant, runId };
  const segments: Omit<RunSource['segments'][number], 'segment'>[] = [];
  const facts: VersionFacts[] = [];
  const referred: References[] = [];
  let startedBy: string | undefined;
  for await (const { events, ...segment } of segmentsFromNewest(place, run)) {
    referred.push(spool.look([...payloadValues(events as unknown as Json)]));
    const history = await spool.put(listForm(events));
    segments.unshift({ ...segment, events: () => spool.read(history) });
    facts.unshift(versionFactsOf(events));
    startedBy = parentIn(events[0]);
  }
  let eventCount = 0;
  async function* told(): AsyncGenerator<Json> {
    for await (const page of eventPages(place.archive, run)) {
      const values = page as unknown as readonly Json[];
      referred.push(spool.look(values));
      eventCount += values.length;
      yield* values;
    }
  }
  const events = await spool.put(listFormOf(told()));
  return {
    run,
    versions: versionsFrom(facts, codeVersion()),
    segments: segments.map((one, segment) => ({ ...one, segment })),
    events: () => spool.read(events),
    startedBy,
    eventCount,
    referred,
  };
}

async function* listFormOf(values: AsyncIterable<Json>): AsyncGenerator<string, void> {
  let before = '[';
  let chars = 0;
  for await (const value of values) {
    const piece = `${before}${canonicalJson(value)}`;
    // All of it would go into the bundle, and no text has fewer bytes than letters.
    chars += piece.length;
    if (chars > BUNDLE_BYTES_MAX) throw tooLargeBundle();
    yield piece;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
