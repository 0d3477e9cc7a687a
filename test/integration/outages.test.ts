/**
 * Workers, the server and the store are away for longer than every limit of the runs under way (G115): no run ends of
 * it, nothing is paid for that nobody produced, and effects happen once. With HOLDFAST_OUTAGE_MS=720000 for real.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { startTcpProxy, type TcpProxy } from '../../testing/index.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { APPROVER } from './support/agents.js';
import type { Phase } from './support/service.js';
import {
  call,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  type Ended,
  type StartIn,
  type World,
} from './support/world.js';

const OUTAGE_MS = Number(process.env['HOLDFAST_OUTAGE_MS'] ?? 12_000);
/** Longer than a test needs that has all its parts. */
const LIMIT_MS = OUTAGE_MS + 150_000;
/** All limits are shorter than the outage: of a model call, of the run as a whole, of a worker's silence. */
const settings = { modelTimeoutMs: 9_000, heartbeatMs: { repeatable: 2_000, single: 2_000 } };
const budget = { timeoutMs: 10_000 };

interface Case {
  readonly runId: string;
  readonly at: Phase | 'model';
  readonly replies: StartIn['replies'];
}

const NOT_HAPPENED = { kind: 'not_happened' } as const;

const stalled = { stallAfterChunks: 2, chunks: 4, stallWith: 'pings' } as const;

/** A model that never ends its first reply: whoever asked for it must have gone. */
const UNANSWERED: Case = {
  runId: 'model',
  at: 'model',
  replies: [[{ ...read(), text: 'Let me see', ...stalled }, read()], say('Finished.')],
};

/** A model that answers while the part is away: its worker lives, so silence would be the model's own. */
const ANSWERED: Case = {
  runId: 'model',
  at: 'model',
  replies: [
    { ...read(), delayMs: 1_500 },
    { ...say('Finished.'), delayMs: 1_500 },
  ],
};

const TOOLS: readonly Case[] = [
  { runId: 'read', at: 'read', replies: [read(), say('Finished.')] },
  {
    runId: 'keyed-write',
    at: 'before',
    replies: [call('notes.write', { item: 'lamp' }), say('Finished.')],
  },
  { runId: 'probed', at: 'after', replies: [pay('pay.probed'), say('Finished.')] },
  { runId: 'blind', at: 'before', replies: [pay('pay.blind'), say('Finished.')] },
];

/** Every run is where it should be when the part goes away. */
async function startCases(world: World, model: Case): Promise<Map<string, RunHandle>> {
  const cases = [model, ...TOOLS];
  const holds = cases.flatMap(({ runId, at }) =>
    at === 'model' ? [] : [world.service.hold(runId, at)],
  );
  const started = cases.map(({ runId, replies }) =>
    world.start({ runId, replies, settings, budget }),
  );
  const asked = { runId: 'asked', replies: [pay('pay.asked'), say('Finished.')], settings, budget };
  const runs = await Promise.all([...started, world.start(asked)]);
  await Promise.all(holds);
  await until('the model call', () => world.requests('model')[0]);
  await openAsk(runs.at(-1)!);
  return new Map(runs.map((run) => [run.runId, run]));
}

const effects = (world: World, runId: string) =>
  world.service.visits(runId, 'effect').map(({ key }) => key);

/** The run ends as if nothing had been; who is asked whether the payment was made says the truth. */
async function completed(world: World, run: RunHandle): Promise<Ended> {
  const outcome = await run.outcome({ timeoutMs: 120_000 });
  const ask = outcome.kind === 'waiting' ? outcome.asks[0] : undefined;
  if (ask?.kind === 'outcome') {
    const made = effects(world, run.runId).length > 0;
    const said = made ? ({ kind: 'happened', value: 'done' } as const) : NOT_HAPPENED;
    await run.answer(ask.askId, said, { by: 'maria' });
  }
  const ended = await world.ended(run);
  expect(ended.result).toMatchObject({ stopReason: 'completed', detail: 'final_answer' });
  // What was waited for is no part of the run's time.
  expect(ended.result.counters.activeMs).toBeLessThanOrEqual(budget.timeoutMs + 1_000);
  return ended;
}

async function allCompleted(world: World, runs: Map<string, RunHandle>): Promise<void> {
  const asked = runs.get('asked')!;
  await asked.approve((await openAsk(asked)).askId, APPROVER);
  await Promise.all([...runs.values()].map((run) => completed(world, run)));
  for (const runId of ['probed', 'blind', 'asked', 'keyed-write']) {
    expect(new Set(effects(world, runId))).toEqual(new Set([`${runId}:0`]));
    if (runId !== 'keyed-write') expect(effects(world, runId)).toHaveLength(1);
  }
}

describe('workers that are away for longer than every limit', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ worker: false });
  });
  afterAll(() => world.stop());

  test(
    'end no run',
    async () => {
      const first = await world.spawn();
      const runs = await startCases(world, UNANSWERED);
      await first.kill();
      await sleep(OUTAGE_MS);
      const second = await world.spawn();
      await allCompleted(world, runs);
      await second.kill();
    },
    LIMIT_MS,
  );

  test(
    'cost nothing for calls that no worker had taken',
    async () => {
      // Somebody decides, nobody works: what is scheduled now waits in the queue.
      const deciding = await world.serve({ serves: 'workflows' });
      const run = await world.start({
        runId: 'queued',
        replies: [read(), say('Finished.')],
        settings,
        budget,
        wait: false,
      });
      await sleep(OUTAGE_MS);
      await world.serve({ serves: 'activities' });
      const { events, result } = await completed(world, run);
      const billed = ofType(events, 'model_response').reduce(
        (sum, one) => sum + one.costMicroUsd,
        0,
      );
      expect(result.costMicroUsd).toBe(billed);
      expect(world.requests('queued')).toHaveLength(2);
      deciding.shutdown();
    },
    LIMIT_MS,
  );
});

describe('a server that is away for longer than every limit', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ ownServer: true, worker: false });
  });
  afterAll(() => world.stop());

  test(
    'ends no run',
    async () => {
      await world.spawn();
      const runs = await startCases(world, ANSWERED);
      await world.server.kill();
      world.service.releaseAll();
      await sleep(OUTAGE_MS);
      await world.server.restart();
      await allCompleted(world, runs);
    },
    LIMIT_MS,
  );
});

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('a store that is away for longer than every limit', () => {
  let world: World;
  let proxy: TcpProxy;
  beforeAll(async () => {
    const url = await newPostgresUrl();
    proxy = await startTcpProxy({ target: url });
    const { host } = new URL(url);
    world = await startWorld({ worker: false, storePlace: url });
    await world.serve({ storePlace: url.replace(host, proxy.address) });
  });
  afterAll(async () => {
    await world.stop();
    await proxy.stop();
  });

  test(
    'ends no run',
    async () => {
      const runs = await startCases(world, ANSWERED);
      proxy.refuse();
      proxy.cut();
      world.service.releaseAll();
      await sleep(OUTAGE_MS);
      proxy.restore();
      await allCompleted(world, runs);
    },
    LIMIT_MS,
  );
});
