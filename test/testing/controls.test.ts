/** What a limit counts when workers die around the claim that reserves it. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  startSimulation,
  type SeamPoint,
  type Simulation,
} from '../../testing/simulation/index.js';

let store: MemoryStore;
let done: Set<string>;

beforeAll(async () => {
  store = await openMemoryStore();
});
beforeEach(() => {
  done = new Set();
});
afterEach(() => store.empty());
afterAll(() => store.close());

/** Knows its keys, and can be asked about them. */
const pay = defineTool({
  name: 'pay',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  approval: 'never',
  limits: { amount: ({ cents }) => cents, perDay: { amount: 100 } },
  input: z.object({ cents: z.number() }),
  run: (_, { idempotencyKey }) => {
    done.add(idempotencyKey);
    return 'paid';
  },
  probe: (_, { idempotencyKey }) => (done.has(idempotencyKey) ? 'paid' : null),
});

const provider: Provider = {
  name: 'anthropic',
  complete: async ({ model, messages }) => {
    const first = messages.length === 1;
    const call = { type: 'tool_use', id: 'c1', tool: 'pay', args: { cents: 60 } } as const;
    return {
      blocks: first ? [call] : [{ type: 'text', text: 'done' }],
      raw: [],
      stop: first ? 'tool_use' : 'end_turn',
      usage: { ...NO_USAGE, input: 10, output: 1 },
      usageSource: 'reported',
      model,
      incompleteCalls: 0,
    };
  },
};

function play(runId: string, killAt?: SeamPoint): Simulation {
  let killed = false;
  const agent = { name: 'a', model: 'scripted/m', instructions: 'Pay.', tools: [pay] };
  const simulation: Simulation = startSimulation({
    store,
    config: defineConfig({ agents: [defineAgent(agent)] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: 'a', task: { goal: 'Pay.', taskId: runId } },
    runId,
    seam: (reached) => {
      if (reached !== killAt || killed) return;
      killed = true;
      simulation.workers.kill();
    },
  });
  return simulation;
}

const codeOf = ({ events }: Simulation) => {
  const finished = events.find((event) => event.type === 'tool_finished');
  return finished?.code ?? finished?.status;
};

const POINTS: readonly SeamPoint[] = [
  'before_claim',
  'after_claim',
  'before_effect',
  'after_effect',
  'before_record',
  'after_record',
];

it.each(POINTS)('a worker that dies %s takes its part of the limit once', async (point) => {
  const dying = play('run_1', point);
  await dying.finish();
  expect(codeOf(dying)).toBe('ok');
  expect([...done]).toEqual(['run_1:0']);
  const over = play('run_2');
  await over.finish();
  expect(codeOf(over)).toBe('limit_exceeded');
  expect(done.size).toBe(1);
  expect([...dying.violations, ...over.violations]).toEqual([]);
});
