/**
 * Workers and the store are away for longer than every limit of a run, at each kind of effect in turn: the run ends as
 * it would have, its effects happen once, and its active time has no part of the outage (G115).
 */
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  ToolError,
} from '../../authoring/index.js';
import { isActivity, type ActivityEffect } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import {
  SIMULATION_START,
  startSimulation,
  virtualClock,
  type Simulation,
} from '../../testing/simulation/index.js';
import type { VirtualClock } from '../../testing/simulation/clock.js';
import { shaky } from './support/shaky-store.js';

type Kind = ActivityEffect['kind'];

const HOUR = 3_600_000;
/** Longer than the run's time, than what any tool or model has, and than the time questions stay open for. */
const OUTAGE_MS = 5 * HOUR;
const RUN_ID = 'run_1';

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

/** What really happened outside, by tool. */
interface Outside {
  readonly effects: string[];
  readonly requests: string[];
}

function toolsOf({ effects }: Outside) {
  const input = z.object({ item: z.string() });
  let sends = 0;
  return [
    defineTool({ name: 'look', version: '1', effect: 'read', input, run: () => 'blue' }),
    defineTool({
      name: 'note',
      version: '1',
      effect: 'write',
      idempotency: 'keyed',
      approval: 'never',
      input,
      run: ({ item }) => {
        effects.push(`note ${item}`);
        return 'noted';
      },
    }),
    defineTool({
      name: 'pay',
      version: '1',
      effect: 'financial',
      idempotency: 'keyed',
      approval: { roles: ['manager'] },
      input,
      // The answer gets lost: its probe tells.
      run: ({ item }) => {
        effects.push(`pay ${item}`);
        throw new Error('the connection broke');
      },
      probe: () => 'paid',
    }),
    defineTool({
      name: 'send',
      version: '1',
      effect: 'send',
      approval: 'never',
      input,
      // Nothing is sent the first time, and nobody but a person can know.
      run: ({ item }) => {
        sends += 1;
        if (sends === 1) throw new Error('the connection broke');
        effects.push(`send ${item}`);
        return 'sent';
      },
    }),
    defineTool({
      name: 'refuse',
      version: '1',
      effect: 'financial',
      approval: 'never',
      input,
      run: () => {
        throw new ToolError('closed', 'the account is closed');
      },
    }),
  ];
}

const hooks = [
  defineHook({ name: 'greet', point: 'SessionStart', run: () => ({}) }),
  defineHook({ name: 'after', point: 'PostToolUse', run: () => ({}) }),
  defineHook({ name: 'farewell', point: 'SessionEnd', run: () => ({}) }),
];

/** One call of each tool, then an answer; summaries whenever they are asked for. */
function providerOf({ requests }: Outside): Provider {
  const tools = ['look', 'note', 'pay', 'send', 'refuse'];
  return {
    name: 'anthropic',
    complete: async ({ model, messages }) => {
      const asked = JSON.stringify(messages.at(-1));
      const summary = asked.includes('Summarise the conversation');
      const called = requests.filter((what) => what !== 'summary').length;
      const tool = summary ? undefined : tools[called];
      requests.push(summary ? 'summary' : (tool ?? 'answer'));
      const args = { item: 'lamp' };
      const text = summary ? 'Everything so far.' : 'Done.';
      return {
        blocks:
          tool === undefined
            ? [{ type: 'text', text }]
            : [{ type: 'tool_use', id: `c${called}`, tool, args }],
        raw: [],
        stop: tool === undefined ? 'end_turn' : 'tool_use',
        usage: { ...NO_USAGE, input: called === 3 && !summary ? 9_000 : 100, output: 10 },
        usageSource: 'reported',
        model,
        incompleteCalls: 0,
      };
    },
  };
}

interface Played {
  readonly result: RunResult;
  readonly outside: Outside;
  readonly events: readonly RunEvent[];
  readonly violations: readonly string[];
  readonly kinds: ReadonlySet<Kind>;
  /** Virtual time from its start to its end. */
  readonly tookMs: number;
}

interface Place {
  readonly clock: VirtualClock;
  /** Later than the decision that hands the effect over. */
  readonly killWorker: (downMs: number) => void;
}

type Outage = (place: Place, kind: Kind) => void;

