import {
  defineAgent,
  defineConfig,
  defineHook,
  hookMatches,
  hookNames,
  type AgentDefinition,
  type Hook,
} from '../../authoring/index.js';

const base: AgentDefinition = { name: 'refund', model: 'test/model', instructions: 'Refund.' };

function hook(name: string): Hook {
  return defineHook({ name, point: 'Stop', run: () => null });
}

const CONTEXT = {
  runId: 'r',
  tenant: 'default',
  traceId: 't',
  idempotencyKey: 'k',
  signal: new AbortController().signal,
};

describe('defineHook', () => {
  test('keeps name and point, gives a time, and makes any code asynchronous', async () => {
    const made = defineHook({
      name: 'limit',
      point: 'PreToolUse',
      run: ({ tool_name }) => ({ decision: 'deny', message: tool_name }),
    });
    expect(made).toMatchObject({ name: 'limit', point: 'PreToolUse', timeoutMs: 60_000 });
    const said = made.run({ tool_name: 'pay' }, CONTEXT);
    await expect(said).resolves.toEqual({ decision: 'deny', message: 'pay' });
  });

  test('keeps the calls that it is about, for the three points of a call', () => {
    const match = { tools: ['payments.*'], effects: ['financial'] } as const;
    const guard = defineHook({ name: 'g', point: 'PreToolUse', match, run: () => null });
    const after = defineHook({ name: 'a', point: 'PostToolUse', run: () => null });
    expect(guard.match).toEqual(match);
    expect(hookMatches([guard, after])).toEqual({ g: match });
    expect(hookMatches([after])).toBeUndefined();
  });

  test.each([
    ['an empty match', {}, /match is not allowed: is empty/],
    ['no tool', { tools: [] }, /match\.tools is not allowed/],
    ['a name that no tool has', { tools: ['a b'] }, /match\.tools\.0 is not allowed/],
    ['an unknown effect', { effects: ['harm'] }, /match\.effects\.0 is not allowed/],
    ['an unknown field', { tool: 'a' }, /match is not allowed/],
    ['a text', 'payments.*', /match is not allowed/],
  ])('refuses %s to match', (_, match, message) => {
    const definition = { name: 'h', point: 'PreToolUse', match, run: () => null };
    expect(() => defineHook(definition as never)).toThrow(
      expect.objectContaining({ code: 'InvalidAgent', message: expect.stringMatching(message) }),
    );
  });

  test('refuses a match where no call is asked about', () => {
    const definition = { name: 'h', point: 'Stop', match: { tools: ['a'] }, run: () => null };
    expect(() => defineHook(definition as never)).toThrow(/Stop is about no call/);
  });

  test.each([
    ['a blank name', { name: ' ' }, /name is not allowed/],
    ['no name', { name: undefined }, /name is not allowed/],
    ['an unknown point', { point: 'BeforeTool' }, /its point is "BeforeTool"/],
    ['a point that is no JSON', { point: 7n }, /its point is 7n/],
    ['a point by inheritance', { point: 'toString' }, /its point is/],
    ['no code', { run: 'later' }, /no run function/],
    ['no time at all', { timeoutMs: 0 }, /timeoutMs is 0/],
    ['more time than a point has', { timeoutMs: 600_001 }, /timeoutMs is 600001/],
  ])('refuses %s', (_, changes, message) => {
    const definition = { name: 'h', point: 'Stop', run: () => null, ...changes };
    expect(() => defineHook(definition as never)).toThrow(
      expect.objectContaining({ code: 'InvalidAgent', message: expect.stringMatching(message) }),
    );
  });
});

describe('the hooks of an agent', () => {
  test('are named by point in their order', () => {
    const guard = defineHook({ name: 'g', point: 'PreToolUse', run: () => null });
    const agent = defineAgent({ ...base, hooks: [hook('b'), guard, hook('a')] });
    expect(hookNames(agent.hooks)).toEqual({ Stop: ['b', 'a'], PreToolUse: ['g'] });
    expect(defineAgent(base).hooks).toEqual([]);
  });

  test.each<[string, readonly unknown[], RegExp]>([
    ['two of one name', [hook('a'), hook('a')], /two hooks named a/],
    ['what is no hook', [{ name: 'a', run: () => null }], /is no hook/],
    ['nothing', [undefined], /is no hook/],
    ['too many', Array.from({ length: 33 }, (_, index) => hook(`h${index}`)), /33 hooks/],
  ])('cannot be %s', (_, hooks, message) => {
    expect(() => defineAgent({ ...base, hooks: hooks as readonly Hook[] })).toThrow(message);
  });

  test('are found by name in the configuration, retired ones too', () => {
    const shared = hook('shared');
    const agents = [
      defineAgent({ ...base, hooks: [shared] }),
      defineAgent({ ...base, name: 'other', hooks: [shared] }),
    ];
    const config = defineConfig({ agents, retiredHooks: [hook('old')] });
    expect([...config.hooks.keys()]).toEqual(['shared', 'old']);
    expect(() => defineConfig({ agents, retiredHooks: [hook('shared')] })).toThrow(
      /Two different hooks are called shared/,
    );
  });
});
