/**
 * Workers and servers that die, and lines that are cut, in the middle of a call: no call that may change something is repeated,
 * in either era of the protocol.
 *
 * HOLDFAST_WHOLE=1: of the legacy server every death over both of its transports; else the seed draws one.
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
/** Of the legacy server, which nobody trusts, so that it counts as one that may change something. */
const LONG = 'trigger-long-running-operation';
/** Of an answer to a call: it has more. */
const ANSWER_BYTES_MAX = 60;
/** Comes back to the byte. */
const STATE = 'sealed \u0000 "state" é';

let world: World;
let server: ModernServer;
let line: CutLine;

interface Legacy {
  readonly port: number;
  readonly line: CutLine;
  server?: Awaited<ReturnType<typeof startEverything>>;
}

const TRANSPORTS = {
  streamableHttp: { agent: 'legacy', connector: 'old', path: 'mcp' },
  sse: { agent: 'older', connector: 'older', path: 'sse' },
} as const;
type Transport = keyof typeof TRANSPORTS;
let legacy: Readonly<Record<Transport, Legacy>>;
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
  legacy = { streamableHttp: await legacyPlace(), sse: await legacyPlace() };
  world = await startWorld({ worker: false });
});
afterAll(async () => {
  release();
  await world.stop();
  const all = Object.values(legacy);
  for (const one of [line, ...all.map((place) => place.line)]) await one.close();
  await server.stop();
  for (const place of all) await place.server?.kill();
});

/** Its server starts when a test needs it. */
async function legacyPlace(): Promise<Legacy> {
  const port = await freePort();
  return { port, line: await openLine(port) };
}

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

const at = ({ port }: CutLine, path = 'mcp'): string => `http://127.0.0.1:${port}/${path}`;

type Worker = Awaited<ReturnType<World['spawn']>>;
const workers: Worker[] = [];

async function spawn(): Promise<void> {
  workers.push(
    await world.spawn({
      configModule: require.resolve('./support/served-agents'),
      configOptions: {
        url: at(line),
        legacyUrl: at(legacy.streamableHttp.line),
        olderUrl: at(legacy.sse.line, TRANSPORTS.sse.path),
      },
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

const DEATHS = ['worker', 'server', 'line', 'answer'] as const;
type Death = (typeof DEATHS)[number];
const ALL = (Object.keys(TRANSPORTS) as Transport[]).flatMap((transport) =>
  DEATHS.map((death) => ({ transport, death })),
);
const deaths = drawn(ALL, WHOLE ? ALL.length : 1, SEED);

test.each(deaths)(
  'a call of the legacy server over $transport whose $death dies is made once, and a person tells what became of it where nobody knows',
  async ({ transport, death }) => {
    const { agent, connector } = TRANSPORTS[transport];
    const place = legacy[transport];
    const bytes = 1 + (SEED % ANSWER_BYTES_MAX);
    const where = death === 'answer' ? ` at byte ${bytes}` : '';
    saySeed(`the ${death} of a legacy call over ${transport} dies${where}`);
    place.server ??= await startEverything(transport, place.port);
    if (workers.length === 0) await spawn();
    const runId = `${agent}-${death}`;
    const tool = `mcp__${connector}__${LONG}`;
    const before = place.line.calls();
    const duration = death === 'answer' ? 1 : 8;
    const run = await world.start({
      runId,
      agent,
      settings,
      replies: [call(tool, { duration, steps: 1 }), say('Done.')],
    });
    const { askId } = await openAsk(run);
    if (death === 'answer') place.line.cutInAnswer(bytes);
    await run.approve(askId, { by: 'mia', roles: [] });
    await until('the call to reach the server', () => place.line.calls() > before || undefined);
    if (death !== 'answer') await DIES[death](transport);
    await told(run);
    const { events, result } = await world.ended(run);
    expect(result).toMatchObject({ completed: true });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ tool, status: 'ok' }]);
    expect(place.line.calls()).toBe(before + 1);
    expect([...(await replayRuns(world.place, [runId]))]).toEqual([]);
  },
);

const DIES: Record<Exclude<Death, 'answer'>, (transport: Transport) => Promise<void>> = {
  async worker() {
    await killWorkers();
    await spawn();
  },
  async server(transport) {
    const place = legacy[transport];
    await place.server?.kill();
    place.server = await startEverything(transport, place.port);
  },
  line: (transport) => Promise.resolve(legacy[transport].line.cut()),
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
