/**
 * B9, token stream: how much later a token is read from a run than straight from the model, in the worker's own
 * process and through the store, at one and at many streams; and whether one is lost or doubled when readers
 * leave and return and workers are killed.
 */
import { join } from 'node:path';
import { connect, type HoldfastClient, type RunHandle } from '../../client/index.js';
import { openStore } from '../../store/store.js';
import { createAnthropicProvider, type TestServer } from '../../testing/index.js';
import { startWorker } from '../../worker/index.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { figureLines, figuresOf, measurePairs, type Pair, type PairedFigures } from './pairs.js';
import {
  benchConfig,
  GOAL,
  NOWHERE,
  READER,
  startBenchServer,
  type BenchOptions,
} from './setting.js';
import { quantile } from './statistics.js';
import {
  readDirectly,
  readFromRun,
  readInParts,
  type Faults,
  type ReadToken,
} from './stream/readers.js';
import { startTokenModelProcess, type TokenModel } from './stream/token-model-process.js';
import { spawnWorker, type BenchWorker } from './worker-process.js';

export interface StreamOptions extends BenchOptions {
  readonly pairs: number;
  /** Numbers of streams at once. */
  readonly streams: readonly number[];
  /** Length of every stream. */
  readonly seconds: number;
}

type Way = 'in process' | 'through the store';

interface WayFigures {
  readonly way: Way;
  readonly streams: number;
  readonly p50: PairedFigures;
  readonly p95: PairedFigures;
  readonly p99: PairedFigures;
}

export interface StreamReport {
  readonly machine: MachineFacts;
  readonly tokensPerSecond: number;
  readonly ways: readonly WayFigures[];
  readonly faults: Faults & { readonly streams: number; readonly kills: number };
  /** Whether every goal was reached. */
  readonly good: boolean;
}

const TOKENS_PER_SECOND = 50;
const GOALS = { 'in process': { p50: 5 }, 'through the store': { p95: 50 } } as const;
const FAULT_STREAMS = 10;
/** Half a second. */
const EDGE_TOKENS = TOKENS_PER_SECOND / 2;
/** Readers leave after so many chunks. */
const STAY = 23;
/** A worker dies when its streams have spoken for about so long. */
const KILL_AFTER_MS = 1_000;
const DEFAULT_HEARTBEAT_MS = 10_000;
/** So that a dead worker is missed soon. */
const SHORT_HEARTBEAT_MS = 1_000;

export async function benchStream(options: StreamOptions): Promise<StreamReport> {
  const { say, streams, seconds } = options;
  const tokens = seconds * TOKENS_PER_SECOND;
  const server = await startBenchServer(options.environment);
  const machine = await machineFacts(server.address);
  const model = await startTokenModelProcess({ tokens, tokensPerSecond: TOKENS_PER_SECOND });
  const bench: Bench = { server, model, tokens };
  try {
    const ways: WayFigures[] = [];
    for (const way of ['in process', 'through the store'] as const) {
      const held = await (way === 'in process' ? heldHere(bench) : heldElsewhere(bench));
      for (const count of streams)
        ways.push(await compare(bench, held, { ...options, way, count }));
      await held.stop();
    }
    const faults = await faultsOf(bench);
    say(
      `${faults.kills} kill, ${faults.streams} streams: lost ${faults.lost}, doubled ${faults.doubled}, resets ${faults.resets}`,
    );
    const good = faults.lost === 0 && faults.doubled === 0 && ways.every(isGood);
    return { machine, tokensPerSecond: TOKENS_PER_SECOND, ways, faults, good };
  } finally {
    model.stop();
    await server.stop();
  }
}

function isGood({ way, p50, p95 }: WayFigures): boolean {
  return way === 'in process'
    ? p50.difference.median <= GOALS[way].p50
    : p95.difference.median <= GOALS[way].p95;
}

interface Bench {
  readonly server: TestServer;
  readonly model: TokenModel;
  readonly tokens: number;
}

interface Held {
  readonly holdfast: HoldfastClient;
  /** Kills the worker and starts another; only where it has a process of its own. */
  replaceWorker(): Promise<void>;
  stop(): Promise<void>;
}

interface Comparison extends StreamOptions {
  readonly way: Way;
  readonly count: number;
}

