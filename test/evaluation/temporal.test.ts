import { agree } from '../../evaluation/agree.js';
import type { CaseRun, Engine, Observation } from '../../evaluation/engine.js';
import { limited } from '../../evaluation/pool.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { createTemporalEngine } from '../../evaluation/temporal/index.js';
import { CASES, type Case } from './cases.js';
import { essenceOf } from './essence.js';

const simulation = createSimulationEngine();
let temporal: Engine;
/** All of them are under way at once: they mostly wait. */
let runs: ReadonlyMap<Case, Promise<CaseRun>>;

beforeAll(async () => {
  temporal = await createTemporalEngine({ environment: process.env });
  const play = limited(temporal.concurrency, (one: Case) => temporal.run(one.fixture, { seed: 1 }));
  runs = new Map(CASES.map((one) => [one, play(one)]));
}, 60_000);

afterAll(async () => {
  await temporal?.stop();
  await simulation.stop();
}, 60_000);

function seen(run: CaseRun): Observation {
  if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
  return run.observed;
}

describe('a real server and the simulation agree', () => {
  const played = CASES.filter((one) => one.onlyVirtual === undefined);

  it.each(played.map((one) => [one.what, one] as const))(
    '%s',
    async (_what, one) => {
      const observed = seen(await runs.get(one)!);
      expect(observed.violations).toEqual([]);
      expect(essenceOf(observed)).toEqual(one.essence);
      expect(agree(seen(await simulation.run(one.fixture, { seed: 1 })), observed)).toEqual([]);
    },
    240_000,
  );

  it('says of every other case why it cannot be played', async () => {
    for (const one of CASES.filter(({ onlyVirtual }) => onlyVirtual !== undefined)) {
      expect(await runs.get(one)).toEqual({ kind: 'skipped', why: one.onlyVirtual });
    }
  });

  it('plays a case a second time', async () => {
    const one = CASES.find(({ fixture }) => fixture.caseId === 'approved')!;
    await runs.get(one);
    const again = seen(await temporal.run(one.fixture, { seed: 2 }));
    expect(essenceOf(again)).toEqual(one.essence);
  }, 120_000);

  it('replays the whole history at every step when nothing is cached', async () => {
    const engine = await createTemporalEngine({ environment: process.env, maxCachedWorkflows: 0 });
    try {
      const one = CASES.find(({ fixture }) => fixture.caseId === 'approved')!;
      const observed = seen(await engine.run(one.fixture, { seed: 1 }));
      expect(observed.replayed).toBe(true);
      expect(agree(seen(await simulation.run(one.fixture, { seed: 1 })), observed)).toEqual([]);
    } finally {
      await engine.stop();
    }
  }, 120_000);
});
