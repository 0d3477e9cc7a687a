/** What a cycle costs does not grow with the age of its goal. HOLDFAST_WHOLE=1: a thousand cycles. */
import type { Observation } from '../../evaluation/engine.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { playGoal } from '../../evaluation/simulation/goal-play.js';
import { openMemoryStore } from '../../store/store.js';
import { WHOLE } from '../seed.js';

const CYCLES = WHOLE ? 1_000 : 40;

/** Each cycle notes something, publishes, changes its plan. */
const steps = [{ id: 's', title: 'Match the invoices', status: 'doing' }];
const CASE = {
  case_id: 'flat',
  goal: 'All invoices of March are matched.',
  goalLoop: {
    done: { all: [{ check: 'open', path: 'count', equals: 0 }] },
    validation: [{ name: 'open', measure: { path: 'count', better: 'lower' } }],
    budget: { maxCostMicroUsd: 1_000_000_000, maxCycles: CYCLES },
    cycle: { maxCostMicroUsd: 1_000_000, maxTurns: 5 },
    briefTokens: 1_500,
    pace: { everyMs: 86_400_000 },
  },
  checks: { open: Array.from({ length: CYCLES + 1 }, (_, n) => ({ ok: { count: 5_000 - n } })) },
  model: [
    {
      calls: [
        { id: 'n', tool: 'goal_note', input: { text: `Seen: ${'x'.repeat(300)}` } },
        { id: 'q', tool: 'goal_publish', input: { path: 'left', value: 7 } },
        { id: 'p', tool: 'goal_plan', input: { steps } },
      ],
    },
    { text: 'Worked.' },
  ],
  expected: { stop_reason: 'max_turns' },
};

async function play(): Promise<Observation> {
  const store = await openMemoryStore();
  const fixture = parseFixture(JSON.stringify(CASE), 'flat.json');
  const seen = await playGoal(fixture, store);
  await store.close();
  return seen;
}

test(
  `of ${CYCLES} cycles the last ten are as large as the second ten`,
  async () => {
    const seen = await play();
    expect(seen.violations).toEqual([]);
    expect(seen.result).toMatchObject({ detail: 'max_cycles', goal: { cycles: CYCLES } });
    const sizeOf = (n: number): number =>
      seen.requests
        .filter(({ runId }) => runId === `flat:c${n}`)
        .reduce((sum, request) => sum + JSON.stringify(request).length, 0);
    const mean = (from: number): number =>
      Array.from({ length: 10 }, (_, at) => sizeOf(from + at)).reduce((a, b) => a + b, 0) / 10;
    const [second, last] = [mean(11), mean(CYCLES - 9)];
    console.log(`request bytes of a cycle: ${second} in the second ten, ${last} in the last ten`);
    expect(Math.abs(last - second) / second).toBeLessThan(0.1);
    const costs = seen.events.flatMap((event) =>
      event.type === 'cycle_ended' ? [event.costMicroUsd] : [],
    );
    expect(costs.at(-1)).toBe(costs[10]);
  },
  WHOLE ? 1_200_000 : 180_000,
);
