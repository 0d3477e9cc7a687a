/**
 * A goal of thirty days with five deployments: each begins a new segment, two bring new rules, one a new version of the
 * agent. Beside it the same goal without any, and with a worker that dies at calls of the store around a deployment.
 * HOLDFAST_WHOLE=1: at more of these calls; HOLDFAST_SEED: of the draw.
 */
import { parseFixture } from '../../evaluation/read-fixture.js';
import { playGoal } from '../../evaluation/simulation/goal-play.js';
import type { Observation } from '../../evaluation/engine.js';
import type { ActivityDeps } from '../../activities/index.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import type { GoalSimulation } from '../../testing/simulation/index.js';
import { ofType } from '../../evaluation/compare/trail.js';
import { drawn } from '../draw.js';
import { SEED, saySeed, WHOLE } from '../seed.js';
import { essenceOf } from './support/goal-essence.js';
import { watched, type When } from './support/watched-store.js';

const DRAWN = WHOLE ? 60 : 1;
/** Calls of the store before and after a deployment at which the worker may die. */
const AROUND = 25;
const DAY_MS = 86_400_000;
const DAYS = 30;
const OLDEST = RULES_VERSION - 2;

/** Each day one invoice is matched; a review every five days; people approve the first cycle, steer and wake. */
const CASE = {
  case_id: 'deployed',
  goal: 'All invoices of March are matched.',
  goalLoop: {
    done: {
      all: [
        { check: 'open', path: 'count', equals: 0 },
        { state: 'left', equals: 0 },
      ],
    },
    validation: [{ name: 'open', measure: { path: 'count', better: 'lower' } }],
    reviewer: { roles: ['manager'] },
    reviewEvery: { cycles: 5 },
    budget: { maxCostMicroUsd: 400_000_000, maxCycles: 40 },
    // A request whose reply is lost is billed with its bound: a slice pays that, too.
    cycle: { maxCostMicroUsd: 10_000_000, maxTurns: 5 },
    approval: [{ before: 'first_cycle', roles: ['manager'] }],
    pace: { everyMs: DAY_MS },
  },
  checks: {
    open: Array.from({ length: DAYS + 1 }, (_, day) => ({ ok: { count: DAYS - day } })),
  },
  tools: { write_note: { idempotency: 'keyed' } },
  policy: [{ tool: 'write_note', decision: 'allow' }],
  cycles: Array.from({ length: DAYS }, (_, day) => ({
    model: [
      {
        calls: [
          { id: `w${day}`, tool: 'write_note', input: { text: `matched ${day}` } },
          {
            id: `p${day}`,
            tool: 'goal_publish',
            input: { path: 'left', value: DAYS - day - 1 },
          },
        ],
      },
      { text: 'One matched.' },
    ],
  })),
  reviews: [{ objective_valid: true, because: 'Still wanted.' }],
  during: [
    {
      on: { event: 'approval_requested' },
      do: { resolveApproval: { decision: 'approve', goal: true, by: 'ann' } },
    },
    { on: { event: 'cycle_started', n: 7 }, do: { steer: 'Start with the oldest.' } },
    { on: { event: 'goal_review', n: 3 }, do: { wake: true } },
  ],
  expected: { stop_reason: 'completed' },
};

interface Deployment {
  /** When it begins, as the goal sees it. */
  readonly on: {
    readonly type: 'goal_sleeping' | 'cycle_started' | 'cycle_ended';
    readonly nth: number;
  };
  readonly release: (deps: ActivityDeps) => ActivityDeps;
}

const DEPLOYMENTS: readonly Deployment[] = [
  { on: { type: 'goal_sleeping', nth: 5 }, release: (deps) => deps },
  { on: { type: 'cycle_started', nth: 10 }, release: (deps) => ({ ...deps, rules: OLDEST + 1 }) },
  { on: { type: 'cycle_started', nth: 15 }, release: withNextAgent },
  { on: { type: 'cycle_ended', nth: 20 }, release: (deps) => ({ ...deps, rules: OLDEST + 2 }) },
  { on: { type: 'goal_sleeping', nth: 25 }, release: (deps) => deps },
];

function withNextAgent({ config, ...deps }: ActivityDeps): ActivityDeps {
  const instructions = 'Match, and say what you matched.';
  const agents = [...config.agents].map(
    ([name, agent]) => [name, { ...agent, version: '2', instructions }] as const,
  );
  return { ...deps, config: { ...config, agents: new Map(agents) } };
}

interface Death {
  /** Number of the call. */
  readonly at: number;
  readonly when: When;
  readonly how: 'crash' | 'partition';
}

interface Plan {
  readonly deployments: readonly Deployment[];
  readonly death?: Death;
}

interface Played {
  readonly seen: Observation;
  readonly simulation: GoalSimulation;
  /** Calls of the store when each deployment began. */
  readonly deployedAt: readonly number[];
  /** Of each segment. */
  readonly rules: readonly number[];
  readonly isLost: boolean;
}

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

