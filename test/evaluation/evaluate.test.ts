import type { CaseRun, Engine, EngineName } from '../../evaluation/engine.js';
import { evaluate, type CaseOutcome, type EvaluateOptions } from '../../evaluation/evaluate.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { caseOf, observationWith, resultWith, READING, happened } from './setup.js';

const COMPLETED = { stop_reason: 'completed' };

function cases(count: number): readonly Fixture[] {
  return Array.from({ length: count }, (_, index) =>
    caseOf({ case_id: `c${index}`, expected: COMPLETED }),
  );
}

interface FakeEngine extends Engine {
  readonly most: () => number;
}

/** An engine that answers as told and notes how much it was asked at once. */
function engine(
  answer: (fixture: Fixture, signal: AbortSignal) => Promise<CaseRun>,
  { name = 'simulation', concurrency = 1 }: { name?: EngineName; concurrency?: number } = {},
): FakeEngine {
  let now = 0;
  let most = 0;
  return {
    name,
    concurrency,
    most: () => most,
    async run(fixture, { signal }) {
      now += 1;
      most = Math.max(most, now);
      try {
        return await answer(fixture, signal as AbortSignal);
      } finally {
        now -= 1;
      }
    },
    stop: async () => undefined,
  };
}

const SEEN: CaseRun = { kind: 'observed', observed: observationWith() };

async function outcomesOf(
  fixtures: readonly Fixture[],
  engines: readonly Engine[],
  options: Partial<EvaluateOptions> = {},
): Promise<readonly CaseOutcome[]> {
  const outcomes: CaseOutcome[] = [];
  for await (const outcome of evaluate(fixtures, { engines, seed: 1, ...options })) {
    outcomes.push(outcome);
  }
  return outcomes;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test('outcomes come in the order of the cases, however long each takes', async () => {
  const slowFirst = engine(
    async ({ caseId }) => {
      await pause(caseId === 'c0' ? 30 : 1);
      return SEEN;
    },
    { concurrency: 3 },
  );
  const outcomes = await outcomesOf(cases(8), [slowFirst]);
  expect(outcomes.map(({ fixture }) => fixture.caseId)).toEqual(cases(8).map((one) => one.caseId));
  expect(outcomes.every(({ outcome }) => outcome === 'passed')).toBe(true);
});

test('an engine never plays more cases at once than it says', async () => {
  const three = engine(() => pause(2).then(() => SEEN), { concurrency: 3 });
  const one = engine(() => pause(1).then(() => SEEN), { name: 'temporal' });
  await outcomesOf(cases(20), [three, one]);
  expect([three.most(), one.most()]).toEqual([3, 1]);
});

test('what differs fails, with its differences and its result', async () => {
  const result = resultWith({ stopReason: 'failed', status: 'failed', completed: false });
  const [outcome] = await outcomesOf(cases(1), [
    engine(async () => ({ kind: 'observed', observed: happened(READING, { result }) })),
  ]);
  expect(outcome).toMatchObject({
    outcome: 'failed',
    result: { stopReason: 'failed' },
    differences: [{ path: 'stop_reason', expected: 'completed' }],
  });
});

test.each([
  ['is broken', async () => ({ kind: 'broken', message: 'no server' }) as const, 'no server'],
  ['throws', () => Promise.reject(new Error('oh')), 'oh'],
  ['never answers', () => new Promise<CaseRun>(() => undefined), 'no answer within'],
])('an engine that %s fails its case and no other', async (_, answer, observed) => {
  const fails = engine(({ caseId }) => (caseId === 'c0' ? answer() : Promise.resolve(SEEN)));
  const outcomes = await outcomesOf(cases(2), [fails], { caseLimitMs: 50 });
  expect(outcomes).toMatchObject([
    {
      outcome: 'failed',
      differences: [{ path: 'engine', observed: expect.stringContaining(observed) }],
    },
    { outcome: 'passed' },
  ]);
});

test('the time limit reaches the engine as a signal', async () => {
  let aborted = false;
  const heeding = engine(
    (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve(SEEN);
        });
      }),
  );
  await outcomesOf(cases(1), [heeding], { caseLimitMs: 20 });
  expect(aborted).toBe(true);
});

test('a skipped case says why, and is neither passed nor measured', async () => {
  const [outcome] = await outcomesOf(cases(1), [
    engine(async () => ({ kind: 'skipped', why: 'needs virtual time' })),
  ]);
  expect(outcome).toMatchObject({ outcome: 'skipped', why: 'needs virtual time', differences: [] });
  expect(outcome?.measure).toBeUndefined();
});

describe('two engines', () => {
  const simulation = engine(async () => SEEN);

  test('pass when they agree', async () => {
    const temporal = engine(async () => SEEN, { name: 'temporal' });
    const outcomes = await outcomesOf(cases(1), [simulation, temporal]);
    expect(outcomes.map(({ engine: name, outcome }) => [name, outcome])).toEqual([
      ['simulation', 'passed'],
      ['temporal', 'passed'],
    ]);
  });

  test('fail when they do not, though each sees what is expected', async () => {
    const result = resultWith({ costMicroUsd: 1 });
    const temporal = engine(
      async () => ({ kind: 'observed', observed: observationWith({ result }) }),
      { name: 'temporal' },
    );
    const outcomes = await outcomesOf(cases(1), [simulation, temporal]);
    expect(outcomes).toMatchObject([
      { outcome: 'passed' },
      { outcome: 'failed', differences: [{ path: 'agreement.result.costMicroUsd' }] },
    ]);
  });

  test('one that skips leaves the other to be judged alone', async () => {
    const temporal = engine(async () => ({ kind: 'skipped', why: 'no seam' }), {
      name: 'temporal',
    });
    const outcomes = await outcomesOf(cases(1), [simulation, temporal]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['passed', 'skipped']);
  });
});

test('an interrupted evaluation gives no further outcome and starts no further case', async () => {
  const controller = new AbortController();
  const played: string[] = [];
  const interrupting = engine(async ({ caseId }) => {
    played.push(caseId);
    if (caseId === 'c1') controller.abort();
    return SEEN;
  });
  const outcomes = await outcomesOf(cases(50), [interrupting], { signal: controller.signal });
  expect(outcomes.length).toBeLessThanOrEqual(1);
  expect(played).toEqual(['c0', 'c1']);
});
