import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineTool,
  hours,
  isConfig,
  usd,
  type AgentDefinition,
} from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ModelRoute } from '../../core/state/model.js';
import { errorOf } from './error-of.js';

function tool(name: string, version = '1') {
  return defineTool({ name, version, effect: 'read', input: z.object({}), run: () => null });
}

const base: AgentDefinition = {
  name: 'refund',
  model: 'test/model',
  instructions: 'Handle refunds.',
  tools: [tool('orders.read')],
};

const route: ModelRoute = {
  name: 'test/model',
  provider: 'test',
  model: 'model',
  contextWindow: 1_000,
  maxOutputTokens: 100,
  prices: { input: 1, output: 2, cacheRead: 0, cacheWrite: 1 },
  pricesVersion: '1',
  temperatureAllowed: true,
};

function expectRefusal(attempt: () => unknown, message: RegExp): void {
  expect(attempt).toThrow(HoldfastError);
  expect(attempt).toThrow(message);
}

describe('defineAgent', () => {
  test('keeps what was written and fills in an empty policy', () => {
    expect(defineAgent(base)).toMatchObject({
      name: 'refund',
      version: '1',
      policy: { version: '0', rules: [] },
      budget: {},
      settings: {},
    });
  });

  test('takes money and time in readable units', () => {
    const budget = { maxCostMicroUsd: usd(0.5), timeoutMs: hours(2), maxTurns: Infinity };
    expect(defineAgent({ ...base, budget }).budget).toEqual({
      maxCostMicroUsd: 500_000,
      timeoutMs: 7_200_000,
      maxTurns: 'unlimited',
    });
  });

  test('an absent field does not hide its default', () => {
    const agent = defineAgent({ ...base, budget: { maxTurns: undefined } as object });
    expect('maxTurns' in agent.budget).toBe(false);
  });

  test('a policy without version gets one that follows its rules', () => {
    const versionOf = (decision: 'allow' | 'deny'): string =>
      defineAgent({ ...base, policy: { rules: [{ tool: '*', decision }] } }).policy.version;
    expect(versionOf('allow')).toBe(versionOf('allow'));
    expect(versionOf('allow')).not.toBe(versionOf('deny'));
  });

  test.each<[string, object, RegExp]>([
    ['a blank name', { name: '' }, /name is not allowed/],
    ['no model', { model: ' ' }, /names no model/],
    ['blank instructions', { instructions: '\n' }, /instructions are blank/],
    ['endless instructions', { instructions: 'x'.repeat(300_000) }, /instructions take/],
    ['two tools of one name', { tools: [tool('a'), tool('a', '2')] }, /two tools named a/],
    [
      'two tools the model cannot tell apart',
      { tools: [tool('a.b'), tool('a__b')] },
      /cannot tell/,
    ],
    ['something that is no tool', { tools: [{}] }, /is no tool/],
    ['a negative budget', { budget: { maxTurns: -1 } }, /budget.maxTurns/],
    ['a budget that is no number', { budget: { maxCostMicroUsd: NaN } }, /budget.maxCostMicroUsd/],
    ['half a micro-dollar', { budget: { maxCostMicroUsd: 0.5 } }, /budget.maxCostMicroUsd/],
    ['no parallelism at all', { budget: { maxParallelToolCalls: 0 } }, /maxParallelToolCalls/],
    ['a misspelt budget', { budget: { maxCost: 1 } }, /maxCost/],
    ['a wrong setting', { settings: { onDeny: 'shrug' } }, /settings.onDeny/],
    ['a misspelt policy', { polciy: { rules: [] } }, /no field "polciy"/],
    ['a misspelt setting', { settings: { onDenied: 'refuse' } }, /onDenied/],
    ['a safety gate that is no function', { refuseTask: 'never' }, /refuseTask is no function/],
    ['a policy rule without decision', { policy: { rules: [{ tool: 'a' }] } }, /rules.0.decision/],
    [
      'a policy condition that compares nothing',
      { policy: { rules: [{ tool: 'a', decision: 'deny', when: { path: 'x' } }] } },
      /compares with nothing/,
    ],
    [
      'a policy pattern with * in the middle',
      { policy: { rules: [{ tool: 'a*b', decision: 'deny' }] } },
      /must be a tool name/,
    ],
  ])('refuses %s', (_what, changes, message) => {
    expectRefusal(() => defineAgent({ ...base, ...changes }), message);
  });

  test('whoever misspells a condition of a policy is told which there are', () => {
    const rule = { tool: 'a', decision: 'deny', when: { path: 'x', gt: 5 } } as never;
    const { hint } = errorOf(() => void defineAgent({ ...base, policy: { rules: [rule] } }));
    expect(hint).toContain('`when` is {path} with equals, lte, gte or exists');
  });
});

