/** Two runs of one session, one after the other, with the real core, activities and store. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineHook, defineTool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { SettingsOverrides, StartInput } from '../../core/state/task.js';
import type { Block } from '../../core/state/transcript.js';
import { modelFailure, type Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startSimulation, virtualClock, type Simulation } from '../../testing/simulation/index.js';

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.empty());
afterAll(() => store.close());

type Said = string | readonly { readonly id: string; readonly args: object }[] | Error;

interface Playing {
  readonly runId: string;
  readonly says: readonly Said[];
  readonly taskId?: string;
  readonly session?: StartInput['session'];
  readonly settings?: SettingsOverrides;
}

const trail: string[] = [];
const keys: string[] = [];
beforeEach(() => {
  trail.length = 0;
  keys.length = 0;
});

const note = defineTool({
  name: 'note',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  approval: 'never',
  input: z.object({ text: z.string() }),
  run: async ({ text }, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return { noted: text };
  },
});
const hooks = (['SessionStart', 'SessionEnd'] as const).map((point) =>
  defineHook({
    name: `tell-${point}`,
    point,
    run: async (input: object) => {
      trail.push(`${point} ${JSON.stringify(input)}`);
      return {};
    },
  }),
);

function begin({ runId, says, taskId, session, settings = {} }: Playing): Simulation {
  let turn = 0;
  const provider: Provider = {
    name: 'anthropic',
    complete: async ({ model, metadata }) => {
      const said = metadata?.purpose === 'compaction' ? 'A summary.' : (says[turn++] ?? 'Bye.');
      if (said instanceof Error) throw said;
      const blocks: Block[] =
        typeof said === 'string'
          ? [{ type: 'text', text: said }]
          : said.map(({ id, args }) => ({
              type: 'tool_use',
              id,
              tool: 'note',
              args: JSON.parse(JSON.stringify(args)),
            }));
      return {
        blocks,
        raw: [],
        stop: typeof said === 'string' ? 'end_turn' : 'tool_use',
        usage: { ...NO_USAGE, input: 10, output: 1 },
        usageSource: 'reported',
        model,
        incompleteCalls: 0,
      };
    },
  };
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Do it.',
    tools: [note],
    hooks,
    settings: { toolExecution: 'dataflow', persistSession: true },
  });
  return startSimulation({
    store,
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    clock: virtualClock(Date.UTC(2026, 0, 1)),
    start: {
      v: 1,
      agent: 'a',
      task: { goal: 'Note it.', ...(taskId !== undefined && { taskId }) },
      settings,
      ...(session !== undefined && { session }),
    },
    runId,
    onStep: (_run, effects) => {
      if (effects.some(({ kind }) => kind === 'close_run')) trail.push('stored');
    },
  });
}

async function play(playing: Playing) {
  const simulation = begin(playing);
  const final = await simulation.finish();
  expect(simulation.violations).toEqual([]);
  if (final.kind !== 'result') throw new Error(`not opened: ${final.message}`);
  return { simulation, result: final.result };
}

const toPath = (id: string, text: unknown, path: string) => ({
  id,
  args: { text, _outputPath: `state.${path}` },
});

describe('a run of a session', () => {
  it('is stored after its SessionEnd hooks; the next one’s hooks hear that it resumes', async () => {
    const { result } = await play({ runId: 'one', says: ['Hi.'] });
    await play({ runId: 'two', says: ['Hi again.'], session: { resume: 'one' } });
    expect(result.session).toEqual({ id: 'one', saved: true });
    expect(trail.map((line) => line.split(' ')[0])).toEqual([
      'SessionStart',
      'SessionEnd',
      'stored',
      'SessionStart',
      'SessionEnd',
      'stored',
    ]);
    expect(trail[0]).toContain('"source":"startup"');
    expect(trail[3]).toContain('"source":"resume"');
  });

  it('goes on counting steps when it resumes its task, and begins at 0 with another', async () => {
    await play({ runId: 'one', taskId: 'task', says: [[toPath('c', 'x', 'a')]] });
    await play({
      runId: 'two',
      taskId: 'task',
      session: { resume: 'one' },
      says: [[toPath('d', 'x', 'a')]],
    });
    await play({ runId: 'three', session: { resume: 'one' }, says: [[toPath('e', 'x', 'a')]] });
    expect(keys).toEqual(['task:0', 'task:1', 'three:0']);
  });

  it('sees what the session has written: the newest value of a path, older ones beside it', async () => {
    await play({ runId: 'one', says: [[toPath('c', 'first', 'a'), toPath('d', 'kept', 'b')]] });
    const session = { resume: 'one' };
    await play({ runId: 'two', session, says: [[toPath('e', 'second', 'a')]] });
    const { simulation } = await play({
      runId: 'three',
      session,
      says: [
        [
          { id: 'f', args: { text: { $from: 'previous.a.noted' } } },
          { id: 'g', args: { text: '†previous.b.noted' } },
          { id: 'h', args: { text: { $from: 'previous.c.noted' } } },
        ],
      ],
    });
    const finished = simulation.events.flatMap((event) =>
      event.type === 'tool_finished' ? [[event.callId, event.status, event.content]] : [],
    );
    expect(finished).toEqual(
      expect.arrayContaining([
        ['f', 'ok', { text: '{"noted":"second"}' }],
        ['g', 'ok', { text: '{"noted":"kept"}' }],
        ['h', 'skipped', expect.anything()],
      ]),
    );
  });

  it('compacts for a prompt that is too long once in the whole session', async () => {
    const tooLong = () =>
      modelFailure('PromptTooLong', 'too long', {
        receivedInput: false,
        receivedOutputTokensEstimate: 0,
        shouldRetry: false,
      });
    const noted = [1, 2, 3, 4, 5, 6].map((n) => [
      { id: `c${n}`, args: { text: `${n}${'x'.repeat(500)}` } },
    ]);
    const first = await play({ runId: 'one', says: noted });
    expect(first.result.counters.compactions.reactive).toBe(0);
    const session = { resume: 'one' };
    const second = await play({ runId: 'two', session, says: [tooLong(), 'Better.'] });
    expect(second.result).toMatchObject({
      stopReason: 'completed',
      counters: { compactions: { reactive: 1 } },
    });
    const third = await play({ runId: 'three', session, says: [...noted, tooLong(), 'Never.'] });
    expect(third.result).toMatchObject({
      stopReason: 'prompt_too_long',
      counters: { compactions: { reactive: 0 } },
    });
  });

  it('keeps its conversation beside the session when another run was faster', async () => {
    await play({ runId: 'one', says: ['Hi.'] });
    const slow = begin({ runId: 'slow', session: { resume: 'one' }, says: ['Slow.'] });
    // It has read the session before the other one stores it.
    await openedOf(slow);
    await play({ runId: 'fast', session: { resume: 'one' }, says: ['Fast.'] });
    const final = await slow.finish();
    expect(final).toMatchObject({
      result: { session: { id: 'slow', saved: true, forkedFrom: 'one' } },
    });
    const kept = await store.getSession('default', 'one');
    expect(kept).toMatchObject({ runId: 'fast', revision: 2 });
    expect(await store.getSession('default', 'slow')).toMatchObject({ forkedFrom: 'one' });
  });

  it('says nothing of a session that it neither resumes nor keeps', async () => {
    const settings = { persistSession: false };
    const { result, simulation } = await play({ runId: 'one', says: ['Hi.'], settings });
    expect(result.session).toBeUndefined();
    expect(simulation.events[0]).not.toHaveProperty('sessionId');
    expect(await store.listSessions('default', { limit: 5 })).toEqual([]);
  });

  it('carries its session over continue-as-new', async () => {
    await play({ runId: 'one', says: ['Hi.'] });
    const simulation = begin({
      runId: 'two',
      session: { resume: 'one' },
      says: [[toPath('c', 'x', 'a')], 'Done.'],
    });
    simulation.continueAsNew();
    const final = await simulation.finish();
    expect(simulation.run().segment.number).toBeGreaterThan(0);
    expect(final).toMatchObject({ result: { session: { id: 'one', saved: true } } });
    expect(await store.getSession('default', 'one')).toMatchObject({ revision: 2, runId: 'two' });
  });
});

/** What a run starts by itself has happened: its first activity has read the session. */
async function openedOf(simulation: Simulation): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  expect(simulation.run().frozen).toBeUndefined();
}
