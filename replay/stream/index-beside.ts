/**
 * The steps of a long run are decided beside the check of its file, by a thread that reads the file itself.
 * Invariant: what the thread decided counts only where it has read the text that was checked; otherwise there is
 * nothing, and its caller decides by itself.
 */
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { FoldEnd } from '../../recording/index-reader.js';
import type { PackedSteps } from '../../recording/packed-steps.js';

export interface Decided extends Pick<FoldEnd, 'kind' | 'divergences'> {
  readonly textDigest: string;
  readonly steps: PackedSteps;
}

export interface IndexBeside {
  /** Waits for the thread. Undefined: it has ended without a word, or has read another text. */
  of(textDigest: string | undefined): Promise<Decided | undefined>;
  /** Ends the thread. */
  close(): Promise<void>;
}

/** A thread takes as long to begin as a shorter file takes to be decided. */
const BYTES_MIN = 4 * 1024 * 1024;
/** Of what is packed, about as many times fewer. */
const PACKED_RATIO = 12;
/**
 * By the version of the engine: how much of a function runs before it is compiled for speed, by default a twelfth of this.
 * That took a third of the processor time of an index of 1,000 turns, on the cores that its threads need.
 */
const COMPILE_LATE: Readonly<Record<string, string>> = {
  11: '--interrupt-budget=800000',
  13: '--invocation-count-for-turbofan=36000',
};
/** Code that is not compiled has no thread. */
const THREAD = join(__dirname, 'index-thread.js');

interface Worth {
  readonly bytesMin?: number;
  readonly cores?: number;
}

/** By their files: begun before somebody asked for them. */
const early = new Map<string, IndexBeside>();

/** For who will probably ask for it: what he has to load meanwhile takes as long as a thread takes to begin. */
export function beginEarly(file: string, worth: Worth = {}): void {
  const beside = begun(file, worth);
  if (beside !== undefined) early.set(file, beside);
}

/** Undefined: a thread is not worth it. */
export function indexBeside(file: string, worth: Worth = {}): IndexBeside | undefined {
  const before = early.get(file);
  early.delete(file);
  return before ?? begun(file, worth);
}

function begun(
  file: string,
  { bytesMin = BYTES_MIN, cores = availableParallelism() }: Worth,
): IndexBeside | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = file.endsWith('.gz') ? size * PACKED_RATIO : size;
  if (bytes < bytesMin || cores < 2 || !existsSync(THREAD)) return undefined;
  const late = COMPILE_LATE[parseInt(process.versions.v8, 10)];
  if (late !== undefined) setFlagsFromString(late);
  const thread = new Worker(THREAD, { workerData: file });
  const decided = new Promise<Decided | undefined>((resolve) => {
    thread.once('message', resolve);
    // Whatever is wrong, its caller meets it as well.
    thread.once('error', () => resolve(undefined));
    thread.once('exit', () => resolve(undefined));
  });
  return {
    async of(textDigest) {
      if (textDigest === undefined) return undefined;
      const found = await decided;
      return found?.textDigest === textDigest ? found : undefined;
    },
    close: async () => void (await thread.terminate()),
  };
}
