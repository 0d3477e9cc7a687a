/** Runs that might be kept: cases of this project and random ones on a real server, and bundles from a folder. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { bundleWriter } from '../../cli/commands/eval-bundles.js';
import { collectFixtures } from '../../evaluation/collect.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { limited } from '../../evaluation/pool.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { createTemporalEngine } from '../../evaluation/temporal/index.js';
import { arbitraryCase } from '../exploration/arbitrary-case.js';
import { heldCase } from '../exploration/brisk-case.js';
import type { Bundle } from '../../replay/bundle.js';
import { readBundle } from '../../replay/read-bundle.js';
import { isPlayedUnder } from './case-commands.js';
import { ROOT } from './kept-histories.js';

const CASE_LIMIT_MS = 60_000;
const PROGRESS_EVERY = 50;
const CASE_FOLDERS = ['test/scenarios'];

export interface Candidate {
  readonly name: string;
  readonly bundle: Bundle;
}

export interface Wanted {
  readonly rules: number;
  /** How many random cases. */
  readonly random: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** Cases of this project that runs and goals of these rules can play. */
export async function projectCases(rules: number): Promise<readonly Fixture[]> {
  const cases = await collectFixtures({ paths: CASE_FOLDERS, folder: ROOT });
  return cases.filter((fixture) => isPlayedUnder(rules, fixture));
}

export function randomCases(count: number, seed: number): readonly Fixture[] {
  const documents = fc.sample(arbitraryCase.map(heldCase), { seed, numRuns: count });
  return documents.map((document, number) =>
    parseFixture(
      JSON.stringify({ ...document, case_id: `random-${seed}-${number}` }),
      `random-${number}.json`,
    ),
  );
}

/** Plays cases on a server; the bundle of each run that has ended. */
export async function played(
  fixtures: readonly Fixture[],
  { rules, seed, say }: Wanted,
): Promise<readonly Candidate[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-candidates-'));
  const engine = await createTemporalEngine({
    environment: process.env,
    onProgress: say,
    rules,
    onEnded: bundleWriter(folder),
  });
  let count = 0;
  const play = limited(engine.concurrency, async (fixture: Fixture) => {
    const signal = AbortSignal.timeout(CASE_LIMIT_MS);
    await engine.run(fixture, { seed, signal });
    count += 1;
    if (count % PROGRESS_EVERY === 0) say(`${count} of ${fixtures.length} cases`);
  });
  try {
    await Promise.all(fixtures.map(play));
    return await bundlesIn(folder);
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What `holdfast export` and `holdfast eval --bundles` have written, smallest first. */
export async function bundlesIn(folder: string): Promise<readonly Candidate[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const candidates: Candidate[] = [];
  for (const file of files) {
    const bundle = await readBundle(join(folder, file));
    candidates.push({ name: file.slice(0, -'.json'.length), bundle });
  }
  return candidates.toSorted((a, b) => eventsOf(a) - eventsOf(b) || (a.name < b.name ? -1 : 1));
}

function eventsOf({ bundle }: Candidate): number {
  return bundle.segments.reduce((sum, { events }) => sum + events.length, 0);
}
