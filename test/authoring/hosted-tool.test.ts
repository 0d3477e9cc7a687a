import { defineHostedTool, defineTool, type HostedToolDefinition } from '../../authoring/index.js';

const SEARCH: HostedToolDefinition = {
  name: 'web_search',
  version: '1',
  effect: 'read',
  provider: 'anthropic',
  declaration: { type: 'web_search_20250305', name: 'web_search' },
  bound: { inputTokens: 60_000, uses: 5, feeMicroUsd: 10_000 },
};

test('a hosted tool is a record and the words of its vendor, without code', async () => {
  const { record, hosted, parse, run } = defineHostedTool(SEARCH);
  expect(record).toMatchObject({ kind: 'hosted', hosted: SEARCH.bound, approval: 'never' });
  expect(hosted).toEqual({ provider: 'anthropic', declaration: SEARCH.declaration });
  expect(parse({})).toMatchObject({ ok: false });
  await expect(run({}, {} as never)).rejects.toThrow(/run by the model's vendor/);
});

test.each<[string, Partial<HostedToolDefinition>, RegExp]>([
  ['no bound', { bound: undefined as never }, /not bounded/],
  ['half a cent', { bound: { ...SEARCH.bound, feeMicroUsd: 0.5 } }, /not bounded/],
  ['another name', { declaration: { name: 'search' } }, /calls it "search"/],
  ['no provider', { provider: '' }, /names no provider/],
  ['no effect', { effect: 'nothing' as never }, /its effect is "nothing"/],
  ['no declaration', { declaration: undefined as never }, /cannot be sent/],
  ['a large one', { declaration: { pad: 'x'.repeat(40_000) } }, /cannot be sent/],
])('one with %s is refused', (_, changes, message) => {
  expect(() => defineHostedTool({ ...SEARCH, ...changes })).toThrow(message);
});

test('defineTool does not take a tool that nobody here runs', () => {
  const { name, version, effect } = SEARCH;
  const hosted = { name, version, effect, kind: 'hosted', run: () => 1 };
  expect(() => defineTool(hosted as never)).toThrow(/nobody here runs it/);
});
