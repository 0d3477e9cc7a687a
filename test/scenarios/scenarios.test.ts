/**
 * Every scenario and rule case of this folder, in both engines. What cannot be played yet is named here with
 * its reason, so that the list can only be made shorter on purpose.
 */
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate, type CaseOutcome } from '../../evaluation/evaluate.js';

const MINUTES = 60_000;
const SEED = 1;

/** By case: what it needs. Sessions that are stored come with a later release. */
const WAITING: { readonly [caseId: string]: string } = {
  S93b: 'task.resume',
  S139: 'task.resume',
  S141f: 'settings.persistSession',
  S145b: 'settings.persistSession',
};

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
    const wrong = of(engine).filter(
      ({ outcome, fixture }) => outcome === 'failed' && WAITING[fixture.caseId] === undefined,
    );
    expect(wrong.map(told)).toEqual([]);
    expect(of(engine).filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(280);
  });

  test('or waits for what it is known to need', () => {
    const waiting = of(engine).filter(({ fixture }) => WAITING[fixture.caseId] !== undefined);
    expect(
      Object.fromEntries(
        waiting.map(({ fixture, differences }) => [fixture.caseId, differences[0]?.observed]),
      ),
    ).toEqual(
      Object.fromEntries(
        Object.entries(WAITING).map(([caseId, what]) => [caseId, `not supported yet: ${what}`]),
      ),
    );
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
