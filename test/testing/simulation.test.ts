import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Tool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import { modelFailure, type Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  startSimulation,
  virtualClock,
  type SeamPoint,
  type Simulation,
} from '../../testing/simulation/index.js';

describe('the virtual clock', () => {
  it('stands still until a timer is fired, and fires equal ones in the order of their setting', () => {
    const clock = virtualClock(1_000);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
    clock.after(20, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    const cancel = clock.after(5, note('never'));
    cancel();
    expect(clock.now()).toBe(1_000);
    while (clock.fireNext());
    expect(fired).toEqual(['first@1010', 'second@1010', 'late@1020']);
  });
});

describe('a worker that dies in a simulation', () => {
  let store: MemoryStore;
  beforeAll(async () => {
    store = await openMemoryStore();
  });
  afterEach(() => store.empty());
  afterAll(() => store.close());

  const POINTS: readonly SeamPoint[] = [
    'before_claim',
    'after_claim',
    'before_effect',
    'after_effect',
    'before_record',
    'after_record',
  ];

  it('ends when it is told to, although its store is closed and it would try for ever', async () => {
    const closed = await openMemoryStore();
    const stop = new AbortController();
    const options = await worldOf(closed, payInto(new Set()));
    const simulation = startSimulation({ ...options, signal: stop.signal });
    await closed.close();
    setTimeout(() => stop.abort(new Error('told to end')), 50);
    await expect(simulation.finish()).rejects.toThrow('told to end');
  });

  async function killedAt(point: SeamPoint, tool: Tool) {
    let killed = false;
    const simulation: Simulation = startSimulation({
      ...(await worldOf(store, tool)),
      seam: (reached) => {
        if (reached !== point || killed) return;
        killed = true;
        simulation.workers.kill();
      },
    });
    const final = await simulation.finish();
    expect(killed).toBe(true);
    return { simulation, final };
  }

  it.each(POINTS)('%s leaves one effect of a keyed write', async (point) => {
    const booked = new Set<string>();
    const { simulation, final } = await killedAt(point, noteInto(booked));
    expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
    expect([...booked]).toEqual(['task:0']);
    expect(simulation.violations).toEqual([]);
  });

  it.each(POINTS)('%s leaves one payment of a service that knows its key', async (point) => {
    const paid = new Set<string>();
    const { simulation, final } = await killedAt(point, payInto(paid));
    // Nobody was asked.
    expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
    expect([...paid]).toEqual(['task:0']);
    expect(await store.listLedger('default', { runId: 'run_1' })).toMatchObject([
      { key: 'task:0', state: 'recorded', source: 'tool' },
    ]);
    expect(simulation.violations).toEqual([]);
  });

  it('and whose connection alone is gone meets the fences of the store', async () => {
    const booked = new Set<string>();
    let cut = false;
    const simulation: Simulation = startSimulation({
      ...(await worldOf(store, noteInto(booked))),
      seam: (reached) => {
        if (reached !== 'after_effect' || cut) return;
        cut = true;
        simulation.workers.kill('partition');
      },
    });
    const final = await simulation.finish();
    expect(final).toMatchObject({ kind: 'result', result: { stopReason: 'completed' } });
    expect([...booked]).toEqual(['task:0']);
    // The zombie recorded what it did; the second delivery found it and ran nothing.
    expect(simulation.events.find((event) => event.type === 'tool_finished')).toMatchObject({
      status: 'ok',
      content: { text: 'noted' },
    });
  });
});

it('a model call that is cancelled between two attempts costs what the first one did', async () => {
  const store = await openMemoryStore();
  const base = await worldOf(store, noteInto(new Set()));
  const failing: Provider = {
    name: 'anthropic',
    complete: () => {
      simulation.clock.after(100, () => simulation.send({ type: 'interrupt' }));
      const sent = { receivedInput: true, receivedOutputTokensEstimate: 40, shouldRetry: true };
      return Promise.reject(
        modelFailure('Overloaded', 'broke off', { ...sent, retryAfterMs: 60_000 }),
      );
    },
  };
  const providers = new Map([[failing.name, failing]]);
  const simulation: Simulation = startSimulation({ ...base, providers });
  const final = await simulation.finish();
  expect(final).toMatchObject({ result: { stopReason: 'interrupted', usage: { output: 40 } } });
  const { result } = final as Extract<typeof final, { kind: 'result' }>;
  expect(result.usage.input).toBeGreaterThan(100);
  expect(result.costMicroUsd).toBeGreaterThan(0);
  expect(simulation.events.at(-1)).toMatchObject({ result: { costMicroUsd: result.costMicroUsd } });
  expect(simulation.violations).toEqual([]);
  await store.close();
});

it('S189: a policy that is deployed while a run goes on does not change the run', async () => {
  const store = await openMemoryStore();
  const booked = new Set<string>();
  const base = await worldOf(store, noteInto(booked));
  const [agent] = base.config.agents.values();
  const denying = { version: '2', rules: [{ tool: '*', decision: 'deny' } as const] };
  const agents = new Map(base.config.agents);
  const simulation: Simulation = startSimulation({
    ...base,
    config: { ...base.config, agents },
    onEvent: ({ type }) => {
      if (type === 'session_init') agents.set('a', { ...agent!, policy: denying });
    },
  });
  expect(await simulation.finish()).toMatchObject({
    result: { stopReason: 'completed', versions: { policy: '0' } },
  });
  expect(agents.get('a')?.policy).toBe(denying);
  expect(booked.size).toBe(1);
  await store.close();
});

it.each([
  ['ends a task that cannot do without it', true, 'tool_unavailable'],
  ['is an error that the model can work around', false, 'completed'],
] as const)('a tool that is gone from its worker %s', async (_, needed, stopReason) => {
  const store = await openMemoryStore();
  const booked = new Set<string>();
  const base = await worldOf(store, noteInto(booked));
  const requiredEvidence = needed ? [{ id: 'noted', satisfiedBy: 'note' }] : [];
  const simulation: Simulation = startSimulation({
    ...base,
    start: { ...base.start, task: { ...base.start.task, requiredEvidence } },
    config: { ...base.config, tools: new Map() },
  });
  expect(await simulation.finish()).toMatchObject({ result: { stopReason } });
  expect(simulation.events).toContainEqual(
    expect.objectContaining({ type: 'tool_finished', code: 'tool_unavailable' }),
  );
  expect(simulation.violations).toEqual([]);
  expect(booked.size).toBe(0);
  await store.close();
});

/** A tool that must not be repeated by itself, in front of a service that recognises keys. */
function payInto(paid: Set<string>): Tool {
  return defineTool({
    name: 'note',
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    approval: 'never',
    onLost: 'repeat_with_key',
    input: z.object({ text: z.string() }),
    run: async (_input, { idempotencyKey }) => {
      paid.add(idempotencyKey);
      return 'paid';
    },
  });
}

function noteInto(booked: Set<string>): Tool {
  return defineTool({
    name: 'note',
    version: '1',
    effect: 'write',
    idempotency: 'keyed',
    approval: 'never',
    input: z.object({ text: z.string() }),
    run: async (_input, { idempotencyKey }) => {
      booked.add(idempotencyKey);
      return 'noted';
    },
  });
}

async function worldOf(store: MemoryStore, tool: Tool) {
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Do it.',
    tools: [tool],
  });
  const provider: Provider = {
    name: 'anthropic',
    complete: async ({ model, messages }) => {
      const first = messages.length === 1;
      const call = { type: 'tool_use', id: 'c1', tool: 'note', args: { text: 'x' } } as const;
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
  return {
    store,
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: 'a', task: { goal: 'Note it.', taskId: 'task' } } as const,
    runId: 'run_1',
  };
}
