/** People decide on a run, and stop it, while its store is away: told once, done once, recorded when it is back. */
import { z } from 'zod';
import { checkAudit } from '../../cli/desk/audit-check.js';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import type { Decision } from '../../core/state/ask.js';
import type { AskView } from '../../core/state/ask-view.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  SIMULATION_START,
  startSimulation,
  virtualClock,
  type Simulation,
} from '../../testing/simulation/index.js';
import { shaky } from './support/shaky-store.js';

const HOUR = 3_600_000;
const RUN_ID = 'run_1';

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

type Said = (ask: AskView, run: Simulation, later: (ms: number, then: () => void) => void) => void;

/** A payment is asked about; from then on the store is away for an hour, in which people say something. */
async function play(said: Said) {
  const paidAt: number[] = [];
  const clock = virtualClock(SIMULATION_START);
  let isAway = false;
  let asked = 0;
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    approval: { roles: ['manager'] },
    input: z.object({ item: z.string() }),
    run: () => void paidAt.push(clock.now()),
  });
  const provider: Provider = {
    name: 'anthropic',
    complete: async ({ model }) => ({
      blocks:
        (asked += 1) === 1
          ? [{ type: 'tool_use', id: 'c1', tool: 'pay', args: { item: 'lamp' } }]
          : [{ type: 'text', text: 'Done.' }],
      raw: [],
      stop: asked === 1 ? 'tool_use' : 'end_turn',
      usage: { ...NO_USAGE, input: 10, output: 10 },
      usageSource: 'reported',
      model,
      incompleteCalls: 0,
    }),
  };
  const settings = { approvalTimeoutMs: 48 * HOUR };
  const tools = [pay];
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Serve.',
    tools,
    settings,
  });
  const simulation: Simulation = startSimulation({
    store: shaky(store, () => isAway),
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: 'a', task: { goal: 'Serve.', taskId: RUN_ID } },
    runId: RUN_ID,
    clock,
    onEvent(event) {
      if (event.type !== 'approval_requested') return;
      // The question itself is stored first.
      clock.after(1_000, () => {
        isAway = true;
        clock.after(HOUR, () => (isAway = false));
        said(event, simulation, (ms, then) => void clock.after(ms, then));
      });
    },
  });
  const final = await simulation.finish();
  if (final.kind !== 'result') throw new Error(`refused: ${JSON.stringify(final)}`);
  expect(simulation.violations).toEqual([]);
  expect((await checkAudit(store, 'default', [])).fault).toBeUndefined();
  const trail = await store.readAudit('default', { limit: 100 });
  const run = await store.getRun('default', RUN_ID);
  return { result: final.result, trail, run, paidAt };
}

function decision(ask: AskView, { clock }: Simulation, over: Partial<Decision> = {}) {
  const { askId, argsHash } = ask;
  const made = { v: 1, askId, argsHash, decision: 'approve', by: 'maria', nonce: 'n1' } as const;
  const roles = ['manager'];
  const decided = { ...made, roles, decidedAt: clock.now(), unrecorded: true, ...over } as const;
  return { type: 'decision', decision: decided } as const;
}

test('an approval counts once, and pays when the store is back', async () => {
  const { result, trail, paidAt } = await play((ask, run) => {
    run.send(decision(ask, run));
    run.send(decision(ask, run));
  });
  expect(result.stopReason).toBe('completed');
  expect(paidAt).toHaveLength(1);
  expect(paidAt[0]).toBeGreaterThanOrEqual(SIMULATION_START + HOUR);
  expect(trail.map(({ kind }) => kind)).toEqual([
    'asked',
    'decided',
    'resolved',
    'effect_started',
    'effect_ended',
  ]);
});

test('a rejection stays one, whatever is said after it, and every word is in the trail once', async () => {
  const { result, trail, paidAt } = await play((ask, run, later) => {
    run.send(decision(ask, run, { argsHash: 'f'.repeat(64), by: 'eve', nonce: 'n0' }));
    run.send(decision(ask, run, { decision: 'reject' }));
    later(60_000, () => run.send(decision(ask, run, { by: 'otto', nonce: 'n2' })));
  });
  expect(result.stopReason).toBe('completed');
  expect(paidAt).toEqual([]);
  const told = trail.map(({ kind, facts }) => [kind, facts.reason ?? facts.decision ?? null]);
  expect(told).toEqual([
    ['asked', null],
    ['ignored', 'mismatched'],
    ['decided', 'reject'],
    ['resolved', null],
    ['ignored', 'already_decided'],
  ]);
});

test('a cancel ends the run although the store is away, and its record comes when it is back', async () => {
  const { result, run, paidAt } = await play((ask, simulation, later) => {
    simulation.send(decision(ask, simulation));
    later(60_000, () => simulation.send({ type: 'cancel_requested' }));
  });
  expect(result).toMatchObject({ stopReason: 'aborted', status: 'cancelled' });
  // Decided at the cancel: what came after it is no part of the run.
  expect(result.counters.activeMs + result.counters.waitingMs).toBeLessThan(HOUR / 2);
  expect(run).toMatchObject({ status: 'cancelled' });
  expect(paidAt).toEqual([]);
});
