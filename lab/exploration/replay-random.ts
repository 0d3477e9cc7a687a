/**
 * Plays random cases on a real server and replays each of their histories strictly: what the simulation
 * explores, with Temporal in Temporal's place.
 */
import fc from 'fast-check';
import type { Engine } from '../../evaluation/engine.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { limited } from '../../evaluation/pool.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { arbitraryCase } from './arbitrary-case.js';
import { briskCase } from './brisk-case.js';

export interface RandomReplayOptions {
  readonly engine: Engine;
  /** Histories wanted. */
  readonly runs: number;
  readonly seed: number;
  readonly played?: (replayed: number) => void;
}

export interface RandomReplays {
  readonly replayed: number;
  /** Cases that need virtual time, or more time than they get. */
  readonly skipped: number;
  /** What a run could not show, or why it did not replay; with the number of its case. */
  readonly troubles: readonly string[];
}

/** Some random cases cannot be played on a server. */
const TRIED_PER_RUN = 3;
const CASE_LIMIT_MS = 60_000;

export async function replayRandom(options: RandomReplayOptions): Promise<RandomReplays> {
  const { engine, runs, seed, played } = options;
  const documents = fc.sample(arbitraryCase.map(briskCase), {
    seed,
    numRuns: runs * TRIED_PER_RUN,
  });
  const troubles: string[] = [];
  let [next, replayed, skipped] = [0, 0, 0];
  /** Plays the next case that can be played: one that is skipped makes room for another. */
  const playOneMore = limited(engine.concurrency, async () => {
    while (next < documents.length) {
      const number = next;
      next += 1;
      const outcome = await playOne(engine, { document: documents[number]!, seed, number });
      if (outcome !== 'skipped') {
        replayed += 1;
        if (outcome !== 'replayed') troubles.push(`case ${number}: ${outcome.trouble}`);
        played?.(replayed);
        return;
      }
      skipped += 1;
    }
  });
  await Promise.all(Array.from({ length: runs }, () => playOneMore(undefined)));
  return { replayed, skipped, troubles };
}

interface RandomCase {
  readonly document: FixtureDocument;
  readonly seed: number;
  readonly number: number;
}

type Outcome = 'replayed' | 'skipped' | { readonly trouble: string };

async function playOne(engine: Engine, { document, seed, number }: RandomCase): Promise<Outcome> {
  const named = { ...document, case_id: `random-${seed}-${number}` };
  const fixture = parseFixture(JSON.stringify(named), `random-${number}.json`);
  const signal = AbortSignal.timeout(CASE_LIMIT_MS);
  const run = await engine.run(fixture, { seed, signal });
  if (run.kind === 'skipped' || signal.aborted) return 'skipped';
  if (run.kind === 'broken') return { trouble: run.message };
  const { startError, replayed, violations } = run.observed;
  if (startError !== undefined) return 'skipped';
  return replayed === true ? 'replayed' : { trouble: violations.join('\n') };
}
