/**
 * Workers and servers that die, and lines that are cut, in the middle of a call: no call that may change something is repeated,
 * in either era of the protocol.
 *
 * HOLDFAST_WHOLE=1: of the legacy server every death; else the seed draws one.
 */
import { replayRuns } from '../../testing/replay.js';
import { openLine, type CutLine } from '../connectors/cut-line.js';
import { freePort, startEverything } from '../connectors/everything.js';
import {
  startModernServer,
  type ModernServer,
  type ServedTool,
} from '../connectors/modern-server.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { call, ofType, openAsk, say, startWorld, until, type World } from './support/world.js';

const MERGE = 'mcp__crm__merge_contacts';
/** Of a server that nobody trusts, so that it counts as one that may change something. */
const LONG = 'mcp__old__trigger-long-running-operation';
/** Comes back to the byte. */
const STATE = 'sealed \u0000 "state" é';

let world: World;
let server: ModernServer;
let line: CutLine;
let legacyPort: number;
let legacyLine: CutLine;
let legacy: Awaited<ReturnType<typeof startEverything>>;
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
  line = await openLine(Number(new URL(server.url).port));
  legacyPort = await freePort();
  legacy = await startEverything('streamableHttp', legacyPort);
  legacyLine = await openLine(legacyPort);
  world = await startWorld({ worker: false });
});
afterAll(async () => {
  release();
  await world.stop();
  for (const one of [line, legacyLine]) await one.close();
  await server.stop();
  await legacy.kill();
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

const at = ({ port }: CutLine): string => `http://127.0.0.1:${port}/mcp`;

type Worker = Awaited<ReturnType<World['spawn']>>;
const workers: Worker[] = [];

async function spawn(): Promise<void> {
  workers.push(
    await world.spawn({
      configModule: require.resolve('./support/served-agents'),
      configOptions: { url: at(line), legacyUrl: at(legacyLine) },
    }),
  );
}

async function killWorkers(): Promise<void> {
  for (const worker of workers.splice(0)) await worker.kill();
}

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
  await spawn();
  const run = await begin('killed-worker');
  await killWorkers();
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

test('a line that is cut in a call leaves a person to tell, and the call is not repeated', async () => {
  const run = await begin('cut-line');
  line.cut();
  await told(run);
  const { result } = await world.ended(run);
  expect(result).toMatchObject({ completed: true });
  expect(started.filter((one) => one === 'cut-line')).toHaveLength(1);
});

const DEATHS = ['worker', 'server', 'line'] as const;
const deaths = drawn(DEATHS, WHOLE ? DEATHS.length : 1, SEED);

test.each(deaths)(
  'a call of the legacy server whose %s dies is made once, and a person tells what became of it',
  async (death) => {
    saySeed(`the ${death} of a legacy call dies`);
    const runId = `legacy-${death}`;
    const before = legacyLine.calls();
    const run = await world.start({
      runId,
      agent: 'legacy',
      settings,
      replies: [call(LONG, { duration: 8, steps: 1 }), say('Done.')],
    });
    await run.approve((await openAsk(run)).askId, { by: 'mia', roles: [] });
    await until('the call to reach the server', () => legacyLine.calls() > before || undefined);
    await DIES[death]();
    await told(run);
    const { events, result } = await world.ended(run);
    expect(result).toMatchObject({ completed: true });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ tool: LONG, status: 'ok' }]);
    expect(legacyLine.calls()).toBe(before + 1);
    expect([...(await replayRuns(world.place, [runId]))]).toEqual([]);
  },
);

const DIES: Record<(typeof DEATHS)[number], () => Promise<void>> = {
  async worker() {
    await killWorkers();
    await spawn();
  },
  async server() {
    await legacy.kill();
    legacy = await startEverything('streamableHttp', legacyPort);
  },
  line: () => Promise.resolve(legacyLine.cut()),
};

test('a question of the server outlives its worker and its server: the answer goes back with the state, to the byte', async () => {
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
  await killWorkers();
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