async function compare(bench: Bench, held: Held, plan: Comparison): Promise<WayFigures> {
  const { way, count, say, pairs } = plan;
  const p95: Pair[] = [];
  const p99: Pair[] = [];
  const seen = new Map<string, readonly number[]>();
  const measured = (side: string, latencies: readonly number[]): number => {
    seen.set(side, latencies);
    const [bare, ours] = [seen.get('bare'), seen.get('held')];
    if (bare !== undefined && ours !== undefined) {
      p95.push({ bare: quantile(bare, 0.95), held: quantile(ours, 0.95) });
      p99.push({ bare: quantile(bare, 0.99), held: quantile(ours, 0.99) });
      seen.clear();
    }
    return quantile(latencies, 0.5);
  };
  await readAll(bench, 1, () => begin(held, `warm-${way}-${count}`).then(readFromRun));
  const p50 = await measurePairs({
    pairs,
    unit: 'ms per token, p50',
    bare: async () =>
      measured('bare', await readAll(bench, count, () => readDirectly(bench.model.baseUrl))),
    held: async (pair) =>
      measured(
        'held',
        await readAll(bench, count, (stream) =>
          begin(held, `stream-${way}-${count}-p${pair}-${stream}`).then(readFromRun),
        ),
      ),
    say,
  });
  const figures = {
    way,
    streams: count,
    p50,
    p95: figuresOf(p95, 'ms'),
    p99: figuresOf(p99, 'ms'),
  };
  for (const name of ['p50', 'p95', 'p99'] as const) {
    for (const line of figureLines(`${count} ${way}, ${name}`, figures[name])) say(line);
  }
  return figures;
}

/**
 * Latencies of all streams while all of them speak: their beginnings and ends, which in this bench come
 * together, are another matter. A token that is missing makes the figure none.
 */
async function readAll(
  { model, tokens }: Bench,
  count: number,
  readOne: (stream: number) => Promise<readonly ReadToken[]>,
): Promise<readonly number[]> {
  await model.beginTogether(count);
  const read = await Promise.all(Array.from({ length: count }, (_, stream) => readOne(stream)));
  for (const { length } of read) {
    if (length !== tokens) throw new Error(`a stream of ${tokens} tokens came as ${length}`);
  }
  return read
    .flat()
    .filter(({ number }) => number >= EDGE_TOKENS && number < tokens - EDGE_TOKENS)
    .map(({ latency }) => latency);
}

async function begin(
  { holdfast }: Held,
  name: string,
  heartbeatMs = DEFAULT_HEARTBEAT_MS,
): Promise<RunHandle> {
  return holdfast.start({
    agent: READER,
    task: { goal: GOAL },
    runId: name.replaceAll(' ', '-'),
    wait: false,
    settings: {
      includePartialMessages: true,
      heartbeatMs: { repeatable: heartbeatMs, single: heartbeatMs },
    },
  });
}

/** Readers that leave and return, and in the middle of it a worker that dies. */
async function faultsOf(bench: Bench): Promise<StreamReport['faults']> {
  const held = await heldElsewhere(bench);
  await bench.model.beginTogether(FAULT_STREAMS);
  let kill: Promise<void> | undefined;
  const read = await Promise.all(
    Array.from({ length: FAULT_STREAMS }, async (_, stream) => {
      const run = await begin(held, `faults-${stream}`, SHORT_HEARTBEAT_MS);
      const reading = readInParts(run, { tokens: bench.tokens, stay: STAY });
      for await (const { kind } of run.stream()) {
        if (kind !== 'delta') continue;
        kill ??= new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS)).then(() =>
          held.replaceWorker(),
        );
        break;
      }
      return reading;
    }),
  );
  await kill;
  await held.stop();
  const sum = (name: keyof Faults): number => read.reduce((total, one) => total + one[name], 0);
  return {
    lost: sum('lost'),
    doubled: sum('doubled'),
    resets: sum('resets'),
    streams: FAULT_STREAMS,
    kills: 1,
  };
}

async function heldHere({ server, model }: Bench): Promise<Held> {
  const storePlace = join(server.dataDir, 'bench-here.db');
  const place = { address: server.address, namespace: 'default', taskQueue: 'bench-here' };
  const provider = createAnthropicProvider({ apiKey: 'bench', baseUrl: model.baseUrl });
  const worker = await startWorker({
    ...place,
    storePlace,
    config: benchConfig(NOWHERE),
    providers: new Map([[provider.name, provider]]),
  });
  const served = worker.run();
  const store = await openStore({ file: storePlace });
  const holdfast = await connect({ ...place, store });
  return {
    holdfast,
    replaceWorker: () => Promise.resolve(),
    async stop() {
      worker.shutdown();
      await served;
      await holdfast.close();
      await store.close();
    },
  };
}

let queues = 0;

async function heldElsewhere({ server, model }: Bench): Promise<Held> {
  queues += 1;
  const storePlace = join(server.dataDir, `bench-elsewhere-${queues}.db`);
  const taskQueue = `bench-elsewhere-${queues}`;
  const { address } = server;
  const spawn = (): Promise<BenchWorker> =>
    spawnWorker({
      side: 'held',
      address,
      taskQueue,
      modelUrl: model.baseUrl,
      tools: [],
      storePlace,
      bundleFile: '',
    });
  let worker = await spawn();
  const store = await openStore({ file: storePlace });
  const holdfast = await connect({ address, namespace: 'default', taskQueue, store });
  return {
    holdfast,
    async replaceWorker() {
      await worker.kill();
      worker = await spawn();
    },
    async stop() {
      await worker.kill();
      await holdfast.close();
      await store.close();
    },
  };
}