async function play(outage: Outage = () => undefined, isAway = () => false): Promise<Played> {
  const outside: Outside = { effects: [], requests: [] };
  const provider = providerOf(outside);
  const kinds = new Set<Kind>();
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Serve.',
    tools: toolsOf(outside),
    hooks,
    budget: { timeoutMs: HOUR, compactionThreshold: 0.04 },
    settings: { approvalTimeoutMs: 48 * HOUR, inputTimeoutMs: 48 * HOUR, modelTimeoutMs: HOUR },
  });
  const clock = virtualClock(SIMULATION_START);
  const killWorker = (downMs: number): void =>
    void Promise.resolve().then(() => simulation.workers.kill('crash', downMs));
  const answered = new Set<string>();
  let modelSet = false;
  const simulation: Simulation = startSimulation({
    store: shaky(store, isAway),
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    start: { v: 1, agent: 'a', task: { goal: 'Serve.', taskId: RUN_ID } },
    runId: RUN_ID,
    clock,
    onStep(_run, effects) {
      for (const effect of effects) {
        if (!isActivity(effect) || kinds.has(effect.kind)) continue;
        kinds.add(effect.kind);
        outage({ clock, killWorker }, effect.kind);
      }
    },
    onEvent(event) {
      if (event.type === 'model_response' && !modelSet) {
        modelSet = true;
        simulation.send({ type: 'set_model', model: 'scripted/other' });
      }
      const asks = event.type === 'approval_requested' || event.type === 'input_request';
      if (!asks || answered.has(event.askId)) return;
      answered.add(event.askId);
      simulation.send({ type: 'decision', decision: wordOn(event, simulation) });
    },
  });
  const began = SIMULATION_START;
  const final = await simulation.finish();
  if (final.kind !== 'result') throw new Error(`refused: ${JSON.stringify(final)}`);
  const { events, violations } = simulation;
  const tookMs = simulation.clock.now() - began;
  return { result: final.result, outside, events, violations, kinds, tookMs };
}

type Question = Extract<RunEvent, { type: 'approval_requested' | 'input_request' }>;

/** A payment is corrected, an outcome did not happen. */
function wordOn({ askId, argsHash, kind }: Question, { clock }: Simulation) {
  const by = { by: 'maria', roles: ['manager'], askId, argsHash, v: 1 as const };
  const decidedAt = clock.now();
  return kind === 'outcome'
    ? { ...by, decision: 'not_happened' as const, decidedAt }
    : { ...by, decision: 'modify' as const, args: { item: 'desk' }, decidedAt };
}

/** Everything of an end that an outage may not change. */
const told = ({ result, outside }: Played) => ({
  stopReason: result.stopReason,
  answer: result.answer,
  effects: outside.effects,
  requests: outside.requests,
  toolCalls: result.counters.toolCalls,
  costMicroUsd: result.costMicroUsd,
});

const KINDS: readonly Kind[] = [
  'open_run',
  'call_model',
  'execute_tool',
  'reconcile_tool',
  'record_outcome',
  'check_call',
  'run_hooks',
  'compact',
  'resolve_model',
  'flush',
  'close_run',
];

/** Of the story without an outage. */
let plain: Played;
beforeAll(async () => {
  plain = await play();
  await store.empty();
});

test('the story has every kind of effect', () => {
  const { kinds, result, violations, outside } = plain;
  expect([...kinds].toSorted()).toEqual([...KINDS].toSorted());
  expect(result.stopReason).toBe('completed');
  expect(outside.effects).toEqual(['note lamp', 'pay desk', 'send lamp']);
  expect(violations).toEqual([]);
});

describe('no worker for longer than every limit', () => {
  test.each(KINDS)('from when %s is handed over changes nothing of the run', async (kind) => {
    const away = await play(({ killWorker }, started) => {
      if (started === kind) killWorker(OUTAGE_MS);
    });
    expect(told(away)).toEqual(told(plain));
    expect(away.violations).toEqual([]);
    expect(away.tookMs).toBeGreaterThanOrEqual(OUTAGE_MS);
    expect(away.result.counters.activeMs).toBeLessThan(HOUR / 2);
  });
});

describe('no store for longer than every limit', () => {
  test.each(KINDS)('from when %s is handed over changes nothing of the run', async (kind) => {
    let isAway = false;
    const away = await play(
      ({ clock }, started) => {
        if (started !== kind) return;
        isAway = true;
        clock.after(OUTAGE_MS, () => (isAway = false));
      },
      () => isAway,
    );
    expect(told(away)).toEqual(told(plain));
    expect(away.violations).toEqual([]);
    expect(away.tookMs).toBeGreaterThanOrEqual(OUTAGE_MS);
    expect(away.result.counters.activeMs).toBeLessThan(HOUR / 2);
  });
});
