/** What a query tells of the sub-agents below its run: their messages in order, under the calls that started them. */
import { defineAgent, defineConfig, type Config } from '../../authoring/index.js';
import { query } from '../../client/index.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import type { ScriptedAnswer } from '../../testing/index.js';
import { AGENT, APPROVER, config as served } from './support/agents.js';
import { all, follow, words } from './support/queries.js';
import { call, pay, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: treeConfig(world.service.url) });
});
afterAll(() => world?.stop());

/** An agent that has an auditor, which has a clerk; and one whose auditors work side by side. */
function treeConfig(serviceUrl: string): Config {
  const desk = served({ serviceUrl }).agents.get(AGENT);
  if (desk === undefined) throw new Error('There is no desk.');
  const { tools } = desk;
  const agent = { model: 'scripted/model', instructions: 'Audit.', tools };
  const clerk = { description: 'Pays.', prompt: 'Pay.', tools: ['pay.asked', 'facts.read'] };
  const auditor = defineAgent({ name: 'auditor', ...agent, agents: { clerk } });
  const agents = { auditor: { description: 'Checks an order.', agent: auditor } };
  const readers = { reader: { description: 'Reads.', prompt: 'Read.', tools: ['facts.read'] } };
  return defineConfig({
    agents: [
      auditor,
      defineAgent({ name: 'refund-desk', ...agent, agents }),
      defineAgent({ name: 'plain-desk', ...agent }),
      defineAgent({
        name: 'library',
        ...agent,
        agents: readers,
        settings: { toolExecution: 'batched' },
      }),
    ],
  });
}

const asks = (name: string) => call('agent', { name, prompt: 'Look at order 1.' });
const read = call('facts.read', { item: 'sky' });

interface Scripts {
  readonly [runId: string]: readonly ScriptedAnswer[];
}

function begin(runId: string, agent: string, scripts: Scripts) {
  for (const [id, replies] of Object.entries(scripts)) world.script(id, replies);
  const options = { agent, runId, decider: APPROVER, client: world.client };
  return (more: object = {}) => query({ prompt: 'Serve.', options: { ...options, ...more } });
}

/** Run, call and kind of each message. */
function told(messages: readonly SDKMessage[]): readonly string[] {
  return messages.map((message) => `${message.run_id} ${words(message)}`);
}

function parentsOf(messages: readonly SDKMessage[]): ReadonlyMap<string, unknown> {
  return new Map(messages.map((one) => [one.run_id, one.parent_tool_use_id ?? null]));
}

/** Id of the call of a sub-agent that this run made. */
function callOf(messages: readonly SDKMessage[], runId: string): string {
  for (const message of messages) {
    if (message.type !== 'assistant' || message.run_id !== runId) continue;
    for (const block of message.message.content) if (block.type === 'tool_use') return block.id;
  }
  throw new Error(`${runId} made no call`);
}

test('Messages of sub-agents stand under their calls over two levels, and come the same when they are read again or from any message on.', async () => {
  const [root, a, b] = ['tree', 'tree:a1', 'tree:a1:a1'];
  const start = begin(root, 'refund-desk', {
    [root]: [asks('auditor'), say('All done.')],
    [a]: [asks('clerk'), say('Audited.')],
    [b]: [read, say('Read.')],
  });
  const live = await all(start());
  expect(told(live)).toEqual([
    `${root} system/init`,
    `${root} assistant`,
    `${root} tool_progress`,
    `${a} assistant`,
    `${a} tool_progress`,
    `${b} assistant`,
    `${b} tool_progress`,
    `${b} tool_progress`,
    `${b} user`,
    `${b} assistant`,
    `${a} tool_progress`,
    `${a} user`,
    `${a} assistant`,
    `${root} tool_progress`,
    `${root} user`,
    `${root} assistant`,
    `${root} result/success`,
  ]);
  expect(parentsOf(live)).toEqual(
    new Map([
      [root, null],
      [a, callOf(live, root)],
      [b, callOf(live, a)],
    ]),
  );
  expect(new Set(live.map((one) => one.session_id)).size).toBe(1);
  // What each model was paid adds up to the cost, which counts sub-agents; theirs count those below them alone.
  for (const result of [live.at(-1)!, (await all(follow(world, a))).at(-1)!]) {
    if (result.type !== 'result') throw new Error('no result');
    const [used, ...others] = Object.values(result.modelUsage);
    expect([used?.costUSD, others]).toEqual([result.total_cost_usd, []]);
    expect(used?.inputTokens).toBe(result.usage.input_tokens);
    expect(result.total_cost_usd).toBeGreaterThan(0);
  }
  expect(await all(follow(world, root))).toEqual(live);
  // From any message on, with the places of all runs.
  for (let count = 1; count < live.length; count += 1) {
    const seen = new Map(live.slice(0, count).map((one) => [one.run_id, one.seq]));
    const { [root]: afterSeq = -1, ...afterSeqs } = Object.fromEntries(seen);
    const options = { client: world.client };
    const rest = await all(query({ runId: root, afterSeq, afterSeqs, options }));
    expect(rest).toEqual(live.slice(count));
  }
  // With the place of the run alone, an open sub-agent is told from its beginning.
  const afterSeq = live[2]!.seq;
  expect(await all(follow(world, root, { afterSeq }))).toEqual(live.slice(3));
  // A sub-agent that is read by itself is a run like any other, and says whose it is.
  const own = await all(follow(world, a));
  expect(told(own).slice(0, 2)).toEqual([`${a} system/init`, `${a} assistant`]);
  expect(own.at(-1)).toMatchObject({ type: 'result', parent_tool_use_id: callOf(live, root) });
});

