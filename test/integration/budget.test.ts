import type { StopReason } from '../../core/state/result.js';
import {
  ofType,
  pay,
  read,
  say,
  startWorld,
  type Ended,
  type StartIn,
  type World,
} from './support/world.js';

/** micro-USD per token of the scripted model. */
const PRICES = { input: 3, output: 15 } as const;

/** What comes before the call under way needs far less, also on a busy machine. */
const WORKED_MS = 8_000;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const run = async (start: StartIn): Promise<Ended> => world.ended(await world.start(start));

function maxTokens(runId: string): readonly number[] {
  return world
    .requests(runId)
    .map(({ body }) => (JSON.parse(body!) as { max_tokens: number }).max_tokens);
}

describe('no request leaves that does not fit', () => {
  test.concurrent.each<[string, StartIn['budget'], StopReason]>([
    ['a cost of nothing', { maxCostMicroUsd: 0 }, 'max_cost'],
    ['a tiny cost', { maxCostMicroUsd: 10 }, 'max_cost'],
    ['no input tokens', { maxInputTokens: 0 }, 'max_input_tokens'],
    ['no output tokens', { maxOutputTokens: 0 }, 'max_output_tokens'],
    ['no turns', { maxTurns: 0 }, 'max_turns'],
    ['no time', { timeoutMs: 0 }, 'timeout'],
  ])('%s stops the run before its first request', async (title, budget, reason) => {
    const runId = `none-${title.replaceAll(' ', '-')}`;
    const { result, events } = await run({ runId, budget: budget!, replies: [say('Too late.')] });
    expect(result).toMatchObject({ status: 'stopped', stopReason: reason, costMicroUsd: 0 });
    expect(result.nextSafeAction).toContain('budget');
    expect(world.requests(runId)).toEqual([]);
    expect(ofType(events, 'model_response')).toEqual([]);
  });

  test.concurrent('a reply is allowed no more tokens than the money left pays for', async () => {
    const limit = 60_000;
    const { result } = await run({
      runId: 'clamped',
      budget: { maxCostMicroUsd: limit },
      replies: [say('Short.')],
    });
    const [allowed] = maxTokens('clamped');
    expect(result.completed).toBe(true);
    expect(allowed).toBeLessThan(16_384);
    expect(allowed).toBeGreaterThan(1_000);
    expect(allowed! * PRICES.output).toBeLessThan(limit);
  });

  test.concurrent('output tokens are clamped from request to request', async () => {
    const { result } = await run({
      runId: 'output',
      budget: { maxOutputTokens: 100 },
      replies: [
        { ...read('one'), usage: { input: 10, output: 30 } },
        { ...read('two'), usage: { input: 10, output: 70 } },
        say('Never asked.'),
      ],
    });
    expect(maxTokens('output')).toEqual([100, 70]);
    expect(result).toMatchObject({ stopReason: 'max_output_tokens', usage: { output: 100 } });
  });

  test.concurrent('money is spent to its limit and never over it, request by request', async () => {
    const limit = 200_000;
    const { result, events } = await run({
      runId: 'spent',
      budget: { maxCostMicroUsd: limit, maxTurns: 'unlimited', maxToolCalls: 'unlimited' },
      replies: ({ assistantMessages: n }) => ({
        ...read(`item-${n}`),
        usage: { input: 4_000, output: 300 },
      }),
    });
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'max_cost' });
    expect(result.costMicroUsd).toBeLessThanOrEqual(limit);
    const allowed = maxTokens('spent');
    const costs = ofType(events, 'model_response').map(({ costMicroUsd }) => costMicroUsd);
    expect(costs.length).toBeGreaterThan(5);
    expect(allowed).toHaveLength(costs.length);
    let before = 0;
    costs.forEach((cost, index) => {
      expect(before + allowed[index]! * PRICES.output).toBeLessThanOrEqual(limit);
      before += cost;
    });
    expect(before).toBe(result.costMicroUsd);
  });
});

