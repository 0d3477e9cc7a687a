/** What a test of an agent cannot mean is refused with its place: nothing is left out, or made up, without a word. */
import { z } from 'zod';
import { askPerson, defineAgent, defineTool } from '../../../index.js';
import { calls, testAgent, type AgentTest } from '../../../testing/index.js';

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string() }),
  run: () => undefined,
});
const WORKER = { model: 'anthropic/claude-sonnet-5-5', instructions: 'Work.' } as const;
const agent = defineAgent({ ...WORKER, name: 'refunds', tools: [readOrder, askPerson] });
const READS = calls('orders.read', { orderId: 'O-17' });
const test1 = (more: Partial<AgentTest>): AgentTest => ({
  goal: 'Handle order O-17.',
  model: [READS, 'The order was delivered.'],
  tools: { 'orders.read': () => ({ status: 'delivered' }) },
  ...more,
});

test.each<[string, object | null, string]>([
  ['a test that is none', null, 'The test is null.'],
  ['a word for answers', { answers: 'O-18' }, 'The test cannot use its answers.'],
  ['a word for a listener', { onEvent: 'say' }, 'The test cannot use its onEvent.'],
  ['a word that unfaked does not have', { unfaked: 'owm' }, 'The test cannot use its unfaked.'],
  ['fakes in a list', { tools: [] }, 'The test cannot use its tools.'],
  ['a configuration that is none', { config: {} }, 'The test cannot use its config.'],
  [
    'a mistyped field of a fake',
    { tools: { 'orders.read': { run: () => 1, takeMs: 5 } } },
    'The fake of orders.read has no field "takeMs".',
  ],
  [
    'a time in words',
    { tools: { 'orders.read': { run: () => 1, takesMs: '5s' } } },
    'The fake of orders.read cannot use its takesMs.',
  ],
  [
    'a fake of what the runtime performs',
    { tools: { ask_person: () => 'O-18' } },
    'The test fakes the tool ask_person, which the runtime performs itself.',
  ],
  [
    'a probe of a tool that has none',
    { tools: { 'orders.read': { run: () => 1, probe: () => 1 } } },
    'The fake of orders.read has a probe, and the tool has none.',
  ],
  [
    'a mistyped field of a call',
    { model: [{ calls: [{ tool: 'orders.read', args: {} }] }] },
    'Turn 1 of the script of the agent refunds, call 1, has no field "args".',
  ],
  ['a stop that there is not', { model: [{ text: 'Hi.', stop: 'end' }] }, 'cannot use its stop.'],
  ['usage of no tokens', { model: [{ text: 'Hi.', usage: { in: 5 } }] }, 'cannot use its usage.'],
  ['words of a vendor without a status', { model: [{ message: 'No.' }] }, 'cannot use its status.'],
  ['a reply with a status', { model: [{ status: 500, text: 'Hi.' }] }, 'has no field "text".'],
  ['two answers in one', { model: [{ text: 'a', output: 1 }] }, 'has a text and an output.'],
  ['half a ms for the start of time', { startAt: 1.5 }, 'The test cannot use its startAt.'],
  ['a time that no clock can hold', { startAt: 1e300 }, 'The test cannot use its startAt.'],
  ['a time in a failure in words', { model: [{ status: 429, takesMs: '5s' }] }, 'its takesMs.'],
  ['a later turn', { model: [READS, 'Done.', { txt: 'Hi.' }] }, 'Turn 3 of the script'],
  [
    'a script of its own beside the model',
    { agents: { refunds: ['Hi.'] } },
    'a script of refunds, the tested agent itself.',
  ],
  [
    'scripts beside a cassette',
    { model: { kind: 'cassette', file: 'x.json' }, agents: {} },
    'The test has `agents` beside a cassette.',
  ],
])('%s is refused', async (_what, more, said) => {
  const given = more === null ? null : test1(more);
  await expect(testAgent(agent, given as AgentTest)).rejects.toMatchObject({
    code: 'InvalidFixture',
    message: expect.stringContaining(said) as unknown,
  });
});

