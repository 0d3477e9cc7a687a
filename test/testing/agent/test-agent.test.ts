/** `testAgent`: an agent of one's own in the simulation, as users of holdfast/testing try theirs. */
import { z } from 'zod';
import {
  askPerson,
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  hours,
  ToolError,
  usd,
} from '../../../index.js';
import { assertCalled, calls, testAgent, type AgentTest } from '../../../testing/index.js';

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  timeoutMs: 5_000,
  input: z.object({ orderId: z.string() }),
  run: () => {
    throw new Error('the code of the tool itself ran');
  },
});
const refund = defineTool({
  name: 'payments.refund',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  approval: { roles: ['lead'], quorum: 2 },
  input: z.object({ orderId: z.string(), amount: z.number().max(100) }),
  run: () => {
    throw new Error('the code of the tool itself ran');
  },
});
const agent = defineAgent({
  name: 'refunds',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Handle refunds.',
  tools: [readOrder, refund, askPerson],
});

const READS = calls('orders.read', { orderId: 'O-17' });
const REFUNDS = calls('payments.refund', { orderId: 'O-17', amount: 30 });
const TOOLS = {
  'orders.read': () => ({ status: 'delivered' }),
  'payments.refund': () => ({ refund: 'R-1' }),
};
const test1 = (more: Partial<AgentTest>): AgentTest => ({
  goal: 'Handle order O-17.',
  model: [READS, 'The order was delivered.'],
  tools: TOOLS,
  ...more,
});

