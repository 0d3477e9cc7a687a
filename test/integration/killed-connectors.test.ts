/** Workers and servers that die in the middle of a call: no call that may change something is repeated. */
import { replayRuns } from '../../testing/replay.js';
import {
  startModernServer,
  type ModernServer,
  type ServedTool,
} from '../connectors/modern-server.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { call, ofType, openAsk, say, startWorld, until, type World } from './support/world.js';

const MERGE = 'mcp__crm__merge_contacts';
/** Comes back to the byte. */
const STATE = 'sealed \u0000 "state" é';

let world: World;
let server: ModernServer;
let release: () => void = () => undefined;
const started: string[] = [];

const TOOLS: readonly ServedTool[] = [
  {
    name: 'merge_contacts',
    inputSchema: { type: 'object', properties: { run: { type: 'string' } } },
    run: ({ run }) => {
      started.push(String(run));
      return new Promise((resolve) => {
        release = () => resolve(`merged for ${String(run)}`);
      });
    },
  },
  {
    name: 'ask_first',
    inputSchema: { type: 'object' },
    run: (_, { responses, state }) =>
      responses === undefined
        ? {
            resultType: 'input_required',
            requestState: STATE,
            inputRequests: {
              who: {
                method: 'elicitation/create',
                params: {
                  mode: 'form',
                  message: 'Who pays?',
                  requestedSchema: {
                    type: 'object',
                    properties: { name: { type: 'string' } },
                    required: ['name'],
                  },
                },
              },
            },
          }
        : `${JSON.stringify(responses)} ${String(state === STATE)}`,
  },
];

const settings = { heartbeatMs: { repeatable: 2_000, single: 2_000 } } as const;

beforeAll(async () => {
  server = await startModernServer(TOOLS);
  world = await startWorld({ worker: false });
});
afterAll(async () => {
  release();
  await world.stop();
  await server.stop();
});

const begin = async (runId: string): Promise<RunHandle> => {
  const run = await world.start({
    runId,
    agent: 'served',
    settings,
    replies: [call(MERGE, { run: runId }), say('Done.')],
  });
  const { askId } = await openAsk(run);
  await run.approve(askId, { by: 'mia', roles: [] });
  await until('the call to reach the server', () => started.includes(runId) || undefined);
  return run;
};

const spawn = () =>
  world.spawn({
    configModule: require.resolve('./support/served-agents'),
    configOptions: { url: server.url },
  });

const told = async (run: RunHandle): Promise<void> => {
  const ask = await until('the doubt to be asked about', async () => {
    const outcome = await run.outcome({ timeoutMs: 60_000 });
    const asks = outcome.kind === 'waiting' ? outcome.asks : [];
    return asks.find(({ kind }) => kind === 'outcome');
  });
  await run.decideOn({
    askId: ask.askId,
    decision: 'happened',
    value: 'merged',
    by: 'mia',
    roles: [],
  } as never);
};

test('a worker that is killed in a call leaves a person to tell, and the call is not repeated', async () => {
  const first = await spawn();
  const run = await begin('killed-worker');
  await first.kill();
  await spawn();
  await told(run);
  const { events, result } = await world.ended(run);
  expect(result).toMatchObject({ completed: true });
  expect(ofType(events, 'tool_finished')).toMatchObject([{ tool: MERGE, status: 'ok' }]);
  expect(started.filter((one) => one === 'killed-worker')).toHaveLength(1);
});

test('a server that is killed in a call leaves a person to tell, and the call is not repeated', async () => {
  const run = await begin('killed-server');
  await server.kill();
  await server.restart();
  await told(run);
  const { result } = await world.ended(run);
  expect(result).toMatchObject({ completed: true });
  expect(started.filter((one) => one === 'killed-server')).toHaveLength(1);
});

test('a question of the server outlives its worker and its server: the answer goes back with the state, to the byte', async () => {
  const first = await spawn();
  const run = await world.start({
    runId: 'asked-and-killed',
    agent: 'served',
    replies: [call('mcp__crm__ask_first', {}), say('Done.')],
  });
  const { askId } = await openAsk(run);
  await run.approve(askId, { by: 'mia', roles: [] });
  const question = await until('the question of the server', async () => {
    const ask = await openAsk(run);
    return ask.elicitation === undefined ? undefined : ask;
  });
  await first.kill();
  await server.kill();
  await server.restart();
  await run.answer(question.askId, { kind: 'text', value: { name: 'Ann' } }, { by: 'mia' });
  await spawn();
  const { events, result } = await world.ended(run);
  expect(result).toMatchObject({ completed: true });
  expect(ofType(events, 'tool_finished')).toMatchObject([
    {
      status: 'ok',
      content: { text: '{"who":{"action":"accept","content":{"name":"Ann"}}} true' },
    },
  ]);
  expect([...(await replayRuns(world.place, ['asked-and-killed']))]).toEqual([]);
});