test('a slip of the finger is told what was meant', async () => {
  const hintOf = (more: Partial<AgentTest>) =>
    testAgent(agent, test1(more)).catch((error: unknown) => (error as { hint?: string }).hint);
  expect(await hintOf({ tools: { 'orders.rad': () => 1 } })).toMatch(
    /^Did you mean orders\.read\?/,
  );
  const fakes = (more: object) => ({ tools: { 'orders.read': { run: () => 1, ...more } } });
  expect(await hintOf(fakes({ takeMs: 5 }))).toMatch(/^Did you mean takesMs\?/);
  expect(await hintOf(fakes({ takesMs: '5s' }))).toBe('Give a number of ms from 0, or Infinity.');
  expect(await hintOf({ unfaked: 'onw' as 'own' })).toMatch(/^Did you mean own\?/);
});

test('a script of another agent is a list or a function, and its turns are looked at before the run', async () => {
  const parent = defineAgent({
    ...WORKER,
    name: 'buyer',
    agents: { auditor: { description: 'Audits.', prompt: 'Audit.' } },
  });
  const play = (auditor: unknown) =>
    testAgent(parent, { goal: 'Buy.', model: ['Bought.'], agents: { auditor: auditor as never } });
  await expect(play('Fine.')).rejects.toThrow('`agents` cannot use its auditor.');
  await expect(play([{ txt: 'Fine.' }])).rejects.toThrow(
    'Turn 1 of the script of the agent auditor',
  );
  expect(await play(['Fine.'])).toMatchObject({ answer: 'Bought.' });
});

test('a fake may be an object of a class, with fields and methods of its own', async () => {
  class Shop {
    readonly asked: unknown[] = [];
    readonly takesMs = 5;
    run(input: unknown): object {
      this.asked.push(input);
      return { status: 'delivered' };
    }
  }
  const shop = new Shop();
  const run = await testAgent(agent, test1({ tools: { 'orders.read': shop } }));
  expect(run.stopReason).toBe('completed');
  expect(shop.asked).toEqual([{ orderId: 'O-17' }]);
  const late = Object.assign(new Shop(), { takesMs: '5s' as unknown as number });
  await expect(testAgent(agent, test1({ tools: { 'orders.read': late } }))).rejects.toThrow(
    'The fake of orders.read cannot use its takesMs.',
  );
});

test('a script of the tested agent itself is told where it belongs', async () => {
  await expect(testAgent(agent, test1({ agents: { refunds: ['Hi.'] } }))).rejects.toMatchObject({
    hint: 'Write it as `model`, and leave it out of `agents`.',
  });
  await testAgent(agent, test1({ agents: { refunds: undefined as never } }));
  await expect(testAgent(agent, test1({ agents: { other: ['Hi.'] } }))).rejects.toMatchObject({
    hint: 'The fields are none.',
  });
});

test('an agent may be called as every object is made', async () => {
  const made = defineAgent({ ...WORKER, name: 'constructor', tools: [readOrder, askPerson] });
  expect(await testAgent(made, test1({}))).toMatchObject({ stopReason: 'completed' });
});

test('an attempt may be answered with a text, as a request may', async () => {
  const run = await testAgent(agent, test1({ model: [[{ status: 529 }, 'Done.']] }));
  expect(run).toMatchObject({ stopReason: 'completed', answer: 'Done.' });
});

test('what a model gets wrong can be scripted: nothing at all, no name of a tool, no id of a call', async () => {
  const unnamed = {
    calls: [{ tool: '' }, { tool: 'orders.read', input: { orderId: 'O-17' }, id: '' }],
  };
  const run = await testAgent(agent, test1({ model: [unnamed, 'Done.'] }));
  expect(run).toMatchObject({ stopReason: 'completed', answer: 'Done.' });
  expect(run.calls).toMatchObject([{ code: 'unknown_tool' }, { tool: 'orders.read' }]);
  const silent = await testAgent(agent, test1({ model: [[], [], [], []] }));
  expect(silent.stopReason).not.toBe('completed');
});