test('A question of a sub-agent is asked of the one who reads its root.', async () => {
  const runId = 'asked';
  const start = begin(runId, 'refund-desk', {
    [runId]: [asks('auditor'), say('All done.')],
    [`${runId}:a1`]: [asks('clerk'), say('Audited.')],
    [`${runId}:a1:a1`]: [pay('pay.asked'), say('Paid.')],
  });
  const asked: string[] = [];
  const canUseTool = (tool: string, _: unknown, { ask }: { ask: { askId: string } }) => {
    asked.push(`${tool} ${ask.askId.startsWith(`${runId}:a1:a1:`)}`);
    return Promise.resolve({ behavior: 'allow' } as const);
  };
  const messages = await all(start({ canUseTool }));
  expect(asked).toEqual(['pay.asked true']);
  expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'All done.' });
  expect(world.service.visits(`${runId}:a1:a1`, 'effect')).toHaveLength(1);
});

test('Sub-agents that work side by side are each told in order, and a run that is cancelled tells what they said last.', async () => {
  const runId = 'many';
  const two = {
    calls: ['a', 'b'].map((prompt) => ({ tool: 'agent', input: { name: 'reader', prompt } })),
  };
  const reads = [read, say('Read.')];
  const start = begin(runId, 'library', {
    [runId]: [two, say('Done.')],
    [`${runId}:a1`]: reads,
    [`${runId}:a2`]: reads,
  });
  const live = await all(start());
  const kinds = ['assistant', 'tool_progress', 'tool_progress', 'user', 'assistant'];
  for (const child of [`${runId}:a1`, `${runId}:a2`]) {
    const own = live.filter((one) => one.run_id === child);
    expect(own.map(words)).toEqual(kinds);
    expect(own.map((one) => one.seq)).toEqual(own.map((one) => one.seq).toSorted((x, y) => x - y));
  }
  const again = await all(follow(world, runId));
  expect(new Set(again.map((one) => one.uuid))).toEqual(new Set(live.map((one) => one.uuid)));
  expect(await all(follow(world, runId))).toEqual(again);

  const left = 'left';
  const waiting = begin(left, 'refund-desk', {
    [left]: [asks('auditor')],
    [`${left}:a1`]: [asks('clerk')],
    [`${left}:a1:a1`]: [pay('pay.asked')],
  })();
  const seen: SDKMessage[] = [];
  for await (const message of waiting) {
    seen.push(message);
    if (message.type === 'system' && message.subtype === 'status' && message.ask !== undefined)
      await world.client.handle(left).cancel();
  }
  await until('the end', async () => (await world.store.getRun('default', left))?.result);
  expect(seen.at(-1)).toMatchObject({ run_id: left, type: 'result' });
  expect(seen.filter((one) => one.type === 'result')).toHaveLength(1);
  expect(told(await all(follow(world, left)))).toEqual(told(seen));
});

test('A query brings sub-agents along: roles of its agent, with no tool that the agent lacks.', async () => {
  const runId = 'brought';
  const start = begin(runId, 'plain-desk', {
    [runId]: [asks('checker'), asks('nobody'), say('All done.')],
    [`${runId}:a1`]: [read, call('notes.write', { item: 'i' }), say('Checked.')],
  });
  const checker = {
    description: 'Checks facts.',
    prompt: 'You check facts, and say only true or false.',
    tools: ['facts.read'],
    model: 'inherit',
    maxTurns: 5,
  };
  const messages = await all(start({ agents: { checker } }));
  expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'All done.' });
  expect(messages[0]).toMatchObject({ tools: expect.arrayContaining(['agent']) });
  const [init] = await world.events(`${runId}:a1`);
  expect(init).toMatchObject({
    agent: 'plain-desk/checker',
    tools: ['facts.read'],
    parent: { runId, path: ['plain-desk', 'checker'] },
  });
  expect(world.service.visits(`${runId}:a1`, 'effect')).toHaveLength(0);
  const row = await world.store.getRun('default', `${runId}:a1`);
  const [first] = await world.store.readChain('default', row!.head!);
  expect(JSON.stringify(first?.blocks)).toContain('You check facts');
  const results = messages.flatMap((one) => (one.type === 'user' ? [JSON.stringify(one)] : []));
  expect(results.at(-1)).toContain('There are: checker.');
});

test('Sub-agents of a start that cannot be used are refused by name before anything runs.', async () => {
  const checker = { description: 'Checks.', prompt: 'Check.' };
  const refusals: readonly [agents: unknown, why: string, code?: string][] = [
    ['checker', 'options.agents'],
    [{ checker: 'Check.' }, 'agents.checker'],
    [{ checker: { ...checker, hooks: [] } }, 'has no field hooks'],
    [{ checker: { ...checker, settings: { permissionMode: 'plan' } } }, 'has no field settings'],
    [{ checker: { ...checker, prompt: ' ' } }, 'its prompt is blank'],
    [{ checker: { ...checker, tools: ['pay.unknown'] } }, 'has no tool pay.unknown'],
    [{ checker: { ...checker, model: 'nowhere/none' } }, 'nowhere/none', 'UnknownModel'],
    [{ checker: { ...checker, maxTurns: -1 } }, 'maxTurns'],
    [{ checker: { ...checker, prompt: 'x'.repeat(40_000) } }, '32768'],
    [{ auditor: checker }, 'has a sub-agent auditor already'],
    [{ 'two words': checker }, 'its name is not allowed'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`c${n}`, checker])), '21 sub-agents'],
  ];
  for (const [index, [agents, why, code = 'InvalidTask']] of refusals.entries()) {
    const runId = `refused${index}`;
    const asked = async () =>
      all(begin(runId, 'refund-desk', { [runId]: [say('No.')] })({ agents }));
    await expect(asked()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why),
    });
  }
});