async function play({ deployments, death }: Plan): Promise<Played> {
  const fixture = parseFixture(JSON.stringify(CASE), 'deployed.json');
  let played: GoalSimulation | undefined;
  let [calls, dead, isLost] = [0, false, false];
  const requests = { open: 0 };
  const deployedAt: number[] = [];
  const rules: number[] = [];
  const told = (when: When): boolean => {
    if (when === 'before') calls += 1;
    if (dead || calls - 1 !== death?.at || when !== death.when) return false;
    dead = true;
    isLost = requests.open > 0;
    played?.workers.kill(death.how, 1_000);
    // Where its connection alone is gone, its code runs on.
    return death.how === 'crash';
  };
  const heard = { events: 0, due: [...deployments] };
  const deploy = (simulation: GoalSimulation): void => {
    const { events } = simulation;
    for (; heard.events < events.length; heard.events += 1) {
      const [next] = heard.due;
      if (next === undefined) continue;
      const nth = events
        .slice(0, heard.events + 1)
        .filter(({ type }) => type === next.on.type).length;
      if (events[heard.events]!.type !== next.on.type || nth !== next.on.nth) continue;
      heard.due.shift();
      deployedAt.push(calls);
      simulation.workers.deploy(next.release);
      simulation.continueAsNew();
    }
  };
  const seen = await playGoal(fixture, watched(store, told, requests), {
    rules: OLDEST,
    begun: (simulation) => {
      played = simulation;
    },
    onStep: () => {
      if (played === undefined) return;
      const { segment, rules: followed } = played.goal();
      if (segment.opened) rules[segment.number] = followed;
      deploy(played);
    },
  });
  return { seen, simulation: played!, deployedAt, rules, isLost };
}

/** What each cycle was opened with. */
function openings({ simulation }: Played) {
  return [...simulation.cycles.values()].map((cycle) => {
    const { agent } = ofType(cycle.events, 'session_init')[0]!.versions;
    return { agent, rules: cycle.run().rules };
  });
}

let undisturbed: Played;
let deployed: Played;
beforeAll(async () => {
  undisturbed = await play({ deployments: [] });
  await store.empty();
  deployed = await play({ deployments: DEPLOYMENTS });
});

test('without a deployment it ends after thirty days, steered, woken, reviewed every five cycles', () => {
  const { seen, rules } = undisturbed;
  expect(essenceOf(seen)).toMatchObject({
    violations: [],
    stop: ['completed', 'done_condition'],
    cycles: DAYS,
    reviews: 6,
    // With the wake.
    steered: 2,
    approvals: 1,
    effects: { write_note: DAYS },
  });
  const { startedAt, now } = undisturbed.simulation.goal();
  expect(now - startedAt).toBeGreaterThan((DAYS - 3) * DAY_MS);
  expect(new Set(rules)).toEqual(new Set([OLDEST]));
});

test('with five deployments it is the same goal, cycle by cycle', () => {
  expect(deployed.deployedAt).toHaveLength(DEPLOYMENTS.length);
  expect(essenceOf(deployed.seen)).toEqual(essenceOf(undisturbed.seen));
});

test('each segment follows the rules of its release, each cycle the rules and the agent that served at its start', () => {
  const [first, second, newest] = [OLDEST, OLDEST + 1, OLDEST + 2];
  expect(deployed.rules).toEqual([first, first, second, second, newest, newest]);
  const all = openings(deployed);
  const ten = Array.from({ length: 10 });
  // One that has started when a release comes is what it was.
  const expected = [first, second, newest].flatMap((rules) => ten.map(() => rules));
  expect(all.map(({ rules }) => rules)).toEqual(expected);
  const agents = new Set(all.map(({ agent }) => agent));
  expect(agents.size).toBe(2);
  expect(all.map(({ agent }) => [...agents].indexOf(agent))).toEqual(
    all.map((_, index) => (index < 15 ? 0 : 1)),
  );
});

test.each<Pick<Death, 'when' | 'how'>>([
  { when: 'before', how: 'crash' },
  { when: 'after', how: 'crash' },
  { when: 'after', how: 'partition' },
])(
  'is the same goal when a worker is gone $when a call around a deployment ($how)',
  async (death) => {
    const all = deployed.deployedAt.flatMap((from) =>
      Array.from({ length: 2 * AROUND }, (_, index) => from - AROUND + index),
    );
    const chosen = drawn(all, DRAWN, SEED);
    saySeed(`${chosen.length} of ${all.length} deaths around deployments`);
    for (const at of chosen) {
      await store.empty();
      const killed = await play({ deployments: DEPLOYMENTS, death: { ...death, at } });
      const { isLost } = killed;
      expect({ at, ...essenceOf(killed.seen, isLost) }).toEqual({
        at,
        ...essenceOf(undisturbed.seen, isLost),
      });
      expect(openings(killed)).toHaveLength(DAYS);
    }
  },
);
