/** HOLDFAST_WHOLE=1: all cases, not some that are drawn; HOLDFAST_SEED: of the draw. */
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWriter } from '../../cli/commands/eval-bundles.js';
import { agree } from '../../evaluation/agree.js';
import type { CaseRun, Engine, Observation } from '../../evaluation/engine.js';
import { limited } from '../../evaluation/pool.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { createTemporalEngine } from '../../evaluation/temporal/index.js';
import { drawn } from '../draw.js';
import { SEED, saySeed, WHOLE } from '../seed.js';
import { CASES, fixtureOf, type Case } from './cases.js';
import { essenceOf } from './essence.js';

const PLAYABLE = CASES.filter((one) => one.onlyVirtual === undefined);
const APPROVED = PLAYABLE.find(({ fixture }) => fixture.caseId === 'approved')!;
const PLAYED = WHOLE ? PLAYABLE : drawn(PLAYABLE, 6, SEED);
const ONLY_VIRTUAL = CASES.filter((one) => one.onlyVirtual !== undefined);

const simulation = createSimulationEngine();
let temporal: Engine;
/** All of them are under way at once: they mostly wait. */
let runs: ReadonlyMap<Case, Promise<CaseRun>>;

beforeAll(async () => {
  temporal = await createTemporalEngine({ environment: process.env });
  const play = limited(temporal.concurrency, (one: Case) => temporal.run(one.fixture, { seed: 1 }));
  saySeed(`${PLAYED.length} of ${PLAYABLE.length} cases of the engines`);
  const under = new Set([...PLAYED, APPROVED, ...ONLY_VIRTUAL]);
  runs = new Map([...under].map((one) => [one, play(one)]));
});

afterAll(async () => {
  await temporal?.stop();
  await simulation.stop();
});

function seen(run: CaseRun): Observation {
  if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
  return run.observed;
}

describe('a real server and the simulation agree', () => {
  it.each(PLAYED.map((one) => [one.what, one] as const))(
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
    for (const one of ONLY_VIRTUAL) {
      expect(await runs.get(one)).toEqual({ kind: 'skipped', why: one.onlyVirtual });
    }
  });

  it('plays a case a second time', async () => {
    const one = APPROVED;
    await runs.get(one);
    const again = seen(await temporal.run(one.fixture, { seed: 2 }));
    expect(essenceOf(again)).toEqual(one.essence);
  });

  it('tells a decision that comes too late once, also where the run cannot answer it', async () => {
    const by = (name: string): object => ({
      resolveApproval: { call: 'a', decision: 'approve', by: name },
    });
    const late = fixtureOf({
      case_id: 'too-late',
      model: [
        { calls: [{ id: 'a', tool: 'issue_refund', input: { order: 'O-104', amount: 50 } }] },
        { text: 'done' },
      ],
      during: [
        { on: { event: 'approval_requested', call: 'a' }, do: [by('ana')] },
        { on: { event: 'tool_finished', call: 'a' }, do: [by('ben')] },
      ],
    });
    const observed = seen(await temporal.run(late, { seed: 1 }));
    const ignored = observed.events.flatMap((event) =>
      event.type === 'warning' ? [[event.code, event.about?.by]] : [],
    );
    expect(ignored).toEqual([['decision_ignored', 'ben']]);
    expect(agree(seen(await simulation.run(late, { seed: 1 })), observed)).toEqual([]);
  });

  it('replays the whole history at every step when nothing is cached, and leaves a bundle for its owner alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eval-bundles-'));
    const engine = await createTemporalEngine({
      environment: process.env,
      maxCachedWorkflows: 0,
      onEnded: bundleWriter(folder),
    });
    try {
      const one = APPROVED;
      const observed = seen(await engine.run(one.fixture, { seed: 1 }));
      expect(observed.replayed).toBe(true);
      expect(statSync(join(folder, 'approved.json')).mode & 0o777).toBe(0o600);
      expect(agree(seen(await simulation.run(one.fixture, { seed: 1 })), observed)).toEqual([]);
    } finally {
      await engine.stop();
    }
  });
});
