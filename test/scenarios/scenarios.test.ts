/**
 * The scenarios and rule cases of this folder: all of them in the simulation, and in the real engine those that a
 * seed picks, which must agree. Under CI=true all of them in both.
 *
 * HOLDFAST_CASES: how many are picked (default 60), or `all`; HOLDFAST_SEED: of the pick. All of them are also
 * `holdfast eval test/scenarios --engine both`.
 */
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate, type CaseOutcome } from '../../evaluation/evaluate.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { drawn } from '../draw.js';

const MINUTES = 60_000;
const SEED = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 1_000_000));
const PICKED = process.env.HOLDFAST_CASES ?? (process.env.CI === 'true' ? 'all' : '60');

let fixtures: readonly Fixture[];
let chosen: readonly Fixture[];
const outcomes: CaseOutcome[] = [];

async function play(some: readonly Fixture[], where: 'simulation' | 'both'): Promise<void> {
  const engines = await openEngines(where, { environment: process.env });
  try {
    for await (const outcome of evaluate(some, { engines, seed: SEED })) outcomes.push(outcome);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
}

beforeAll(async () => {
  fixtures = await collectFixtures({ paths: [__dirname], folder: __dirname });
  chosen = drawn(fixtures, PICKED === 'all' ? fixtures.length : Number(PICKED), SEED);
  console.log(`HOLDFAST_SEED=${SEED}: ${chosen.length} of ${fixtures.length} in both engines`);
  const others = fixtures.filter((fixture) => !chosen.includes(fixture));
  await play(chosen, 'both');
  await play(others, 'simulation');
}, 12 * MINUTES);

function of(engine: CaseOutcome['engine']): readonly CaseOutcome[] {
  return outcomes.filter((one) => one.engine === engine);
}

function told({ fixture, differences }: CaseOutcome): string {
  return `${fixture.caseId}: ${JSON.stringify(differences[0])}`;
}

function failedIn(engine: CaseOutcome['engine']): readonly string[] {
  return of(engine)
    .filter(({ outcome }) => outcome === 'failed')
    .map(told);
}

test('all pass in the simulation, and none is skipped', () => {
  expect(failedIn('simulation')).toEqual([]);
  expect(of('simulation').filter(({ outcome }) => outcome === 'passed')).toHaveLength(
    fixtures.length,
  );
  expect(fixtures.length).toBeGreaterThan(280);
});

test('those that are picked pass in the real engine too, where the engines agree', () => {
  expect(failedIn('temporal')).toEqual([]);
  expect(of('temporal')).toHaveLength(chosen.length);
});

test('what the real engine skips needs time or places that only the simulation has', () => {
  const skipped = of('temporal').filter(({ outcome }) => outcome === 'skipped');
  const reasons = new Map<string, number>();
  for (const { why = '' } of skipped) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  console.log([...reasons].map(([why, count]) => `skipped: ${why} (${count} cases)`).join('\n'));
  expect([...reasons.keys()].filter((why) => !/virtual time|seam/.test(why))).toEqual([]);
  expect(skipped.length).toBeLessThan(20);
});
