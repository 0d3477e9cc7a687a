/**
 * Plays random cases in the simulation and checks what must hold for every run: the invariants, and that it
 * comes to an end.
 */
import fc from 'fast-check';
import type { Engine } from '../../evaluation/engine.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { arbitraryCase } from './arbitrary-case.js';

export interface ExploreOptions {
  readonly engine: Engine;
  readonly runs: number;
  readonly seed: number;
  /** Of a failure that was found before: plays only that one and what it shrinks to. */
  readonly path?: string;
  readonly played?: (count: number) => void;
  /** Default: cases of single runs. */
  readonly cases?: fc.Arbitrary<FixtureDocument>;
}

export interface Found {
  readonly seed: number;
  readonly path: string;
  readonly document: FixtureDocument;
  readonly trouble: string;
}

/** The first case, made as small as possible, for which something does not hold. */
export async function explore(options: ExploreOptions): Promise<Found | undefined> {
  const { engine, runs, seed, path, cases = arbitraryCase } = options;
  let count = 0;
  const property = fc.asyncProperty(cases, async (document) => {
    const trouble = await troubleWith(engine, document, seed);
    count += 1;
    options.played?.(count);
    if (trouble !== undefined) throw new Error(trouble);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(path !== undefined && { path }),
  });
  if (!details.failed) return undefined;
  const [document] = details.counterexample!;
  return {
    seed,
    path: details.counterexamplePath!,
    document,
    trouble: (details.errorInstance as Error).message,
  };
}

async function troubleWith(
  engine: Engine,
  document: FixtureDocument,
  seed: number,
): Promise<string | undefined> {
  const fixture = parseFixture(JSON.stringify(document), 'random.json');
  const run = await engine.run(fixture, { seed });
  if (run.kind === 'broken') return run.message;
  if (run.kind === 'skipped') return undefined;
  const { violations, result, startError } = run.observed;
  if (violations.length > 0) return violations.join('\n');
  return result === undefined && startError === undefined ? 'the run did not end' : undefined;
}
