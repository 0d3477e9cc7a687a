/**
 * The runs of a bundle's file for their replay, one history at a time.
 * Invariant: all of the file has been checked before the first of its histories is given.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle, Segment } from '../bundle.js';
import { readWhole } from '../read-bundle.js';
import { treeOfBundle, type ReplayableTree } from '../replay-tree.js';
import type { StreamedRun } from '../strict-replay.js';
import { bundleChunks } from './bundle-chunks.js';
import { jsonPieces, NotCanonical, type JsonPieces } from './json-pieces.js';
import { namesWithLast, walkBundle } from './walk-bundle.js';

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
    yield* runsOf(json, namesWithLast(json, 'digest'));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new HoldfastError('InvalidBundle', `${file.slice(-200)} was changed while it was read.`, {
      hint: 'Replay it again.',
      details: { file },
    });
  } finally {
    await chunks.return();
  }
}

/** A run stands before its segments. */
async function* runsOf(
  json: JsonPieces,
  names: AsyncIterable<string>,
): AsyncGenerator<StreamedRun, void> {
  let run: Bundle['run'] | undefined;
  for await (const name of names) {
    if (name === 'members') {
      for await (const _ of json.items()) yield* runsOf(json, json.names());
    } else if (name === 'run') {
      run = (await json.value()) as unknown as Bundle['run'];
    } else if (name === 'segments' && run !== undefined) {
      yield { run, segments: segmentsIn(json) };
    } else await json.skip();
  }
}

async function* segmentsIn(json: JsonPieces): AsyncGenerator<Segment, void> {
  for await (const _ of json.items()) yield (await json.value()) as unknown as Segment;
}
