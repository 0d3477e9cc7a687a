/** Every scenario and rule case of this folder, in both engines. */
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate, type CaseOutcome } from '../../evaluation/evaluate.js';

const MINUTES = 60_000;
const SEED = 1;

const outcomes: CaseOutcome[] = [];

beforeAll(async () => {
  const fixtures = await collectFixtures({ paths: [__dirname], folder: __dirname });
  const engines = await openEngines('both', { environment: process.env });
  try {
    for await (const outcome of evaluate(fixtures, { engines, seed: SEED })) outcomes.push(outcome);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
}, 12 * MINUTES);

function of(engine: CaseOutcome['engine']): readonly CaseOutcome[] {
  return outcomes.filter((one) => one.engine === engine);
}

function told({ fixture, differences }: CaseOutcome): string {
  return `${fixture.caseId}: ${JSON.stringify(differences[0])}`;
}

describe.each(['simulation', 'temporal'] as const)('every scenario in the %s engine', (engine) => {
  test('passes, and the engines agree', () => {
    const wrong = of(engine).filter(({ outcome }) => outcome === 'failed');
    expect(wrong.map(told)).toEqual([]);
    expect(of(engine).filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(280);
  });
});

test('skips nothing in the simulation, and says why in the other', () => {
  expect(of('simulation').filter(({ outcome }) => outcome === 'skipped')).toEqual([]);
  const skipped = of('temporal').filter(({ outcome }) => outcome === 'skipped');
  const reasons = new Map<string, number>();
  for (const { why = '' } of skipped) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  console.log([...reasons].map(([why, count]) => `skipped: ${why} (${count} cases)`).join('\n'));
  expect([...reasons.keys()].filter((why) => !/virtual time|seam/.test(why))).toEqual([]);
});
