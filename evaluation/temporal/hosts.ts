/**
 * Workers for cases: one that many cases share, and one of its own for a case whose worker dies or restarts.
 * Invariants: a host has a task queue and a store to itself; a worker that is replaced takes nothing new,
 * and what it still runs is ended before the host is gone. Temporal's test server, whose time can be moved, gives
 * tasks to workers that have left, and loses them: there the worker stays, and keeps no run in memory instead.
 */
import type { Json } from '../../core/json/json.js';
import { wholeInput } from '../../core/step/brief-input.js';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../activities/index.js';
import { clientOver, openLink, type HoldfastClient } from '../../client/connect.js';
import { deliverUnder } from '../../client/decide/deliver.js';
import type { Decision } from '../../core/state/ask.js';
import { HoldfastError } from '../../core/state/errors.js';
import { ACTIVITY_KINDS, type Activities, type RunRef } from '../../core/state/effect.js';
import { openStore, type Store } from '../../store/store.js';
import type { VirtualTime } from '../../client/virtual-time.js';
import { startWorker, type RunningWorker, type WorkerSettings } from '../../worker/index.js';
import { goalOfRun } from '../goal-tree.js';
import { rootOfRun } from '../run-tree.js';
import type { CaseLife } from './case-life.js';
import { BARE_CONFIG } from './bare-config.js';

export interface HostOptions {
  readonly address: string;
  readonly folder: string;
  readonly name: string;
  readonly maxCachedWorkflows?: number;
  /** Rules number that runs are opened with. */
  readonly rules?: number;
  /** Absent: the machine's. */
  readonly time?: VirtualTime;
}

export interface Host {
  /** The server's time, ms since epoch. */
  now(): number;
  /** Absent: nobody can move it. */
  readonly time?: VirtualTime;
  readonly client: HoldfastClient;
  readonly store: Store;
  /** Cases by run id. */
  readonly cases: Map<string, CaseLife>;
  /**
   * Gives a decision to a run. While nobody takes workflow tasks it goes as a signal alone: after an Update that nobody
   * answers the run would get both, and tells a refusal of each.
   */
  decide(runId: string, decision: Decision): Promise<unknown>;
  serve(): Promise<unknown>;
  /** Another worker takes over at once; the old one drains without being waited for. */
  replace(): void;
  /** The worker drains; after `downMs` more another one serves. */
  restart(downMs: number): void;
  /** Resolves when nobody takes workflow tasks any more. */
  holdWorkflows(): Promise<void>;
  /** They are taken again, a moment later. */
  releaseWorkflows(): void;
  stop(): Promise<void>;
}

/** Workers of their own, so that one can end without the other. */
type Part = 'workflows' | 'activities';
const PARTS: readonly Part[] = ['workflows', 'activities'];
/** The outcome of an activity has reached the server after this long, in ms. */
const ARRIVED_MS = 700;

const SHUTDOWN_GRACE_MS = 20_000;
/** A task that waits for a worker that is gone goes to the next one after this long, in ms. */
const STICKY_MS = 1_000;
const NAMESPACE = 'default';

const SERVED = {
  namespace: NAMESPACE,
  config: BARE_CONFIG,
  providers: new Map(),
  shutdownGraceMs: SHUTDOWN_GRACE_MS,
  stickyTimeoutMs: STICKY_MS,
};

export async function openHost(given: HostOptions): Promise<Host> {
  const { address, folder, name, rules, time, ...options } = given;
  const now = time?.now ?? Date.now;
  const [storePlace, taskQueue] = [join(folder, `${name}.db`), `eval-${name}`];
  const store = await openStore({ file: storePlace });
  const { link, close } = await openLink({ address, taskQueue, store });
  const client = clientOver(link, close);
  const cases = new Map<string, CaseLife>();
  /** Changes of workers happen one after another. */
  let changes: Promise<void> = Promise.resolve();
  const place = { address, taskQueue, storePlace };
  const code = codeOf(cases, { rules, now });
  const parts = partsOf((part) =>
    startWorker({ ...place, serves: part, ...code, ...SERVED, ...options }),
  );

  const serve = (): Promise<unknown> => Promise.all(PARTS.map(parts.start));

  function change(how: () => Promise<unknown>): Promise<void> {
    const done = changes.then(how);
    changes = done.then(() => undefined);
    return changes;
  }

  return {
    now,
    ...(time !== undefined && { time }),
    client,
    store,
    cases,
    decide: (runId, decision) =>
      deliverUnder(link, runId, { decision, unheard: !parts.isRunning('workflows') }),
    serve,
    replace() {
      if (time !== undefined) return;
      void parts.end(PARTS);
      void change(serve);
    },
    restart(downMs) {
      if (time !== undefined) return;
      const ended = parts.end(PARTS);
      void change(async () => {
        await ended;
        await sleep(downMs);
        await serve();
      });
    },
    holdWorkflows: () => change(() => parts.end(['workflows'])),
    releaseWorkflows() {
      void change(async () => {
        await sleep(ARRIVED_MS);
        if (!parts.isRunning('workflows')) await parts.start('workflows');
      });
    },
    async stop() {
      await changes.catch(() => undefined);
      await parts.end(PARTS);
      await parts.ended();
      await client.close();
      await store.close();
    },
  };
}

/** Every worker has the code of the cases, also for what is done within its tasks. */
function codeOf(
  cases: ReadonlyMap<string, CaseLife>,
  { rules, now }: { readonly rules: number | undefined; readonly now: () => number },
): Pick<WorkerSettings, 'readsWithinTasks' | 'activities'> {
  return {
    readsWithinTasks: true,
    activities: (deps) => activitiesFor(cases, { ...withRules(deps, rules), clock: now }),
  };
}

function withRules(deps: ActivityDeps, rules: number | undefined): ActivityDeps {
  return rules === undefined ? deps : { ...deps, rules };
}

/** Each activity belongs to a case, which knows what it works with. */
function activitiesFor(cases: ReadonlyMap<string, CaseLife>, deps: ActivityDeps): Activities {
  const perform = (kind: keyof Activities) => (input: { readonly run: RunRef }) => {
    const own = rootOfRun(input.run.runId);
    const life = cases.get(own) ?? cases.get(goalOfRun(own));
    if (life === undefined)
      throw new HoldfastError('RunNotFound', `No case is ${input.run.runId}.`);
    const whole = wholeInput(kind, input as unknown as Json);
    return life.perform(deps, { kind, input: whole as never });
  };
  // One function for every name: what an activity gets and gives is its implementation's business.
  return Object.fromEntries(
    ACTIVITY_KINDS.map((kind) => [kind, perform(kind)]),
  ) as unknown as Activities;
}

/** The workers of a host, one for each part. */
function partsOf(open: (part: Part) => Promise<RunningWorker>) {
  const served: Promise<void>[] = [];
  const running = new Map<Part, RunningWorker>();
  return {
    async start(part: Part): Promise<void> {
      const worker = await open(part);
      running.set(part, worker);
      served.push(worker.run());
    },
    /** What they still do is in the returned promise. */
    end(parts: readonly Part[]): Promise<unknown> {
      const ended = parts.flatMap((part) => running.get(part) ?? []);
      for (const part of parts) running.delete(part);
      for (const worker of ended) worker.shutdown();
      return Promise.all(ended.map((worker) => worker.run()));
    },
    isRunning: (part: Part) => running.has(part),
    ended: () => Promise.allSettled(served),
  };
}
