import { z } from 'zod';
import { RESULTS_ARE_DATA } from '../../activities/run/prompt.js';
import { usualTokens } from '../../activities/run/usual-tokens.js';
import { defineHook, defineTool, type TaskGate } from '../../authoring/index.js';
import { routeHash } from '../../core/step/route.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import type { StartInput } from '../../core/state/task.js';
import { attempt, failureFrom, RUN, sessionEvent, startBed, type Bed } from './setup.js';

const readOrder = defineTool({
  name: 'orders.read',
  version: '2',
  effect: 'read',
  description: 'Reads an order.',
  input: z.object({ orderId: z.string() }),
  run: () => ({}),
});

const start: StartInput = { v: 1, agent: 'helper', task: { goal: 'Do it.' } };

describe('open_run', () => {
  let bed: Bed;
  beforeAll(async () => {
    bed = await startBed({ tools: [readOrder], instructions: 'Be kind.' });
  });
  afterAll(() => bed.end());

  const open = (changes: object = {}) =>
    attempt(bed.activities().open_run, {
      v: 1,
      run: RUN,
      segment: 0,
      start: { ...start, ...changes },
      events: [sessionEvent()],
    });

  test('freezes route, tools, limits and versions, and writes the root of the transcript', async () => {
    const { frozen, head, goal, rules, eventsUpTo } = await open({ budget: { maxTurns: 3 } });
    expect({ rules, eventsUpTo, goal }).toEqual({
      rules: RULES_VERSION,
      eventsUpTo: 1,
      goal: { text: 'Do it.' },
    });
    expect(frozen).toMatchObject({
      agent: { name: 'helper', version: '1' },
      route: { model: 'test' },
      prompt: { hash: head },
      tools: [{ name: 'orders.read', wireName: 'orders__read' }],
      budget: { maxTurns: 3, maxToolCalls: 50 },
      settings: { onOutcomeUnknown: 'ask' },
      versions: { agent: '1', prompt: head, pricing: 'scripted', code: '0.1.0' },
    });
    const [root] = await bed.store.readChain('default', head ?? '');
    expect(root).toMatchObject({
      role: 'root',
      blocks: [
        { type: 'text', text: 'Be kind.' },
        { type: 'text', text: RESULTS_ARE_DATA },
      ],
      tools: [{ name: 'orders.read', description: 'Reads an order.' }],
    });
  });

  test('tokens that nobody has limited grow with the money that was named', async () => {
    const tokens = async (budget: object) => {
      const { maxInputTokens, maxOutputTokens } = (await open({ budget })).frozen!.budget;
      return [maxInputTokens, maxOutputTokens];
    };
    expect(await tokens({})).toEqual([2_000_000, 200_000]);
    expect(await tokens({ maxCostUsd: 50 })).toEqual([20_000_000, 2_000_000]);
    expect(await tokens({ maxCostUsd: 0.1 })).toEqual([2_000_000, 200_000]);
    expect(await tokens({ maxCostUsd: 'unlimited' })).toEqual([2_000_000, 200_000]);
    expect(await tokens({ maxCostUsd: 50, maxInputTokens: 7 })).toEqual([7, 2_000_000]);
  });

  test('tokens do not grow with the money where a model costs nothing', () => {
    const free = { prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };
    const paid = { prices: { ...free.prices, output: 5 } };
    const inputTokens = (...routes: readonly (typeof free)[]) =>
      usualTokens({ maxCostMicroUsd: 50_000_000 }, routes).maxInputTokens;
    expect(inputTokens(paid, paid)).toBe(20_000_000);
    expect([inputTokens(free), inputTokens(paid, free)]).toEqual([2_000_000, 2_000_000]);
  });

  test('C3: model calls have an end also where turns are counted logically', async () => {
    const settings = { turnCounting: 'logical' };
    expect((await open()).frozen?.budget.maxModelCalls).toBe('unlimited');
    expect((await open({ settings })).frozen?.budget.maxModelCalls).toBe(100);
    const { frozen } = await open({ settings, budget: { maxModelCalls: 'unlimited' } });
    expect(frozen?.budget.maxModelCalls).toBe('unlimited');
  });

  test('tells the model about plans in dataflow mode, and only there', async () => {
    const { head, frozen } = await open({ settings: { toolExecution: 'dataflow' } });
    const [root] = await bed.store.readChain('default', head ?? '');
    const text = { type: 'text', text: expect.stringMatching(/_outputPath/) };
    expect(root?.blocks.slice(0, 2)).toEqual([{ type: 'text', text: 'Be kind.' }, text]);
    expect(frozen?.prompt.bytes).toBeGreaterThan(1_000);
  });

  describe('G114: where a task must say when it is done', () => {
    const when = { path: 'answer', exists: true };
    const criterion = { id: 'a', when };
    let strict: Bed;
    beforeAll(async () => {
      strict = await startBed({ settings: { requireDone: true } });
    });
    afterAll(() => strict.end());

    const input = (task: object, settings: object = {}) => ({
      v: 1 as const,
      run: RUN,
      segment: 0,
      start: { ...start, task: { goal: 'Do it.', ...task }, settings },
      events: [],
    });

    test.each<[string, object]>([
      ['success criteria', { successCriteria: [criterion] }],
      ['evidence', { requiredEvidence: [{ id: 'a', satisfiedBy: 'orders.read' }] }],
      ['an output schema', { outputSchema: { type: 'object' } }],
    ])('%s say it', async (_, task) => {
      const { frozen } = await attempt(strict.activities().open_run, input(task));
      expect(frozen?.settings.requireDone).toBe(true);
    });

    test.each<[string, object, object, RegExp]>([
      ['says nothing', {}, {}, /does not say when it is done/],
      ['has empty lists', { successCriteria: [], requiredEvidence: [] }, {}, /does not say/],
      ['does not want to', {}, { requireDone: false }, /may not do without/],
    ])('a task that %s is refused', async (_, task, settings, message) => {
      const failed = await failureFrom(
        attempt(strict.activities().open_run, input(task, settings)),
      );
      expect(failed).toMatchObject({ type: 'InvalidTask', nonRetryable: true });
      expect(failed.message).toMatch(message);
    });

    test('a start may ask for it itself', async () => {
      const asked = input({}, { requireDone: true });
      const failed = await failureFrom(attempt(bed.activities().open_run, asked));
      expect(failed.message).toMatch(/does not say when it is done/);
    });
  });

  describe('the safety gates of the house', () => {
    const TASK = { goal: 'Do it.', caller: 'carl' };

    async function judged(own?: TaskGate, house?: TaskGate): Promise<string | undefined> {
      const agent = bed.config.agents.get('helper')!;
      const agents = new Map([['helper', { ...agent, ...(own && { refuseTask: own }) }]]);
      const config = { ...bed.config, agents, ...(house && { refuseTask: house }) };
      const { denied } = await attempt(bed.activities({ config }).open_run, {
        v: 1,
        run: RUN,
        segment: 0,
        start: { ...start, task: TASK },
        events: [],
      });
      return denied;
    }

    test('are told the whole task and refuse it by a reason, the configuration first', async () => {
      const seen: unknown[] = [];
      const own: TaskGate = (task, { agent, runId }) => {
        seen.push([task, agent, runId]);
        return 'Not by this agent.';
      };
      expect(await judged(own)).toBe('Not by this agent.');
      expect(seen).toEqual([[TASK, 'helper', RUN.runId]]);
      expect(await judged(own, () => 'Not in this house.')).toBe('Not in this house.');
      expect(seen).toHaveLength(1);
      expect(await judged(own, () => null)).toBe('Not by this agent.');
      expect(await judged(() => undefined)).toBeUndefined();
    });

    test.each<[string, () => unknown, RegExp]>([
      ['throws', () => Promise.reject(new Error('away')), /could not judge this task: .*away/],
      ['gives no text', () => true, /could not judge this task: it gave no text/],
      ['gives a blank text', () => ' ', /^The safety gate of agent helper refuses this task/],
    ])('one that %s does not open', async (_, gate, reason) => {
      expect(await judged(gate as TaskGate)).toMatch(reason);
    });
  });

  test('freezes the names of the hooks by point, in their order, and what they match', async () => {
    const hooked = await startBed({
      hooks: [
        defineHook({ name: 'second', point: 'Stop', run: () => ({}) }),
        defineHook({
          name: 'guard',
          point: 'PreToolUse',
          match: { effects: ['send'] },
          run: () => null,
        }),
        defineHook({ name: 'first', point: 'Stop', run: () => undefined }),
      ],
    });
    const { frozen } = await attempt(hooked.activities().open_run, {
      v: 1,
      run: RUN,
      segment: 0,
      start,
      events: [],
    });
    expect(frozen?.hooks).toEqual({ Stop: ['second', 'first'], PreToolUse: ['guard'] });
    expect(frozen?.hookMatches).toEqual({ guard: { effects: ['send'] } });
    await hooked.end();
  });

  test('S189: versions are called what the agent calls them, its policy too', async () => {
    const versions = { prompt: '7', policy: '2031-04', modelRoute: 'eu-1', code: 'shop-3' };
    const named = await startBed({ settings: { versions } });
    const opening = { v: 1, run: RUN, segment: 0, start, events: [] } as const;
    const { frozen } = await attempt(named.activities().open_run, opening);
    expect(frozen?.versions).toMatchObject({ ...versions, pricing: 'scripted', runtime: '0.1.0' });
    expect(frozen?.policy.version).toBe('2031-04');
    await named.end();
  });

  test('S189: the route of the model is named by what it says of it', async () => {
    const { frozen } = await open();
    const other = { ...frozen!.route, contextWindow: 1 };
    expect(frozen?.versions['modelRoute']).toBe(routeHash(frozen!.route));
    expect(frozen?.versions['modelRoute']).not.toBe(routeHash(other));
  });

  test('an output schema is told to the model and frozen by reference', async () => {
    const outputSchema = { type: 'object', properties: { a: { const: 'x'.repeat(5_000) } } };
    const { frozen, head } = await open({ task: { goal: 'Do it.', outputSchema } });
    const stored = frozen?.outputSchema;
    expect(stored).toMatchObject({ bytes: JSON.stringify(outputSchema).length });
    expect(await bed.store.getText('default', stored!)).toBe(JSON.stringify(outputSchema));
    const [root] = await bed.store.readChain('default', head ?? '');
    expect(root?.blocks).toMatchObject([
      { text: 'Be kind.' },
      { text: RESULTS_ARE_DATA },
      { type: 'text', text: { bytes: 5_143 } },
    ]);
    expect((await open()).head).not.toBe(head);
  });

  test.each([
    ['cannot be compiled', { type: 'nothing' }],
    ['uses what cannot be checked', { if: {}, then: {} }],
    ['is no object', 'text'],
  ])('an output schema that %s is refused before any money is spent', async (_, outputSchema) => {
    const failed = await failureFrom(open({ task: { goal: 'x', outputSchema } }));
    expect(failed).toMatchObject({ type: 'InvalidTask', nonRetryable: true });
    expect(failed.message).toContain('task.outputSchema');
  });

  test('is the same when it is delivered twice', async () => {
    expect(await open()).toEqual(await open());
  });

  test('stores a large goal by reference', async () => {
    const { goal } = await open({ task: { goal: 'x'.repeat(10_000) } });
    expect(goal).toMatchObject({ bytes: 10_000 });
  });

  test('a later segment only reports its rules and its store, even when the old history cannot be kept', async () => {
    const opened = await attempt(bed.activities().open_run, {
      v: 1,
      run: RUN,
      segment: 1,
      previousExecution: 'gone',
      events: [],
    });
    expect(Object.keys(opened).sort()).toEqual(['eventsUpTo', 'rules', 'store']);
  });

  test.each<[string, object, string, RegExp]>([
    ['a blank goal', { task: { goal: '  ' } }, 'InvalidTask', /task.goal/],
    ['no task', { task: undefined }, 'InvalidTask', /task/],
    ['a task id that is no key', { task: { goal: 'a', taskId: 'a b' } }, 'InvalidTask', /taskId/],
    ['a negative budget', { budget: { maxTurns: -1 } }, 'InvalidTask', /budget.maxTurns/],
    ['a misspelt budget', { budget: { maxCost: 1 } }, 'InvalidTask', /maxCost/],
    [
      'versions that a caller claims',
      { settings: { versions: { policy: '2' } } },
      'InvalidTask',
      /may not say/,
    ],
    ['a wrong setting', { settings: { onDeny: 'x' } }, 'InvalidTask', /onDeny/],
  ])('refuses %s for good', async (_what, changes, type, message) => {
    const failure = await failureFrom(open(changes));
    expect(failure).toMatchObject({ type, nonRetryable: true });
    expect(failure.message).toMatch(message);
  });
});
