/**
 * The runs of a bundle's file for their replay, one history at a time.
 * Invariant: all of the file has been checked before the first of its histories is given.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Bundle, Segment } from '../bundle.js';
import { readWhole } from '../read-bundle.js';
import { treeOfBundle, type ReplayableTree } from '../replay-tree.js';
import type { StreamedRun } from '../strict-replay.js';
import { bundleChunks } from './bundle-chunks.js';
import { jsonPieces, NotCanonical, type JsonPieces } from './json-pieces.js';
import { namesWithLast, ROOT, walkBundle, type BundleHearer } from './walk-bundle.js';

/** Errors: `InvalidBundle`. */
export async function replayableFile(file: string): Promise<ReplayableTree> {
  try {
    const { run, members = [] } = await walkBundle(file, {});
    return { root: run.runId, count: members.length + 1, runs: runsIn(file) };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return treeOfBundle(await readWhole(file));
  }
}

/** The members first, as they stand there. */
async function* runsIn(file: string): AsyncGenerator<StreamedRun, void> {
  const chunks = bundleChunks(file);
  try {
    const json = jsonPieces(chunks, () => undefined);
    yield* unchanged(file, runsOf({ json, file }, namesWithLast(json, 'digest')));
  } finally {
    await chunks.return();
  }
}

/** Who replays pulls the segments of a run, so each list says by itself that its file has changed. */
async function* unchanged<T>(file: string, values: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* values;
  } catch (error) {
    throw changedFile(file, error);
  }
}

/** Any other error stays as it is. */
function changedFile(file: string, error: unknown): unknown {
  if (!(error instanceof NotCanonical)) return error;
  return new HoldfastError('InvalidBundle', `${file.slice(-200)} was changed while it was read.`, {
    hint: 'Run the command again.',
    details: { file },
  });
}

/** Events and segments of all runs of a file that has been checked. Errors: `InvalidBundle`. */
export async function hearAgain(
  file: string,
  hearer: Pick<BundleHearer, 'event' | 'segment'>,
): Promise<void> {
  const chunks = bundleChunks(file);
  try {
    const json = jsonPieces(chunks, () => undefined);
    const root = partHeard(json, hearer, ROOT);
    for await (const name of namesWithLast(json, 'digest')) {
      await (name === 'members' ? membersHeard(json, hearer) : root(name));
    }
  } catch (error) {
    throw changedFile(file, error);
  } finally {
    await chunks.return();
  }
}

async function membersHeard(
  json: JsonPieces,
  hearer: Pick<BundleHearer, 'event' | 'segment'>,
): Promise<void> {
  for await (const member of json.items()) {
    const part = partHeard(json, hearer, member);
    for await (const name of json.names()) await part(name);
  }
}

/** A run stands before its segments. */
function partHeard(
  json: JsonPieces,
  hearer: Pick<BundleHearer, 'event' | 'segment'>,
  member: number,
): (name: string) => Promise<void> {
  let run: Bundle['run'] | undefined;
  return async (name) => {
    if (name === 'run') {
      run = (await json.value()) as unknown as Bundle['run'];
    } else if (name === 'events' && hearer.event !== undefined) {
      for await (const _ of json.items()) {
        hearer.event((await json.value()) as unknown as RunEvent, member);
      }
    } else if (name === 'segments' && hearer.segment !== undefined && run !== undefined) {
      for await (const segment of segmentsIn(json)) hearer.segment(segment, member, run);
    } else await json.skip();
  };
}

interface SecondReading {
  readonly json: JsonPieces;
  readonly file: string;
}

/** A run stands before its segments. */
async function* runsOf(
  reading: SecondReading,
  names: AsyncIterable<string>,
): AsyncGenerator<StreamedRun, void> {
  const { json, file } = reading;
  let run: Bundle['run'] | undefined;
  for await (const name of names) {
    if (name === 'members') {
      for await (const _ of json.items()) yield* runsOf(reading, json.names());
    } else if (name === 'run') {
      run = (await json.value()) as unknown as Bundle['run'];
    } else if (name === 'segments' && run !== undefined) {
      yield { run, segments: unchanged(file, segmentsIn(json)) };
    } else await json.skip();
  }
}

async function* segmentsIn(json: JsonPieces): AsyncGenerator<Segment, void> {
  for await (const _ of json.items()) yield (await json.value()) as unknown as Segment;
}
