/**
 * B11, goals asleep: how soon after their time goals that wake in the same second ask their models, while others sleep
 * on; beside plain timers on the same server, when the goals have woken. No worker remembers any that sleeps: the one that
 * serves them when they wake was started after they fell asleep.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { connect, type HoldfastClient } from '../../client/index.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { createAnthropicProvider, scriptOf, startScriptedModel } from '../../testing/index.js';
import { startWorker, type WorkerSettings } from '../../worker/index.js';
import { latenessOfTimers } from './bare/timer-worker.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { startBenchServer, WIDE_ROUTE, type BenchOptions } from './setting.js';

export interface AsleepOptions extends BenchOptions {
  /** All of them sleep; `waking` of them until the same moment. */
  readonly goals: number;
  readonly waking: number;
  /** How long they sleep at least, ms: all must have been started by then. */
  readonly sleepMs: number;
}

export interface AsleepReport {
  readonly machine: MachineFacts;
  readonly goals: number;
  readonly waking: number;
  /** From the time of waking to the request of the cycle, ms. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly slowestMs: number;
  /** Of as many plain timers: from the time of waking to the activity behind it, ms. */
  readonly plainP50Ms: number;
  readonly plainP95Ms: number;
  /** Cycles that ran; each goal that wakes runs one. */
  readonly cycles: number;
}

const TASK_QUEUE = 'asleep';
/** That of a client that names none. */
const TENANT = 'default';
/** Goals that are started at once. */
const AT_ONCE = 10;
/** Far away for those that sleep on. */
const LATER_MS = 30 * 86_400_000;
const LIMIT_MS = 600_000;
/** Of the plain timers' worker: the fewest that the SDK keeps. */
const EVICTING_CACHE = 10;
const LOOK_MS = 1_000;
const TOO_SHORT = 'The goals were not all asleep at their time: give --sleep-ms more.';
/** Longer than it takes to start all plain timers. */
const PLAIN_SLEEP_MS = 20_000;

export async function benchAsleep(options: AsleepOptions): Promise<AsleepReport> {
  const { goals, waking, sleepMs, say, environment } = options;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-asleep-'));
  const storePlace = join(folder, 'store.db');
  const asked = new Map<string, number>();
  const server = await startBenchServer(environment);
  const store = await openStoreAt(storePlace);
  const model = await startScriptedModel({
    script: (request) => {
      if (!asked.has(request.runId)) asked.set(request.runId, Date.now());
      return scriptOf([{ text: 'Worked.' }])(request);
    },
  });
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
  const agent = defineAgent({ name: 'sleeper', instructions: 'Work.', model: WIDE_ROUTE.name });
  const place = { address: server.address, namespace: 'default' };
  const startServing = () =>
    serving({
      ...place,
      taskQueue: TASK_QUEUE,
      storePlace,
      config: defineConfig({ agents: [agent], routes: [WIDE_ROUTE] }),
      providers: new Map([[provider.name, provider]]),
      logLevel: 'ERROR',
    });
  let stopServing = await startServing();
  const client = await connect({ ...place, store, taskQueue: TASK_QUEUE });
  try {
    const wakeAt = Date.now() + sleepMs;
    await startAll(client, options, wakeAt);
    const moment = Math.ceil(wakeAt / 60_000) * 60_000;
    await untilAsleep(store, goals, moment);
    await stopServing();
    stopServing = await startServing();
    const leftMs = moment - Date.now();
    if (leftMs < 0) throw new Error(TOO_SHORT);
    say(`${goals} goals sleep, and a new worker serves them; ${waking} wake in ${leftMs} ms`);
    const limit = moment + LIMIT_MS;
    while (asked.size < waking && Date.now() < limit) await sleep(200);
    const late = [...asked.values()].map((at) => at - moment);
    const plain = await plainTimers(server.address, waking);
    const report: AsleepReport = {
      machine: await machineFacts(server.address),
      goals,
      waking,
      ...figuresOf(late, plain),
      cycles: asked.size,
    };
    say(`p50 ${report.p50Ms} ms, p95 ${report.p95Ms} ms, slowest ${report.slowestMs} ms`);
    say(`plain timers: p50 ${report.plainP50Ms} ms, p95 ${report.plainP95Ms} ms`);
    return report;
  } finally {
    await stopServing();
    await client.close();
    await Promise.all([model.stop(), server.stop(), store.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** What it gives stops the worker. */
async function serving(settings: WorkerSettings): Promise<() => Promise<void>> {
  const worker = await startWorker(settings);
  const served = worker.run();
  return async () => {
    worker.shutdown();
    await served;
  };
}

async function untilAsleep(store: Store, goals: number, moment: number): Promise<void> {
  const awake = new Set(Array.from({ length: goals }, (_, number) => idOf(number)));
  for (;;) {
    for (const goalId of awake) {
      const row = await store.getRun(TENANT, goalId);
      if (row?.nextWake !== undefined) awake.delete(goalId);
    }
    if (awake.size === 0) return;
    if (Date.now() >= moment) throw new Error(TOO_SHORT);
    await sleep(LOOK_MS);
  }
}

function idOf(number: number): string {
  return `asleep-${number}`;
}

function figuresOf(late: readonly number[], plain: readonly number[]) {
  return {
    p50Ms: shareOf(late, 0.5),
    p95Ms: shareOf(late, 0.95),
    slowestMs: shareOf(late, 1),
    plainP50Ms: shareOf(plain, 0.5),
    plainP95Ms: shareOf(plain, 0.95),
  };
}

function plainTimers(address: string, count: number): Promise<readonly number[]> {
  return latenessOfTimers({
    address,
    count,
    sleepMs: PLAIN_SLEEP_MS,
    maxCachedWorkflows: EVICTING_CACHE,
  });
}

function shareOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Infinity;
}

async function startAll(
  client: HoldfastClient,
  { goals, waking }: AsleepOptions,
  wakeAt: number,
): Promise<void> {
  for (let first = 0; first < goals; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, goals - first) }, (_, n) => first + n);
    await Promise.all(
      some.map((number) => startOne(client, number, number < waking ? wakeAt : wakeAt + LATER_MS)),
    );
  }
}

/** Its first cycle comes at the first tick. */
async function startOne(client: HoldfastClient, number: number, until: number): Promise<void> {
  await client.startGoal({
    goalId: idOf(number),
    wait: false,
    definition: {
      objective: 'Nothing is left.',
      agent: 'sleeper',
      done: { all: [{ state: 'left', equals: 0 }] },
      budget: { maxCostMicroUsd: 10_000_000, maxCycles: 1 },
      pace: { cron: cronOf(new Date(Math.ceil(until / 60_000) * 60_000)), timezone: 'UTC' },
    },
  });
}

function cronOf(at: Date): string {
  return `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`;
}
