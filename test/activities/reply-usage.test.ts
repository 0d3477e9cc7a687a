/** What a provider reports of tokens comes from outside: nothing of it makes a run cheaper than it was. */
import type { HoldfastError } from '../../core/state/errors.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import { costMicroUsd } from '../../core/money/budget.js';
import { modelFailure, type ModelReply, type Provider } from '../../providers/provider.js';
import {
  attempt,
  effect,
  failureFrom,
  modelInput,
  openedHead,
  ROUTE,
  RUN,
  startBed,
  type Bed,
} from './setup.js';

let bed: Bed;
beforeEach(async () => {
  bed = await startBed();
});
afterEach(() => bed.end());

const BOUND = {
  inputTokens: 500,
  costMicroUsd: 50_000,
  fees: { each: { web_search: 10_000 }, most: 30_000 },
};

function replying(usage: unknown, more: Partial<ModelReply> = {}): ModelReply {
  return {
    blocks: [{ type: 'text', text: 'Done.' }],
    raw: null,
    stop: 'end_turn',
    usage: usage as Usage,
    usageSource: 'reported',
    model: 'm',
    incompleteCalls: 0,
    ...more,
  };
}

/** The outcome and the row of its attempt. */
async function ask(complete: () => Promise<ModelReply>) {
  const provider: Provider = { name: 'anthropic', complete };
  const info = effect();
  const { call_model } = bed.activities({ providers: new Map([['anthropic', provider]]) });
  const input = modelInput(await openedHead(bed), { bound: BOUND });
  const asked = attempt(call_model, input, info);
  const outcome = await asked.catch((error: unknown) => error);
  const rows = await bed.store.listAttempts(
    RUN.tenant,
    RUN.runId,
    `${info.activityId}@${info.workflowExecution.runId}`,
  );
  return { asked, outcome, end: rows[0]?.end, maxTokens: input.maxTokens };
}

describe('a usage figure that is no count of tokens', () => {
  test.each<[string, unknown]>([
    ['input -10', { ...NO_USAGE, input: -10 }],
    ['output 1.5', { ...NO_USAGE, output: 1.5 }],
    ['cacheRead NaN', { ...NO_USAGE, cacheRead: Number.NaN }],
    ['cacheWrite 9007199254740992', { ...NO_USAGE, cacheWrite: 2 ** 53 }],
    ['input string', { ...NO_USAGE, input: '7' }],
    ['cacheWrite undefined', { input: 1, output: 1, cacheRead: 0 }],
    ['input undefined, output undefined, cacheRead undefined, cacheWrite undefined', undefined],
  ])('was not reported, so the bound counts: %s', async (usageDefect, usage) => {
    const { outcome, end, maxTokens } = await ask(() => Promise.resolve(replying(usage)));
    const whole = { ...NO_USAGE, input: BOUND.inputTokens, output: maxTokens };
    expect(outcome).toMatchObject({ reply: { usage: whole, usageDefect } });
    const costs = costMicroUsd(whole, ROUTE.prices);
    expect(end).toMatchObject({ usage: whole, costMicroUsd: costs, estimated: true });
  });

  test('says nothing of the size of the conversation either', async () => {
    const sizes = [-1, 0.5, 40];
    const told: unknown[] = [];
    for (const contextTokens of sizes) {
      const { outcome } = await ask(() => Promise.resolve(replying(NO_USAGE, { contextTokens })));
      told.push((outcome as { reply: ModelReply }).reply.contextTokens);
      await bed.end();
      bed = await startBed();
    }
    expect(told).toEqual([undefined, undefined, 40]);
  });

  test.each([-100, 0.5, Number.NaN])('of a failed attempt is all that it may be: %s', async (n) => {
    const details = { receivedInput: true, receivedOutputTokensEstimate: n, shouldRetry: false };
    const { asked, end, maxTokens } = await ask(() =>
      Promise.reject(modelFailure('ServerError', 'It broke.', details)),
    );
    expect((await failureFrom(asked)).type).toBe('ServerError' satisfies HoldfastError['code']);
    expect(end?.usage).toEqual({ ...NO_USAGE, input: BOUND.inputTokens, output: maxTokens });
  });
});

test('a vendor that may have left parts of the conversation out has left none out of the bound', async () => {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
  const { outcome } = await ask(() =>
    Promise.resolve(replying(usage, { contextTokens: 'unknown' })),
  );
  expect(outcome).toMatchObject({ reply: { usage, contextTokens: BOUND.inputTokens + 5 } });
});

test.each<[number, number | undefined]>([
  [7, 7],
  [0, undefined],
  [-7, undefined],
  [0.5, undefined],
])('of %s tokens that were left out the core hears %s', async (told, heard) => {
  const { outcome } = await ask(() => Promise.resolve(replying(NO_USAGE, { clearedTokens: told })));
  expect((outcome as { reply: ModelReply }).reply.clearedTokens).toBe(heard);
});

test('what is reported well is what counts, without a word about it', async () => {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 1 };
  const { outcome, end } = await ask(() => Promise.resolve(replying(usage)));
  expect(outcome).toMatchObject({ reply: { usage } });
  expect(outcome).not.toHaveProperty('reply.usageDefect');
  expect(end).toMatchObject({ usage, estimated: false });
});

test('what of a reply never came is named, in bounded words', async () => {
  const missing = 'item 1 of the response'.repeat(100);
  const { outcome } = await ask(() => Promise.resolve(replying(NO_USAGE, { missing })));
  expect(outcome).toMatchObject({ reply: { missing: missing.slice(0, 200) } });
});

test('only fees of tools that were offered are fees', async () => {
  const hosted = [{ id: 'h', tool: 'constructor', args: {}, isError: false, result: null }];
  const { outcome } = await ask(() => Promise.resolve(replying(NO_USAGE, { hosted })));
  expect(outcome).toMatchObject({ reply: { hosted: { feesMicroUsd: 0 } } });
});
