/**
 * Replays every bundle of a folder, several at a time.
 * Invariants: each lane holds one bundle at a time, or one of its histories, so memory does not grow with the folder; reports come in the order in
 * which they end; a file that cannot be read is a finding and keeps no other from being replayed.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { filesBelow } from './below-folder.js';
import { replayTreesOf, type ReplayableTree, type TreeReport } from './replay-tree.js';
import { replayableFile } from './stream/bundle-file.js';

export const FILES_MAX = 100_000;
const LANES_MAX = 4;

export type FileReport =
  | { readonly file: string; readonly report: TreeReport }
  /** Why it could not be read or replayed. */
  | { readonly file: string; readonly problem: string };

/**
 * Relative names of all `.json` and `.gz` files in it, and of links with such names, at any depth but below `node_modules` and
 * hidden folders, sorted: a bundle that is silently left out is one that nobody checks. Errors: `Usage`.
 */
export async function bundlesIn(folder: string): Promise<readonly string[]> {
  const files = await filesBelow(
    folder,
    (entry) => !entry.isDirectory() && /\.(?:json|gz)$/.test(entry.name),
  ).catch((cause: unknown) => {
    throw new HoldfastError('Usage', `The folder ${folder.slice(-200)} cannot be read.`, {
      hint: 'Name a folder with bundles that `holdfast export` wrote.',
      cause,
    });
  });
  if (files.length > 0 && files.length <= FILES_MAX) return files;
  throw new HoldfastError(
    'Usage',
    files.length === 0
      ? `The folder ${folder.slice(-200)} has no bundle.`
      : `The folder ${folder.slice(-200)} has more than ${FILES_MAX} files.`,
    { hint: 'Bundles are files that end with .json or .gz; `holdfast export` writes them.' },
  );
}

export async function replayFolder(
  folder: string,
  files: readonly string[],
  told: (report: FileReport) => void,
): Promise<void> {
  const waiting = [...files];
  const lanes = Math.min(LANES_MAX, availableParallelism(), files.length);
  await Promise.all(Array.from({ length: lanes }, () => lane(folder, waiting, told)));
}

/** One replaying worker; after a history over which it breaks, a new one. */
async function lane(
  folder: string,
  waiting: string[],
  told: (report: FileReport) => void,
): Promise<void> {
  /** Files whose reports are to come, in their order. */
  const given: string[] = [];
  async function* trees(): AsyncGenerator<ReplayableTree> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const tree = await replayableFile(join(folder, file)).catch(problemOf);
      if (typeof tree === 'string') told({ file, problem: tree });
      else {
        given.push(file);
        yield tree;
      }
    }
  }
  while (waiting.length > 0) {
    try {
      for await (const report of replayTreesOf(trees())) told({ file: given.shift()!, report });
    } catch (error) {
      told({ file: given.splice(0).at(-1)!, problem: problemOf(error) });
    }
  }
}

function problemOf(error: unknown): string {
  if (error instanceof HoldfastError) return error.message;
  throw error;
}
