/** One trial: all runs at once, the desk, the faults, and what has become of every run. */
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { limited } from '../../evaluation/pool.js';
import type { Closers } from '../proving/closers.js';
import { AGENT } from './agent.js';
import { openDesk, type Desk, type OpenAsk } from './desk.js';
import { startFaults, pause, type Faults } from './faults.js';
import { countsOf, faultsIn, NO_TRANSCRIPT, type Figures, type RunEnd } from './figures.js';
import { openPlace, runIdOf, type Opening, type Place } from './place.js';
import { longestStall, NO_STALL } from './stalls.js';

export interface Outcome {
  readonly figures: Figures;
  readonly ends: readonly RunEnd[];
  /** Empty when everything holds. */
  readonly faults: readonly string[];
}

const TENANT = 'default';
const AT_ONCE = 8;
const PROGRESS_MS = 5_000;
const ASKS_MAX = 500;
const RUNS_ASKED_EVERY_MS = 15_000;
const OPEN = `WorkflowType = 'agentRun' AND ExecutionStatus = 'Running'`;
/** While a part is away. */
const AGAIN_MS = 500;

export async function runTrial(opening: Opening, closers: Closers): Promise<Outcome> {
  const { options, say, signal } = opening;
  const place = await openPlace(opening, closers);
  const began = performance.now();
  const runIds = Array.from({ length: options.runs }, (_, number) => runIdOf(number));
  const desk = openDesk({ place, openAsks: asksOf(place, options.restored ? runIds : []) });
  closers.add(() => desk.stop());
  say(`${runIds.length} runs start`);
  const start = limited(AT_ONCE * 4, (runId: string) => startRun(place, runId));
  const started = Promise.all(runIds.map(start));
  const faults = startFaults({ place, options, say });
  closers.add(() => faults.stop());
  await started;
  const watched = { place, desk, faults, began };
  await untilEnded(opening, watched);
  await faults.stop();
  const seconds = (performance.now() - began) / 1_000;
  signal.throwIfAborted();
  say('reading the histories');
  const lookAt = limited(AT_ONCE, (runId: string) => endOf(place, runId));
  const ends = await Promise.all(runIds.map(lookAt));
  await desk.stop();
  const payments = await place.service.payments();
  const evidence = { ends, payments, approvedAt: desk.approvedAt };
  const figures: Figures = {
    seed: options.seed,
    runs: options.runs,
    ...countsOf(evidence),
    parked: desk.parked.size,
    workerKills: faults.counts.workers,
    serverKills: faults.counts.server,
    databaseKills: faults.counts.database,
    seconds,
    load: (loadavg()[0] ?? 0) / cpus().length,
    longestAnswerMs: desk.longestAnswerMs,
  };
  return { figures, ends, faults: faultsIn(figures, evidence, options) };
}

/** A run that the server has taken exists; its id makes the second try the same run. */
async function startRun({ client }: Place, runId: string): Promise<void> {
  await persistently(() =>
    client.start({ agent: AGENT, task: 'Pay the invoice.', runId, wait: false }),
  );
}

/** From the store; a store that was replaced knows too little, so the runs themselves are asked as well. */
function asksOf(place: Place, runIds: readonly string[]): () => Promise<readonly OpenAsk[]> {
  const query = { pendingOnly: true, limit: ASKS_MAX } as const;
  const askRun = limited(AT_ONCE, async (runId: string) => {
    const asks = await place.client
      .handle(runId)
      .pendingApprovals()
      .catch(() => []);
    return asks.map((ask) => ({ ...ask, runId }));
  });
  let askedAt = performance.now();
  return async () => {
    const stored = await place.store.listAsks(TENANT, query);
    // A question to a run costs its worker as much as a decision.
    const isDue = performance.now() - askedAt > RUNS_ASKED_EVERY_MS;
    if (!isDue) return stored;
    const told = (await Promise.all(runIds.map(askRun))).flat();
    askedAt = performance.now();
    const known = new Set(told.map(({ askId }) => askId));
    return [...told, ...stored.filter(({ askId }) => !known.has(askId))];
  };
}

interface Watched {
  readonly place: Place;
  readonly desk: Desk;
  readonly faults: Faults;
  readonly began: number;
}

async function untilEnded({ options, say, signal }: Opening, watched: Watched): Promise<void> {
  const { place, desk, faults, began } = watched;
  const deadline = began + options.limit * 1_000;
  const done = { faults: false };
  const failing = faults.done.then(() => void (done.faults = true));
  let saidAt = 0;
  while (!signal.aborted && performance.now() < deadline) {
    await Promise.race([pause(AGAIN_MS, signal), failing.then(() => sleep(AGAIN_MS))]);
    const open = await place.temporal.workflow
      .count(OPEN)
      .then(({ count }) => count)
      .catch(() => undefined);
    if (open === 0 && done.faults) return;
    if (options.restored && done.faults && (await restWaits(place, options.runs))) return;
    if (performance.now() - saidAt < PROGRESS_MS) continue;
    saidAt = performance.now();
    const { workers, server, database } = faults.counts;
    const seconds = ((saidAt - began) / 1_000).toFixed(1).padStart(6);
    say(
      `${seconds} s  open ${open ?? '?'}, approved ${desk.approvedAt.size}, ` +
        `kills ${workers} of workers, ${server} of the server, ${database} of the database`,
    );
  }
}

/** Whether all that is open waits for what the older store lacks: that comes back by no waiting. */
async function restWaits({ temporal, client }: Place, runs: number): Promise<boolean> {
  await sleep(WAITS_LOOK_MS);
  try {
    const ids: string[] = [];
    for await (const { workflowId } of temporal.workflow.list({ query: OPEN }))
      ids.push(workflowId);
    const waits = await Promise.all(ids.slice(0, runs).map((runId) => client.waits(runId)));
    return waits.every((ofRun) => ofRun.some((wait) => wait.for === TRANSCRIPT));
  } catch {
    return false;
  }
}

const WAITS_LOOK_MS = 5_000;
const TRANSCRIPT = 'the transcript';

/** Longest wait for a result that Temporal has already; ms. */
const RESULT_LIMIT_MS = 5_000;

async function endOf(place: Place, runId: string): Promise<RunEnd> {
  const history = await persistently(() => place.temporal.workflow.getHandle(runId).fetchHistory());
  const stall = longestStall(history, Date.now());
  const times = (history.events ?? []).map(({ eventTime }) => Number(eventTime?.seconds ?? 0));
  const lastedMs = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1_000;
  try {
    const result = await place.client.handle(runId).result({ timeoutMs: RESULT_LIMIT_MS });
    return { runId, end: result.stopReason, stall, lastedMs, waitsFor: [] };
  } catch (error) {
    const waits = await place.client.waits(runId).catch(() => []);
    if (waits.some((wait) => wait.for === TRANSCRIPT)) {
      return { runId, end: NO_TRANSCRIPT, stall: NO_STALL, lastedMs, waitsFor: [TRANSCRIPT] };
    }
    const waitsFor = waits.map((wait) => JSON.stringify(wait));
    return { runId, end: `no result: ${String(error)}`, stall, lastedMs, waitsFor };
  }
}

const TRIES_MAX = 40;

async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const isOurs = error instanceof HoldfastError && error.code !== 'ServerUnavailable';
      if (isOurs || attempt >= TRIES_MAX) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