describe('counted limits', () => {
  test.concurrent('turns', async () => {
    const { result } = await run({
      runId: 'turns',
      budget: { maxTurns: 2 },
      replies: [read('one'), read('two'), say('Never asked.')],
    });
    expect(result).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 2 } });
    expect(world.requests('turns')).toHaveLength(2);
  });

  test.concurrent(
    'tool calls: what is left of a reply gets its result without running',
    async () => {
      const { result, events } = await run({
        runId: 'calls',
        budget: { maxToolCalls: 1 },
        replies: [
          { calls: [...pay('pay.probed', 1).calls, ...pay('pay.probed', 2).calls] },
          say('Never asked.'),
        ],
      });
      expect(result).toMatchObject({ stopReason: 'max_tool_calls', counters: { toolCalls: 1 } });
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { status: 'ok' },
        { code: 'budget_exceeded', started: false },
      ]);
      expect(world.service.visits('calls', 'before')).toHaveLength(1);
    },
  );

  test.concurrent('time: a read under way is cut off', async () => {
    void world.service.hold('slow-read', 'read');
    const { result, events } = await run({
      runId: 'slow-read',
      budget: { timeoutMs: WORKED_MS },
      replies: [read(), say('Never asked.')],
    });
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'timeout' });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'timeout', started: true }]);
  });

  test.concurrent('time: a payment under way is not called undone', async () => {
    void world.service.hold('slow-pay', 'after');
    const { result, events } = await run({
      runId: 'slow-pay',
      // Below the five seconds of the tool, after which a person is asked.
      budget: { timeoutMs: 4_000 },
      replies: [pay('pay.blind'), say('Never asked.')],
    });
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'timeout' });
    expect(ofType(events, 'tool_finished')).toMatchObject([
      { code: 'outcome_unknown', content: { text: expect.stringContaining('slow-pay:0') } },
    ]);
    expect(world.service.visits('slow-pay', 'effect')).toHaveLength(1);
  });

  test.concurrent('time: a model that does not answer is cut off', async () => {
    const { result } = await run({
      runId: 'slow-model',
      budget: { timeoutMs: 2_500 },
      replies: [{ text: 'Thinking', chunks: 3, stallAfterChunks: 2, stallWith: 'pings' }],
    });
    expect(result).toMatchObject({ stopReason: 'timeout', counters: { toolCalls: 0 } });
    // The limit counts the model's work alone: an attempt that began late may be followed by one for the rest.
    const asked = world.requests('slow-model').map(({ at }) => at);
    expect(Math.max(...asked) - Math.min(...asked)).toBeLessThan(2_500);
  });
});

describe('retries of a model call', () => {
  test.concurrent(
    'wait as long as the vendor says, and cost nothing when nothing was served',
    async () => {
      const { result, events } = await run({
        runId: 'limited',
        replies: [[{ status: 429, retryAfterSeconds: 2 }, say('Finished.')]],
      });
      expect(result).toMatchObject({ completed: true, counters: { modelCalls: 1 } });
      const [first, second] = world.requests('limited');
      expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_990);
      const { usage } = ofType(events, 'model_response')[0]!;
      expect(result.costMicroUsd).toBe(usage.input * PRICES.input + usage.output * PRICES.output);
      expect(result.usage).toEqual(usage);
    },
  );

  test.concurrent('go on over an overloaded vendor', async () => {
    const { result } = await run({
      runId: 'overloaded',
      replies: [[{ status: 529 }, { status: 529 }, say('Finished.')]],
    });
    expect(result.completed).toBe(true);
    expect(world.requests('overloaded')).toHaveLength(3);
  });

  test.concurrent('end with the number that the budget allows', async () => {
    const { result, events } = await run({
      runId: 'exhausted',
      budget: { maxRetriesPerModelCall: 1 },
      replies: [{ status: 529 }],
    });
    expect(result).toMatchObject({ status: 'failed', detail: 'model_error:Overloaded' });
    expect(ofType(events, 'model_error')).toMatchObject([{ attempts: 2 }]);
    expect(world.requests('exhausted')).toHaveLength(2);
  });

  test.concurrent('are not made for a key that is refused', async () => {
    const { result } = await run({ runId: 'refused-key', replies: [{ status: 401 }] });
    expect(result).toMatchObject({
      status: 'failed',
      detail: 'model_error:AuthError',
      nextSafeAction: expect.stringContaining('API key'),
    });
    expect(world.requests('refused-key')).toHaveLength(1);
  });

  test.concurrent(
    'stay inside the budget: a lost reply is paid for before another is asked for',
    async () => {
      const bounded = { maxTokensPerResponse: 20 };
      const cut = { text: 'This will be cut', chunks: 6, cutAfterChunks: 4 };
      await run({ runId: 'measured', budget: bounded, replies: [say('ok')] });
      const { executionId } = await world.client.handle('measured').execution();
      const effectId = `call_model-2@${executionId}`;
      const [attempt] = await world.store.listAttempts('default', 'measured', effectId);
      // One and a half times the bound of the same request: enough for one attempt, not for two.
      const limit = Math.floor(1.5 * attempt!.boundCostMicroUsd);
      const { result, events } = await run({
        runId: 'retried',
        budget: { ...bounded, maxCostMicroUsd: limit },
        replies: [[cut, cut, cut, say('Never said.')]],
      });
      expect(world.requests('retried')).toHaveLength(1);
      expect(result).toMatchObject({ status: 'stopped', stopReason: 'max_cost' });
      expect(result.costMicroUsd).toBeGreaterThan(limit / 3);
      expect(result.costMicroUsd).toBeLessThanOrEqual(limit);
      expect(ofType(events, 'model_error')).toMatchObject([{ class: 'BudgetExhausted' }]);
    },
  );
});