describe('defineConfig', () => {
  test('finds agents by name and tools by name@version', () => {
    const kept = tool('orders.read', '0');
    const config = defineConfig({ agents: [defineAgent(base)], retiredTools: [kept] });
    expect([...config.agents.keys()]).toEqual(['refund']);
    expect([...config.tools.keys()]).toEqual(['orders.read@1', 'orders.read@0']);
    expect(isConfig(config)).toBe(true);
    expect(isConfig({ agents: [] })).toBe(false);
  });

  test('one tool may serve several agents', () => {
    const agents = [defineAgent(base), defineAgent({ ...base, name: 'other' })];
    expect(defineConfig({ agents }).tools.size).toBe(1);
  });

  test.each<[string, () => unknown, RegExp]>([
    ['no agent', () => defineConfig({ agents: [] }), /names no agent/],
    ['something else', () => defineConfig({ agents: [{} as never] }), /is no agent/],
    [
      'a misspelt field',
      () => defineConfig({ agents: [defineAgent(base)], mpc: {} } as never),
      /no field "mpc"/,
    ],
    [
      'a misspelt default',
      () => defineConfig({ agents: [defineAgent(base)], defaults: { budgte: {} } } as never),
      /no field "budgte" among the defaults/,
    ],
    [
      'a name twice',
      () => defineConfig({ agents: [defineAgent(base), defineAgent(base)] }),
      /Two agents/,
    ],
    [
      'a safety gate that is no function',
      () => defineConfig({ agents: [defineAgent(base)], refuseTask: {} as never }),
      /The configuration: refuseTask is no function/,
    ],
    [
      'two different tools under one name and version',
      () => defineConfig({ agents: [defineAgent(base)], retiredTools: [tool('orders.read')] }),
      /Two different tools are called orders.read@1/,
    ],
    [
      'a route twice',
      () => defineConfig({ agents: [defineAgent(base)], routes: [route, route] }),
      /Two routes/,
    ],
    [
      'a price in dollars',
      () =>
        defineConfig({
          agents: [defineAgent(base)],
          routes: [{ ...route, prices: { ...route.prices, input: 0.3 } }],
        }),
      /no whole number/,
    ],
    [
      'a price of unknown models in dollars',
      () =>
        defineConfig({
          agents: [defineAgent(base)],
          unknownModels: { prices: { ...route.prices, output: 0.5 } },
        }),
      /no whole number/,
    ],
    [
      'an endpoint with the name of a vendor',
      () =>
        defineConfig({
          agents: [defineAgent(base)],
          endpoints: [{ name: 'openai', protocol: 'chat', baseUrl: 'https://a.test/v1' }],
        }),
      /No endpoint can be called/,
    ],
    [
      'a key in the place of its variable',
      () =>
        defineConfig({
          agents: [defineAgent(base)],
          endpoints: [
            { name: 'own', protocol: 'chat', baseUrl: 'https://a.test', keyVariable: 'sk-1' },
          ],
        }),
      /no name of a variable/,
    ],
    [
      'a nonsense default',
      () => defineConfig({ agents: [defineAgent(base)], defaults: { budget: { maxTurns: -1 } } }),
      /The defaults: budget.maxTurns/,
    ],
  ])('refuses %s', (_what, attempt, message) => {
    expectRefusal(attempt, message);
  });
});
