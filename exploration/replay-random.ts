/**
 * Plays random cases on a real server and replays each of their histories strictly: what the simulation
 * explores, with Temporal in Temporal's place.
 */
import fc from 'fast-check';
import type { Engine } from '../evaluation/engine.js';
import { limited } from '../evaluation/pool.js';
import { parseFixture } from '../evaluation/read-fixture.js';
import { arbitraryCase } from './arbitrary-case.js';

export interface RandomReplayOptions {
  readonly engine: Engine;
  /** Histories wanted. */
  readonly runs: number;
  readonly seed: number;
  readonly signal?: AbortSignal;
}

export interface RandomReplays {
  readonly replayed: number;
  /** Cases that need virtual time, or a moment that a server does not offer. */
  readonly skipped: number;
  /** What a run could not show, or why it did not replay; with the number of its case. */
  readonly troubles: readonly string[];
}

/** Many random cases wait longer than a server should be waited for. */
const TRIED_PER_RUN = 8;

export async function replayRandom(options: RandomReplayOptions): Promise<RandomReplays> {
  const { engine, runs, seed, signal } = options;
  const documents = fc.sample(arbitraryCase, { seed, numRuns: runs * TRIED_PER_RUN });
  const troubles: string[] = [];
  let [replayed, skipped] = [0, 0];
  const play = limited(engine.concurrency, async (number: number) => {
    if (replayed >= runs || signal?.aborted) return;
    const document = { ...documents[number]!, case_id: `random-${seed}-${number}` };
    const fixture = parseFixture(JSON.stringify(document), `random-${number}.json`);
    const run = await engine.run(fixture, { seed, ...(signal !== undefined && { signal }) });
    if (run.kind === 'skipped') skipped += 1;
    else if (run.kind === 'broken') troubles.push(`case ${number}: ${run.message}`);
    else if (run.observed.startError === undefined) {
      replayed += 1;
      if (run.observed.replayed === true) return;
      troubles.push(`case ${number}: ${run.observed.violations.join('\n')}`);
    }
  });
  await Promise.all(documents.map((_, number) => play(number)));
  return { replayed, skipped, troubles };
}
