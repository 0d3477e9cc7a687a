/**
 * Goals recorded on a real server, exported with their cycles and captured: each case passes in the simulation as it was
 * recorded. HOLDFAST_SEED: which goals; HOLDFAST_WHOLE=1: all.
 */
import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { capture } from '../../evaluation/capture/capture.js';
import { differencesOf } from '../../evaluation/capture/check.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { limited } from '../../evaluation/pool.js';
import { parseFixture, readFixture } from '../../evaluation/read-fixture.js';
import { createTemporalEngine, type EndedRun } from '../../evaluation/temporal/index.js';
import { foldOf } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { exportTree } from '../../replay/export-run.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

/** Of each test, ms; some have several. */
const LIMIT_MS = WHOLE ? 600_000 : 60_000;
const CASES = join(__dirname, '../scenarios/goals');
const PLAYED = WHOLE ? Infinity : 12;
const ON_A_SERVER = 3;
const NAMESPACE = 'default';

/** A cycle with hardly any money left: the case of that cycle asks in other bytes, which no longer fit. */
const AT_THE_EDGE = ['G-6-starved-cycle.json'];

const refusals: string[] = [];
let cases: readonly FixtureDocument[];
let begun: readonly FixtureDocument[];

async function recorded(names: readonly string[]): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  const engine = await createTemporalEngine({
    environment: process.env,
    onEnded: async ({ address, store, runId }: EndedRun) => {
      const run = { tenant: 'default', runId };
      bundles.push(await exportTree({ address, namespace: NAMESPACE, store }, run));
    },
  });
  try {
    const fixtures = await Promise.all(names.map((name) => readFixture(name, join(CASES, name))));
    const play = limited(engine.concurrency, (one: (typeof fixtures)[number]) =>
      engine.run(one, { seed: SEED }),
    );
    await Promise.all(fixtures.map(play));
    return bundles;
  } finally {
    await engine.stop();
  }
}

beforeAll(async () => {
  const names = readdirSync(CASES).filter(
    (name) => name.endsWith('.json') && !AT_THE_EDGE.includes(name),
  );
  const chosen = drawn(names, PLAYED, SEED);
  const left = `without ${AT_THE_EDGE.join(', ')}, whose last cycle has hardly any money`;
  saySeed(`${chosen.length} of ${names.length} cases of goals are recorded and captured, ${left}`);
  const bundles = await recorded(chosen);
  begun = bundles.flatMap(beginningOf);
  cases = bundles.flatMap((bundle) => {
    try {
      return [capture(bundle)];
    } catch (error) {
      refusals.push(`${bundle.run.runId}: ${(error as Error).message}`);
      return [];
    }
  });
}, 5 * LIMIT_MS);

test(
  'a goal that was exported with its cycles is a case that passes in the simulation',
  async () => {
    const failed: string[] = [];
    for (const one of cases) {
      const [first] = await differencesOf(one, one.case_id);
      if (first !== undefined)
        failed.push(`${one.case_id}: ${JSON.stringify(first).slice(0, 600)}`);
    }
    expect(failed).toEqual([]);
    expect(refusals).toEqual([]);
  },
  LIMIT_MS,
);

/** Up to a step behind one of its cycles, if there is one and a case can say all of the goal. */
function beginningOf(bundle: Bundle): readonly FixtureDocument[] {
  const cases = foldOf(bundle).steps.flatMap(({ step }): readonly FixtureDocument[] => {
    try {
      return [capture(bundle, { until: step })];
    } catch {
      return [];
    }
  });
  return drawn(cases, 1, SEED);
}

test(
  'the beginning of a goal, behind one of its cycles, is a case that passes in the simulation',
  async () => {
    const failed: string[] = [];
    for (const one of begun) {
      const [first] = await differencesOf(one, one.case_id);
      if (first !== undefined)
        failed.push(
          `${one.case_id} until ${one.captured?.until}: ${JSON.stringify(first).slice(0, 600)}`,
        );
    }
    expect(failed).toEqual([]);
    expect(begun.length).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

test(
  'some of them pass on a real server as well',
  async () => {
    const engine = await createTemporalEngine({ environment: process.env });
    try {
      for (const one of cases.slice(0, ON_A_SERVER)) {
        const fixture = parseFixture(JSON.stringify(one), one.case_id);
        const run = await engine.run(fixture, { seed: SEED });
        expect([one.case_id, run.kind]).toEqual([
          one.case_id,
          expect.stringMatching(/observed|skipped/),
        ]);
      }
    } finally {
      await engine.stop();
    }
  },
  2 * LIMIT_MS,
);
