/**
 * The engine `temporal`: the real workflow, worker, client and store against a real server, with the same
 * scripted model and tools as in the simulation.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Progress } from '../../devserver/index.js';
import { startTestServer } from '../../testing/temporal-server.js';
import {
  startTimeSkippingServer,
  type TimeSkippingOptions,
} from '../../testing/time-skipping-server.js';
import { TimeHeld, type VirtualTime } from '../../client/virtual-time.js';
import type { CaseRun, Engine, RunOptions } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { notYet } from '../scripted/not-yet.js';
import { playCase, type EndedCase, type PlayOptions } from './case-play.js';
import { playGoalCase } from './goal-play.js';
import { openHost, type Host } from './hosts.js';
import { replaysAt } from './replays.js';
import { endsWorker, needsOwnWorker, skipOf } from './skip.js';

/** Cases mostly wait: for the server, for their own time. */
const CONCURRENCY = 12;
/** Replaying at every step is work: more at once would only be late for what happens in real time. */
const CONCURRENCY_UNCACHED = 3;

export interface TemporalEngineOptions {
  /** Variables that name a server's program, caches and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a person may want to know while a server is found, built and started. */
  readonly onProgress?: (text: string) => void;
  /** 0 replays the whole history at every step. */
  readonly maxCachedWorkflows?: number;
  /** Cases are played on a server whose time can be moved, one after another, because its time is everybody's. */
  readonly timeSkipping?: Pick<TimeSkippingOptions, 'executable'>;
  /** Server settings of the form `key=value`. */
  readonly dynamicConfig?: readonly string[];
  /** Rules number that runs are opened with: for recordings of what older rules decide. Default: the newest. */
  readonly rules?: number;
  /** Called with every run that has ended, while its server and store are there. */
  readonly onEnded?: (run: EndedRun) => Promise<void>;
}

export interface EndedRun extends EndedCase {
  readonly address: string;
}

export async function createTemporalEngine(options: TemporalEngineOptions): Promise<Engine> {
  const movesTime = options.timeSkipping !== undefined;
  let house = await openHouse(options);

  async function play(fixture: Fixture, runOptions: RunOptions): Promise<CaseRun> {
    try {
      return await house.play(fixture, runOptions);
    } catch (error) {
      if (!(error instanceof TimeHeld) || runOptions.signal?.aborted === true) throw error;
      // A task of an earlier case that the test server has lost holds its time for good: another one has none.
      await house.close();
      house = await openHouse(options);
      return house.play(fixture, runOptions);
    }
  }

  return {
    name: 'temporal',
    concurrency: concurrencyOf(options),
    async run(fixture, runOptions) {
      const missing = notYet(fixture);
      if (missing !== undefined) {
        return { kind: 'broken', message: `not supported yet: ${missing}` };
      }
      const why = skipOf(fixture, { movesTime });
      return why === undefined ? play(fixture, runOptions) : { kind: 'skipped', why };
    },
    stop: () => house.close(),
  };
}

/** A server, and what plays cases on it. */
interface House {
  play(fixture: Fixture, options: RunOptions): Promise<CaseRun>;
  close(): Promise<void>;
}

async function openHouse(options: TemporalEngineOptions): Promise<House> {
  const { maxCachedWorkflows, rules, onEnded } = options;
  const server = await serverFor(options);
  const { address, time } = server;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-eval-'));
  const place = {
    address,
    folder,
    ...(time !== undefined && { time }),
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    ...(rules !== undefined && { rules }),
  };
  const theatre = new Theatre(place, {
    replays: replaysAt(address),
    ...(onEnded !== undefined && {
      onEnded: (run: EndedCase) => onEnded({ ...run, address }),
    }),
  });
  return {
    play: (fixture, runOptions) => theatre.play(fixture, runOptions),
    async close() {
      await theatre.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface PlayServer {
  readonly address: string;
  readonly time?: VirtualTime;
  stop(): Promise<void>;
}

function serverFor(options: TemporalEngineOptions): Promise<PlayServer> {
  const { environment, onProgress, dynamicConfig, timeSkipping } = options;
  if (timeSkipping !== undefined) {
    return startTimeSkippingServer({
      environment,
      ...timeSkipping,
      ...(onProgress !== undefined && { onProgress }),
    });
  }
  return startTestServer({
    environment,
    ...(dynamicConfig !== undefined && { dynamicConfig }),
    ...(onProgress !== undefined && {
      onProgress: (progress: Progress) => onProgress(progress.message),
    }),
  });
}

function concurrencyOf(options: TemporalEngineOptions): number {
  if (options.timeSkipping !== undefined) return 1;
  return options.maxCachedWorkflows === 0 ? CONCURRENCY_UNCACHED : CONCURRENCY;
}

interface TheatrePlace {
  readonly address: string;
  readonly folder: string;
  readonly time?: VirtualTime;
  readonly maxCachedWorkflows?: number;
  readonly rules?: number;
}

/** Finds each case a host: keys of the ledger and ids of runs must not meet those of an earlier time. */
class Theatre {
  private readonly shared: Promise<Host>[] = [];
  private readonly times = new Map<string, number>();
  private own = 0;

  constructor(
    private readonly place: TheatrePlace,
    private readonly watching: Pick<PlayOptions, 'replays' | 'onEnded'>,
  ) {}

  async play(fixture: Fixture, { signal }: RunOptions): Promise<CaseRun> {
    const { caseId } = fixture;
    const time = this.times.get(caseId) ?? 0;
    this.times.set(caseId, time + 1);
    const runId = time === 0 ? caseId : `${caseId}:${time + 1}`;
    const options = { runId, ...this.watching, ...(signal !== undefined && { signal }) };
    const { goal } = fixture;
    const playIn = (host: Host): Promise<CaseRun> =>
      goal === undefined
        ? playCase(fixture, { ...options, host })
        : playGoalCase(fixture, goal, { ...options, host });
    if (!needsOwnWorker(fixture)) return playIn(await this.sharedHost(time));
    const host = await this.ownHost(fixture);
    try {
      return await playIn(host);
    } finally {
      await host.stop();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.shared.map(async (host) => (await host).stop()));
  }

  private sharedHost(time: number): Promise<Host> {
    return (this.shared[time] ??= openHost({ ...this.place, name: `shared-${time}` }).then(
      async (host) => {
        await host.serve();
        return host;
      },
    ));
  }

  private async ownHost({ during }: Fixture): Promise<Host> {
    this.own += 1;
    const { time } = this.place;
    const anew = time !== undefined && endsWorker({ during }) ? { maxCachedWorkflows: 0 } : {};
    const host = await openHost({ ...this.place, ...anew, name: `own-${this.own}` });
    // What happens at the start happens before there is a worker.
    if (!during.some(({ on }) => on.kind === 'start')) await host.serve();
    return host;
  }
}
