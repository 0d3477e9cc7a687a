/**
 * A goal whose worker dies at each call of the store, before and after it, and whose segment changes at each decision:
 * every time the same goal. HOLDFAST_WHOLE=1: at all of them, not at some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { parseFixture } from '../../evaluation/read-fixture.js';
import { playGoal } from '../../evaluation/simulation/goal-play.js';
import type { Observation } from '../../evaluation/engine.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import type { GoalSimulation } from '../../testing/simulation/index.js';
import { drawn } from '../draw.js';
import { SEED, saySeed, WHOLE } from '../seed.js';
import { essenceOf } from './support/goal-essence.js';
import { watched, type When } from './support/watched-store.js';

const DRAWN = 4;

/** A check with a measure, a judge, a reviewer, an approval, sleeps, a plan, writes, and what people say. */
const CASE = {
  case_id: 'killed',
  goal: 'All invoices of March are matched.',
  goalLoop: {
    done: {
      all: [
        { check: 'open', path: 'count', equals: 0 },
        { judge: 'quality', rubric: 'Each match is written down.', atLeast: 0.5 },
      ],
    },
    validation: [{ name: 'open', measure: { path: 'count', better: 'lower' } }],
    judges: { quality: {} },
    reviewer: { roles: ['manager'] },
    budget: { maxCostMicroUsd: 100_000_000, maxCycles: 10 },
    // A request whose reply is lost is billed with its bound: a slice pays that, too.
    cycle: { maxCostMicroUsd: 10_000_000, maxTurns: 5 },
    approval: [{ before: 'first_cycle', roles: ['manager'] }],
    pace: { everyMs: 86_400_000 },
  },
  checks: {
    open: [
      { ok: { count: 12 } },
      { ok: { count: 7 } },
      { ok: { count: 2 } },
      { ok: { count: 0 } },
      { ok: { count: 0 } },
    ],
  },
  tools: { write_note: { idempotency: 'keyed' } },
  policy: [{ tool: 'write_note', decision: 'allow' }],
  cycles: [
    {
      model: [
        {
          calls: [
            {
              id: 'p',
              tool: 'goal_plan',
              input: { steps: [{ id: 's1', title: 'Match', status: 'open' }] },
            },
            { id: 'a', tool: 'write_note', input: { text: 'matched 1-5' } },
          ],
        },
        { calls: [{ id: 'n', tool: 'goal_note', input: { text: 'Five of twelve.' } }] },
        { text: 'Five matched.' },
      ],
    },
    {
      model: [
        { calls: [{ id: 'b', tool: 'write_note', input: { text: 'matched 6-10' } }] },
        { calls: [{ id: 'q', tool: 'goal_publish', input: { path: 'left', value: 2 } }] },
        { text: 'Two left.' },
      ],
    },
    { model: [{ text: 'None left.' }] },
    {
      model: [
        { calls: [{ id: 'c', tool: 'write_note', input: { text: 'matched 11-12' } }] },
        { text: 'All written down.' },
      ],
    },
  ],
  reviews: [{ objective_valid: true, because: 'Still wanted.' }],
  judges: {
    quality: [
      { score: 0.2, because: 'Not all.', evidence: ['c1/a'] },
      { score: 0.9, because: 'All.', evidence: ['c1/a', 'c2/b'] },
    ],
  },
  during: [
    {
      on: { event: 'approval_requested' },
      do: { resolveApproval: { decision: 'approve', goal: true, by: 'ann' } },
    },
    { on: { event: 'goal_review', n: 1 }, do: { steer: 'Start with the oldest.' } },
    { on: { event: 'goal_review', n: 2 }, do: { wake: true } },
  ],
  expected: { stop_reason: 'completed' },
};

interface Death {
  /** Number of the call. */
  readonly at: number;
  readonly when: When;
  readonly how: 'crash' | 'partition';
}

interface Played {
  readonly seen: Observation;
  readonly calls: number;
  readonly steps: number;
  readonly kinds: ReadonlySet<string>;
  /** The worker died while a request was under way: it is billed with its bound. */
  readonly isLost: boolean;
}

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

