/**
 * The runs of a bundle's file for their replay, one history at a time.
 * Invariants: all of the file has been checked before the first of its histories is given; a second reading ends well
 * only where it has read the text of the first one.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { brokenHistory } from '../broken-history.js';
import type { Bundle, Segment } from '../bundle.js';
import { readWhole } from '../read-bundle.js';
import { treeOfBundle, type ReplayableTree } from '../replay-tree.js';
import type { StreamedRun } from '../strict-replay.js';
import { textOfFile } from './bundle-chunks.js';
import { jsonPieces, namesWithLast, NotCanonical, type JsonPieces } from './json-pieces.js';
import {
  fit,
  readSegment,
  refuse,
  ROOT,
  segmentParts,
  walkBundle,
  type BundleHearer,
  type WalkedBundle,
} from './walk-bundle.js';

/** Errors: `InvalidBundle`; of its runs also where the file was changed meanwhile. */
export async function replayableFile(file: string): Promise<ReplayableTree> {
  try {
    const { head, textDigest } = await walkBundle(file, {});
    const { run, members = [] } = head;
    return { root: run.runId, count: members.length + 1, runs: runsIn({ file, textDigest }) };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return treeOfBundle(await readWhole(file));
  }
}

/** A file that has been checked, and the digest of what was checked. */
export interface CheckedFile extends Pick<WalkedBundle, 'textDigest'> {
  readonly file: string;
}

/** A reading of a file that has been read before. */
interface SecondReading {
  readonly json: JsonPieces;
  readonly names: AsyncGenerator<string, void>;
  /** Reads what is left, and gives the digest of all of the text. */
  digest(): Promise<string>;
  /** The same; refuses what is not the text of the first reading. */
  end(): Promise<void>;
  /** What an error of the reading, or of its values, means: in a text that is another one it means that. */
  meaning(error: unknown): Promise<unknown>;
  close(): Promise<void>;
}

function readAgain({ file, textDigest }: CheckedFile): SecondReading {
  const { chunks, digest } = textOfFile(file);
  const json = jsonPieces(chunks, ignored, always);
  const isOther = (): Promise<boolean> =>
    digest().then(
      (found) => found !== textDigest,
      () => true,
    );
  return {
    json,
    names: namesWithLast(json, 'digest'),
    digest,
    async end() {
      if (await isOther()) throw changedFile(file);
    },
    async meaning(error) {
      return error instanceof NotCanonical || (await isOther()) ? changedFile(file) : error;
    },
    close: async () => void (await chunks.return()),
  };
}

function changedFile(file: string): HoldfastError {
  return new HoldfastError('InvalidBundle', `${file.slice(-200)} was changed while it was read.`, {
    hint: 'Run the command again when nothing writes the file.',
    details: { file },
  });
}

/** The members first, as they stand there. The last segment of all ends behind the end of the file. */
async function* runsIn(checked: CheckedFile): AsyncGenerator<StreamedRun, void> {
  const reading = readAgain(checked);
  try {
    yield* meant(reading, runsOf(reading, reading.names, true));
  } finally {
    await reading.close();
  }
}

/** Who replays pulls the segments of a run, so each list says by itself that its file has changed. */
async function* meant<T>(
  reading: SecondReading,
  values: AsyncIterable<T>,
): AsyncGenerator<T, void> {
  try {
    yield* values;
  } catch (error) {
    throw await reading.meaning(error);
  }
}

/** Events and segments of all runs of a file that has been checked; known to be right at the end. Errors: `InvalidBundle`. */
export async function hearAgain(
  checked: CheckedFile,
  hearer: Pick<BundleHearer, 'event' | 'segment'>,
): Promise<void> {
  const reading = readAgain(checked);
  const { json, names } = reading;
  try {
    const root = partHeard(json, hearer, ROOT);
    for await (const name of names) {
      await (name === 'members' ? membersHeard(json, hearer) : root(name));
    }
    await reading.end();
  } catch (error) {
    throw await reading.meaning(error);
  } finally {
    await reading.close();
  }
}

/**
 * Segments of the root of a file that somebody else checks meanwhile. Gives the digest of the text: of a text with another
 * one, what was heard means nothing, and an error as little.
 */
export async function hearUnchecked(
  file: string,
  segment: (one: Segment, run: Bundle['run']) => void,
): Promise<string> {
  const { json, names, digest, close } = readAgain({ file, textDigest: '' });
  const root = partHeard(json, { segment: (one, _, run) => segment(one, run) }, ROOT);
  try {
    for await (const name of names) await root(name);
    return await digest();
  } finally {
    await close();
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
  /** By itself: a loop that waits for the next segment would hold the one before. */
  async function hearSegment(of: Bundle['run']): Promise<void> {
    const segment = await segmentParts(json, always);
    hearer.segment?.(segment as unknown as Segment, member, of);
  }
  return async (name) => {
    if (name === 'run') {
      run = (await json.value()) as unknown as Bundle['run'];
    } else if (name === 'events' && hearer.event !== undefined) {
      for await (const _ of json.items()) {
        hearer.event((await json.value()) as unknown as RunEvent, member);
      }
    } else if (name === 'segments' && hearer.segment !== undefined && run !== undefined) {
      for await (const _ of json.items()) await hearSegment(run);
    } else await json.skip();
  };
}

/** A run stands before its segments. */
async function* runsOf(
  reading: SecondReading,
  names: AsyncGenerator<string, void>,
  isRoot: boolean,
): AsyncGenerator<StreamedRun, void> {
  const { json } = reading;
  let run: Bundle['run'] | undefined;
  for await (const name of names) {
    if (name === 'members') {
      for await (const _ of json.items()) yield* runsOf(reading, json.names(), false);
    } else if (name === 'run') {
      run = fit<Bundle['run']>('run', await json.value());
    } else if (name === 'segments' && run !== undefined) {
      yield { run, segments: meant(reading, replayable(reading, isRoot)) };
      if (isRoot) return;
    } else await json.skip();
  }
}

/** A list of the root ends once all of the file has been read: its last report comes behind that. */
async function* replayable(reading: SecondReading, isRoot: boolean): AsyncGenerator<Segment, void> {
  for await (const segment of segmentsIn(reading.json)) {
    // Of another text a replay would fail in its own words.
    refuse(brokenHistory(segment.events));
    yield segment;
  }
  if (isRoot) await reading.end();
}

async function* segmentsIn(json: JsonPieces): AsyncGenerator<Segment, void> {
  for await (const _ of json.items()) yield await readSegment(json);
}

function ignored(): void {}

function always(): boolean {
  return true;
}
