/**
 * Scenarios and rule cases of this folder that a seed picks, in the real engine: they pass there too, where both engines
 * agree. All of them pass in the simulation (scenarios.test.ts).
 *
 * HOLDFAST_WHOLE=1: all of them; HOLDFAST_SEED: of the pick. All are also
 * `holdfast eval test/scenarios --engine both`.
 */
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate, type CaseOutcome } from '../../evaluation/evaluate.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const MINUTE = 60_000;
const PICKED = 12;

let count: number;
let outcomes: readonly CaseOutcome[];

beforeAll(
  async () => {
    const all = await collectFixtures({ paths: [__dirname], folder: __dirname });
    const chosen = WHOLE ? all : drawn(all, PICKED, SEED);
    count = chosen.length;
    saySeed(`${count} of ${all.length} cases in both engines`);
    const engines = await openEngines('both', { environment: process.env });
    try {
      const judged: CaseOutcome[] = [];
      for await (const one of evaluate(chosen, { engines, seed: SEED })) judged.push(one);
      outcomes = judged.filter(({ engine }) => engine === 'temporal');
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
  },
  WHOLE ? 20 * MINUTE : 5 * MINUTE,
);

test('each passes in the real engine, where the engines agree', () => {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  expect(
    failed.map((one) => `${one.fixture.caseId}: ${JSON.stringify(one.differences[0])}`),
  ).toEqual([]);
  expect(outcomes).toHaveLength(count);
});

test('what the real engine skips needs time or places that only the simulation has', () => {
  const skipped = outcomes.filter(({ outcome }) => outcome === 'skipped');
  const reasons = new Map<string, number>();
  for (const { why = '' } of skipped) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  for (const [why, cases] of reasons) console.log(`skipped: ${why} (${cases} cases)`);
  expect([...reasons.keys()].filter((why) => !/virtual time|seam/.test(why))).toEqual([]);
  expect(skipped.length).toBeLessThan(20);
});
