/** What a command says while its own work takes long. */
import type { Output } from './output.js';

const TOLD_EVERY_MS = 10_000;

export interface LongWork {
  /** What is being done; told on standard error, again and again, until the work has ended. */
  readonly words: () => string;
  readonly everyMs?: number;
}

export async function toldOf<T>(
  output: Pick<Output, 'remark'>,
  { words, everyMs = TOLD_EVERY_MS }: LongWork,
  work: () => Promise<T>,
): Promise<T> {
  const telling = setInterval(() => output.remark(words()), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(telling);
  }
}