test('a run is told whole: why it stopped, its answer, its calls, what it cost', async () => {
  const run = await testAgent(agent, test1({}));
  expect(run).toMatchObject({
    status: 'completed',
    stopReason: 'completed',
    answer: 'The order was delivered.',
    calls: [
      {
        tool: 'orders.read',
        args: { orderId: 'O-17' },
        agent: 'refunds',
        ran: true,
        status: 'ok',
        result: { status: 'delivered' },
        attempts: 1,
      },
    ],
    asks: [],
    counters: { modelCalls: 2, toolCalls: 1 },
  });
  expect(run.costMicroUsd).toBeGreaterThan(0);
  expect(run.events.at(0)?.type).toBe('session_init');
  expect(run.transcript.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

test('an approval is asked of as many people as it needs, and the call runs after it', async () => {
  const asked: unknown[] = [];
  const run = await testAgent(
    agent,
    test1({
      model: [REFUNDS, 'Refunded.'],
      approvals: (ask) => {
        asked.push(ask.tool, ask.args);
        return 'approve';
      },
    }),
  );
  expect(asked).toEqual(['payments.refund', { orderId: 'O-17', amount: 30 }]);
  expect(run.asks).toMatchObject([
    { tool: 'payments.refund', roles: ['lead'], quorum: 2, outcome: 'approved' },
  ]);
  expect(run.asks[0]?.by).toHaveLength(2);
  expect(run.calls).toMatchObject([{ ran: true, status: 'ok', result: { refund: 'R-1' } }]);
});

test('a person may say no, say other arguments, or nothing until the question expires', async () => {
  const play = (approvals: AgentTest['approvals']) =>
    testAgent(agent, test1({ model: [REFUNDS, 'Done.'], approvals }));
  const rejected = await play(() => 'reject');
  expect(rejected.calls).toMatchObject([
    { ran: false, status: 'error', code: 'approval_rejected' },
  ]);
  const modified = await play(() =>
    ['a', 'b'].map((by) => ({ decision: 'modify', by, args: { orderId: 'O-17', amount: 20 } })),
  );
  expect(modified.asks[0]).toMatchObject({ outcome: 'modified' });
  const expired = await play(undefined);
  expect(expired.asks).toMatchObject([{ outcome: 'expired', by: [] }]);
  expect(expired.durationMs).toBeGreaterThanOrEqual(hours(1));
});

test('schemas, policy and hooks are those of the agent', async () => {
  const hook = defineHook({
    name: 'no-orders',
    point: 'PreToolUse',
    match: { tools: ['orders.*'] },
    run: () => ({ decision: 'deny', message: 'Not today.' }),
  });
  const strict = defineAgent({
    name: 'strict',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Handle refunds.',
    tools: [readOrder, refund],
    hooks: [hook],
  });
  const model = [READS, calls('payments.refund', { orderId: 'O-17', amount: 1_000 }), 'No.'];
  const run = await testAgent(strict, test1({ model }));
  expect(run.calls).toMatchObject([
    { tool: 'orders.read', ran: false, code: 'hook_denied' },
    { tool: 'payments.refund', ran: false, code: 'invalid_arguments' },
  ]);
});

test('limits are those of the agent, or of the test', async () => {
  const run = await testAgent(agent, test1({ budget: { maxTurns: 1 } }));
  expect(run.stopReason).toBe('max_turns');
  const poor = await testAgent(agent, test1({ budget: { maxCostMicroUsd: usd(0.000_1) } }));
  expect(poor.stopReason).toBe('max_cost');
});

test('the answer has the type of the output', async () => {
  const output = z.object({ total: z.number(), note: z.string().default('none') });
  const run = await testAgent(agent, { ...test1({ model: [{ output: { total: 3 } }] }), output });
  const total: number | undefined = run.output?.total;
  expect([total, run.output?.note]).toEqual([3, 'none']);
});

test('a question of the model is answered, and a conversation goes on with the messages of the test', async () => {
  const asking = await testAgent(
    agent,
    test1({
      model: [calls('ask_person', { question: 'Which order?' }), 'Thanks.'],
      answers: () => 'O-18',
    }),
  );
  expect(asking.calls).toMatchObject([{ tool: 'ask_person', status: 'ok' }]);
  expect(asking.asks).toMatchObject([{ kind: 'input', outcome: 'answered' }]);
  const talking = await testAgent(
    agent,
    test1({
      model: ['Hello.', 'Yes.'],
      messages: ['Are you there?'],
      settings: { afterAnswer: 'await_user' },
    }),
  );
  expect(talking.transcript.map(({ text }) => text)).toEqual([
    'Handle order O-17.',
    'Hello.',
    'Are you there?',
    'Yes.',
  ]);
});

test('what a fake throws is what a tool throws', async () => {
  const failing = await testAgent(
    agent,
    test1({
      tools: {
        'orders.read': () => {
          throw new ToolError('No such order.');
        },
      },
    }),
  );
  expect(failing.calls).toMatchObject([{ status: 'error', code: 'execution_error' }]);
});

test.each([60_000, Infinity])(
  'a fake may take virtual time, and meets the timeout of its tool: %d ms',
  async (takesMs) => {
    const run = await testAgent(
      agent,
      test1({
        tools: { 'orders.read': { takesMs, run: () => 'late' } },
        budget: { maxRetriesPerToolCall: 0 },
      }),
    );
    expect(run.calls).toMatchObject([{ status: 'error', code: 'timeout' }]);
  },
);

test('a model that never answers ends the run, and one that answers after a while does not', async () => {
  const never = await testAgent(agent, test1({ model: [{ text: 'Hi.', takesMs: Infinity }] }));
  expect(never.stopReason).not.toBe('completed');
  const slow = { status: 529, takesMs: 30_000 };
  const late = await testAgent(agent, test1({ model: [[slow, READS], 'Done.'] }));
  expect(late.stopReason).toBe('completed');
  expect(late.durationMs).toBeGreaterThanOrEqual(30_000);
});

test('an attempt that a vendor refuses is made again', async () => {
  const run = await testAgent(agent, test1({ model: [[{ status: 529 }, READS], 'Done.'] }));
  expect(run.stopReason).toBe('completed');
  expect(run.events.filter(({ type }) => type === 'retry')).toHaveLength(1);
});

test.each([
  [
    400,
    'InvalidRequest',
    'bad things',
    'The model API answered 400: bad things. Correct the request; sending it',
  ],
  [401, 'AuthError', 'No key.', 'The model API answered 401: No key. Check the API key'],
  [403, 'AuthError', 'not yours', 'The model API answered 403: not yours. Check the API key'],
])('a vendor that answers %d is told of as in production', async (status, code, message, words) => {
  const run = await testAgent(agent, test1({ model: [{ status, message }] }));
  expect(run).toMatchObject({ stopReason: 'failed', detail: `model_error:${code}` });
  expect(JSON.stringify(run.events)).toContain(words);
});

test('a script may be a function of the request', async () => {
  const seen: (readonly string[])[] = [];
  await testAgent(
    agent,
    test1({
      model: ({ call, tools }) => {
        seen.push(tools.map(({ name }) => name));
        return call === 1 ? READS : 'Done.';
      },
    }),
  );
  expect(seen[0]).toContain('orders.read');
});

test('sub-agents play scripts of their own, and their calls are told with their agent', async () => {
  const parent = defineAgent({
    name: 'parent',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Handle refunds.',
    tools: [readOrder],
    agents: { auditor: { description: 'Audits.', prompt: 'Audit the order.' } },
  });
  const delegates = calls('agent', { name: 'auditor', prompt: 'Audit O-17.' });
  const run = await testAgent(parent, {
    goal: 'Handle order O-17.',
    model: [delegates, 'Audited.'],
    agents: { auditor: [READS, 'Fine.'] },
    tools: { 'orders.read': () => ({ status: 'delivered' }) },
  });
  expect(run.stopReason).toBe('completed');
  expect(run.calls.map(({ agent: by, tool }) => `${by}: ${tool}`)).toEqual([
    'parent: agent',
    'parent/auditor: orders.read',
  ]);
  for (const by of ['auditor', 'parent/auditor'])
    assertCalled(run, { tool: 'orders.read', agent: by });
  expect(() => assertCalled(run, { tool: 'orders.read', agent: 'parent' })).toThrow(
    'parent/auditor: orders.read',
  );
});

test('a run that a task is handed to is played as well: its calls and events are told, its answer and its cost are not', async () => {
  const stock = defineAgent({
    name: 'stock',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Look after the stock.',
    tools: [readOrder],
  });
  const desk = defineAgent({
    name: 'desk',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Hand over.',
    handoffTo: [{ agent: 'stock', run: 'new' }],
  });
  const run = await testAgent(desk, {
    goal: 'Handle order O-17.',
    config: defineConfig({ agents: [desk, stock] }),
    model: [calls('handoff', { to: 'stock', summary: 'An order.' })],
    agents: { stock: [READS, 'Fine.'] },
    tools: { 'orders.read': TOOLS['orders.read'] },
  });
  expect(run).toMatchObject({ stopReason: 'completed', detail: 'handed_off' });
  expect(run.answer).toBeUndefined();
  expect(run.calls.map(({ runId, agent: by, tool }) => `${runId} ${by}: ${tool}`)).toEqual([
    'test desk: handoff',
    'test:h1 stock: orders.read',
  ]);
  const costs = run.events.map((event) =>
    event.type === 'model_response' ? [event.stamp.runId, event.costMicroUsd] : [],
  );
  const own = costs.filter(([runId]) => runId === 'test').map(([, cost]) => cost);
  expect(own).toEqual([run.costMicroUsd]);
  expect(new Set(run.events.map(({ stamp }) => stamp.runId))).toEqual(new Set(['test', 'test:h1']));
});

describe('what the test says nothing of is an error that names it', () => {
  test.each<[string, Partial<AgentTest>, RegExp]>([
    [
      'a request',
      { model: [READS] },
      /script of the agent refunds has 1 turn, and request 2 was made.*delivered/s,
    ],
    ['a call', { tools: {} }, /calls orders\.read with .*O-17.*no fake/],
    ['a fake of no tool', { tools: { 'orders.rad': () => 1 } }, /fakes the tool orders\.rad/],
    [
      'a fake that never ends',
      { tools: { 'orders.read': () => new Promise(() => undefined) }, limitMs: 50 },
      /50 ms.*a fake/,
    ],
  ])('%s', async (_, more, message) => {
    await expect(testAgent(agent, test1(more))).rejects.toThrow(message);
  });
});

test('the own code of a tool runs where the test says so', async () => {
  const own = defineTool({
    name: 'add',
    version: '1',
    effect: 'none',
    input: z.object({ a: z.number() }),
    run: ({ a }) => a + 1,
  });
  const adding = defineAgent({
    name: 'adds',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Add.',
    tools: [own],
  });
  const model = [calls('add', { a: 1 }), '2'];
  const run = await testAgent(adding, { goal: 'Add.', model, tools: { add: 'own' } });
  expect(run.calls).toMatchObject([{ result: 2 }]);
  const all = await testAgent(adding, { goal: 'Add.', model, unfaked: 'own' });
  expect(all.calls).toMatchObject([{ result: 2 }]);
});

const REFUNDED = { model: [REFUNDS, 'Refunded.'] };

test('a decision that never comes ends the test, and nothing is rejected unheard', async () => {
  const unheard: unknown[] = [];
  const listen = (error: unknown): void => void unheard.push(error);
  process.on('unhandledRejection', listen);
  const never = new Promise<undefined>(() => undefined);
  const played = testAgent(agent, test1({ ...REFUNDED, approvals: () => never, limitMs: 200 }));
  await expect(played).rejects.toThrow('After 200 ms this has not ended: an answer of the test.');
  await new Promise((resolve) => setTimeout(resolve, 300));
  process.off('unhandledRejection', listen);
  expect(unheard).toEqual([]);
});

test('what a script throws is an error of the test, as an expectation about the prompt', async () => {
  const model = (): string => {
    throw new Error('the prompt says nothing of refunds');
  };
  await expect(testAgent(agent, test1({ model }))).rejects.toThrow(
    'the prompt says nothing of refunds',
  );
});

test('a call in doubt is settled by a word', async () => {
  const tools = {
    'payments.refund': () => {
      throw new Error('the line broke off');
    },
  };
  const run = await testAgent(
    agent,
    test1({
      ...REFUNDED,
      tools,
      approvals: ({ kind }) => (kind === 'outcome' ? 'happened' : 'approve'),
    }),
  );
  expect(run).toMatchObject({
    stopReason: 'completed',
    asks: [{ kind: 'approval' }, { kind: 'outcome', outcome: 'happened' }],
  });
});

test.each<[string, object, string]>([
  ['a field that there is not', { approval: () => 'approve' }, 'The test has no field "approval".'],
  ['a word for a script', { model: 'Done.' }, 'The test cannot use its model.'],
  ['a word for a callback', { approvals: 'approve' }, 'The test cannot use its approvals.'],
  [
    'a value for a fake',
    { tools: { 'orders.read': { status: 'open' } } },
    'The test cannot use its fake of orders.read.',
  ],
  ['a mistyped turn', { model: [{ txt: 'Hi.' }] }, 'Turn 1 of the script of the agent refunds has'],
  ['a number as a turn', { model: [5] }, 'Turn 1 of the script of the agent refunds is 5.'],
  ['calls that are no list', { model: [{ calls: READS }] }, 'Turn 1 of the script of the agent'],
  [
    'arguments with an approval',
    { ...REFUNDED, approvals: () => ({ decision: 'approve', args: { amount: 5 } }) },
    'The decision "approve" takes no args.',
  ],
  [
    'an amount with a rejection',
    { ...REFUNDED, approvals: () => ({ decision: 'reject', amount: 5 }) },
    'The decision "reject" takes no amount.',
  ],
  [
    'a mistyped field of a decision',
    { ...REFUNDED, approvals: () => ({ decision: 'approve', role: 'lead' }) },
    'A decision has no field "role".',
  ],
  ['a limit below nothing', { limitMs: -5 }, 'The test cannot use its limitMs.'],
  ['a time that is none', { startAt: NaN }, 'The test cannot use its startAt.'],
  ['a message that is no text', { messages: [3] }, 'The test cannot use its messages.'],
  ['an answer that is no error', { model: [{ status: 200 }] }, 'cannot use its status.'],
  ['a limit that no timer takes', { limitMs: Infinity }, 'The test cannot use its limitMs.'],
  [
    'a script of an agent that there is not',
    { agents: { auditr: ['Fine.'] } },
    '`agents` of the test has no field "auditr".',
  ],
  ['null as a decision', { ...REFUNDED, approvals: () => null }, 'decision must be one of approve'],
])('%s is refused', async (_what, more, said) => {
  await expect(testAgent(agent, test1(more))).rejects.toMatchObject({
    code: 'InvalidFixture',
    message: expect.stringContaining(said) as unknown,
  });
});

const BUYER = {
  name: 'buyer',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Buy.',
} as const;

test('a quick read counts one attempt within the task, and another one when that took too long', async () => {
  const quick = (name: string) =>
    defineTool({
      name,
      version: '1',
      effect: 'read',
      quick: true,
      timeoutMs: 5_000,
      input: z.object({}),
      run: () => 'never called',
    });
  const tools = [quick('prices.read'), quick('prices.search')];
  const buyer = defineAgent({ ...BUYER, tools });
  const run = await testAgent(buyer, {
    goal: 'Buy the cheaper one.',
    model: [calls('prices.read', {}), calls('prices.search', {}), 'The pear.'],
    tools: { 'prices.read': () => 2, 'prices.search': { run: () => 1, takesMs: 1_500 } },
  });
  expect(run.calls.map(({ attempts }) => attempts)).toEqual([1, 2]);
  expect(run.result.counters.toolAttempts).toBe(3);
});

test('the ordinary attempt after a quick one says that it is the first', async () => {
  const seen: number[] = [];
  const read = defineTool({
    name: 'prices.read',
    version: '1',
    effect: 'read',
    quick: true,
    input: z.object({}),
    run: (_input, { attempt }) => {
      if (seen.push(attempt) === 1) throw new ToolError('retryable_error', 'busy');
      return 2;
    },
  });
  const tools = { 'prices.read': 'own' } as const;
  const buyer = defineAgent({ ...BUYER, tools: [read] });
  const model = [calls('prices.read', {}), 'The pear.'];
  const run = await testAgent(buyer, { goal: 'Buy the cheaper one.', model, tools });
  expect(run.calls).toMatchObject([{ status: 'ok', attempts: 2 }]);
  expect(seen).toEqual([1, 1]);
});