async function play(death?: Death, newSegment?: (step: number) => boolean): Promise<Played> {
  const fixture = parseFixture(JSON.stringify(CASE), 'killed.json');
  const place: { simulation?: GoalSimulation } = {};
  let calls = 0;
  let dead = false;
  let isLost = false;
  const requests = { open: 0 };
  const told = (when: When): boolean => {
    // What reads afterwards how the goal ended is no worker.
    if (place.simulation?.goal().final?.kind === 'result') return false;
    if (when === 'before') calls += 1;
    if (dead || calls - 1 !== death?.at || when !== death.when) return false;
    dead = true;
    isLost = requests.open > 0;
    place.simulation?.workers.kill(death.how, 1_000);
    // Where its connection alone is gone, its code runs on.
    return death.how === 'crash';
  };
  let steps = 0;
  const kinds = new Set<string>();
  const seen = await playGoal(fixture, watched(store, told, requests), {
    begun: (simulation) => {
      place.simulation = simulation;
      const full = (): void => {
        const { inflight, segment } = simulation.goal();
        for (const { kind } of Object.values(inflight)) kinds.add(kind);
        if (!segment.full && newSegment?.(steps) === true) simulation.continueAsNew();
        steps += 1;
      };
      const { serving } = simulation.workers;
      Object.assign(simulation.workers, {
        serving: () => {
          full();
          return serving();
        },
      });
    },
  });
  return { seen, calls, steps, kinds, isLost };
}

function essence({ seen }: Played, isLost = false) {
  return essenceOf(seen, isLost);
}

let calm: Played;
beforeAll(async () => {
  const own = await openMemoryStore();
  const before = store;
  store = own;
  calm = await play();
  store = before;
  await own.close();
});

test('the goal that is killed has cycles, checks, a judge, reviews, an approval, sleeps', () => {
  expect(essence(calm)).toMatchObject({
    violations: [],
    stop: ['completed', 'done_condition'],
    reviews: 4,
    approvals: 1,
    effects: { write_note: 3 },
  });
  expect([...calm.kinds]).toEqual(
    expect.arrayContaining([
      'open_goal',
      'run_check',
      'prepare_cycle',
      'close_cycle',
      'ask_judge',
      'save_checkpoint',
    ]),
  );
  expect(essence(calm).read?.filter(Boolean)).toHaveLength(1);
});

test.each<Pick<Death, 'when' | 'how'>>([
  { when: 'before', how: 'crash' },
  { when: 'after', how: 'crash' },
  { when: 'after', how: 'partition' },
])('is the same goal when its worker is gone $when a call of the store ($how)', async (death) => {
  const all = Array.from({ length: calm.calls }, (_, at) => at);
  const chosen = WHOLE ? all : drawn(all, DRAWN, SEED);
  saySeed(`${chosen.length} of ${calm.calls} deaths of goals`);
  for (const at of chosen) {
    const killed = await play({ ...death, at });
    const { isLost } = killed;
    expect({ at, ...essence(killed, isLost) }).toEqual({ at, ...essence(calm, isLost) });
    const more = killed.seen.result!.costMicroUsd - calm.seen.result!.costMicroUsd;
    expect(isLost ? more >= 0 : more === 0).toBe(true);
    await store.empty();
  }
});

test('is the same goal when new segments begin all the time', async () => {
  // Each needs some steps to be opened.
  const played = await play(undefined, (step) => step % 12 === 11);
  expect(essence(played)).toEqual(essence(calm));
});

test('is the same goal when a new segment begins at one activation', async () => {
  const all = Array.from({ length: calm.steps }, (_, at) => at);
  for (const at of WHOLE ? all : drawn(all, DRAWN, SEED)) {
    const played = await play(undefined, (step) => step === at);
    expect({ at, ...essence(played) }).toEqual({ at, ...essence(calm) });
    await store.empty();
  }
});
