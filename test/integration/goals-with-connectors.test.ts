/** A goal whose check is a tool of a server, started by another agent over `holdfast mcp-server`, on a real server. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineAgent, defineConfig, defineGoal } from '../../authoring/index.js';
import { startMcpHttp, type RunningMcpServer } from '../../console/mcp-server/index.js';
import { replayRuns } from '../../testing/replay.js';
import { startModernServer, type ModernServer } from '../connectors/modern-server.js';
import { deskOptions, tokenOf } from './support/desk.js';
import { ANY_RUN, ofType, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 120_000;
const CHECK = 'mcp__crm__count_open';

let world: World;
let server: ModernServer;
let desk: Awaited<ReturnType<typeof deskOptions>>;
let served: RunningMcpServer;
let client: Client;
let open = 1;

const count = {
  name: 'count_open',
  annotations: { readOnlyHint: true },
  run: () => ({ content: [], structuredContent: { count: open } }),
};
const close = { name: 'close_one', run: () => 'closed' };

const goal = defineGoal({
  name: 'none-open',
  objective: 'Nothing is open.',
  agent: 'closer',
  done: { all: [{ check: 'open', path: 'count', equals: 0 }] },
  validation: [{ name: 'open', tool: CHECK }],
  budget: { maxCostMicroUsd: 5_000_000 },
  cycle: { maxCostMicroUsd: 500_000, maxTurns: 4 },
});

beforeAll(async () => {
  server = await startModernServer([count, close]);
  const config = defineConfig({
    agents: [defineAgent({ name: 'closer', model: 'scripted/model', instructions: 'Close.' })],
    goals: [goal],
    mcp: { crm: { url: server.url, trust: 'trusted' } },
  });
  world = await startWorld({ workerSettings: { config } });
  world.script(ANY_RUN, ({ runId }) => {
    open = 0;
    if (runId.startsWith('away')) void server.kill();
    return { text: 'All is closed.' };
  });
  desk = await deskOptions(world, {
    startable: { agents: [], goals: [{ name: goal.name, definition: goal.definition }] },
    console: { access: { start: ['clerk'], read: ['clerk'] } },
  });
  served = await startMcpHttp(desk.options, 0);
  client = new Client({ name: 'other agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${tokenOf('clerk')}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url!), { requestInit }));
}, LIMIT_MS);
afterAll(async () => {
  await client?.close();
  await served?.stop();
  await desk?.close();
  await world?.stop();
  await server?.stop();
});
beforeEach(() => {
  open = 1;
  server.offer([count, close]);
});

async function called(name: string, args: Record<string, unknown>) {
  const { structuredContent, isError } = await client.callTool({ name, arguments: args });
  return { isError: isError === true, value: structuredContent as Record<string, unknown> };
}

test(
  'another agent starts it, follows it, and the check on the server ends it',
  async () => {
    const asked = { goal: goal.name, requestId: 'start-none-open-1' };
    const { value } = await called('start_goal', asked);
    expect(value).toMatchObject({ goal: goal.name, state: 'open' });
    expect((await called('start_goal', asked)).value).toEqual(value);
    const goalId = String(value['goalId']);
    const ended = await until(
      'the goal to end',
      async () => {
        const { value: now } = await called('goal_status', { goalId });
        return now['result'] === undefined ? undefined : now;
      },
      LIMIT_MS,
    );
    expect(ended).toMatchObject({ result: { completed: true } });
    expect(ofType(await world.events(goalId), 'check_finished')).toMatchObject([
      { name: 'open', known: true },
      { name: 'open', known: true },
    ]);
    expect([...(await replayRuns(world.place, [goalId]))]).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a check whose server is away after the opening is unknown, and ends no goal',
  async () => {
    const running = await world.client.startGoal({
      definition: {
        ...goal.definition,
        budget: { ...goal.definition.budget, maxCycles: 1 },
      },
      goalId: 'away',
      wait: false,
    });
    await running.result({ timeoutMs: LIMIT_MS });
    await server.restart();
    expect(ofType(await world.events('away'), 'check_finished')).toMatchObject([
      { known: true },
      { known: false, because: expect.stringContaining('tool_unavailable') as string },
    ]);
  },
  LIMIT_MS,
);

test.each([
  ['a tool that nobody has approved', 'mcp__crm__close_one', 'are new or described otherwise'],
  ['a tool that no server offers', 'mcp__crm__nothing', 'no server offers'],
  ['a connector that is none', 'mcp__erp__count', 'has no connector erp'],
])('a goal whose check is %s is refused', async (_, tool, words) => {
  const definition = { ...goal.definition, validation: [{ name: 'open', tool }] };
  await expect(
    world.client.startGoal({ definition, goalId: `refused-${tool}`, openLimitMs: 30_000 }),
  ).rejects.toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining(words) as string,
  });
});

test('a goal whose check changes something is refused, also when the tool is approved', async () => {
  const tool = 'mcp__crm__close_one';
  const rows = await world.store.listConnectorTools('default', 'crm', 10);
  const hashes = rows.filter(({ name }) => name === tool).map(({ hash }) => hash);
  const approval = { tenant: 'default', connector: 'crm', hashes, by: 'mia', at: Date.now() };
  expect(await world.store.approveTools(approval)).toBe(1);
  const definition = { ...goal.definition, validation: [{ name: 'open', tool }] };
  await expect(
    world.client.startGoal({ definition, goalId: 'changes', openLimitMs: 30_000 }),
  ).rejects.toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining('is no read tool') as string,
  });
});

test('a goal is refused while the server of its check is down', async () => {
  await server.kill();
  try {
    await expect(
      world.client.startGoal({ definition: goal.definition, goalId: 'down', openLimitMs: 60_000 }),
    ).rejects.toMatchObject({
      code: 'InvalidTask',
      message: expect.stringMatching(/no server offers .* The tools of crm are hidden/) as string,
    });
  } finally {
    await server.restart();
  }
});
