/** What a run waits for, and since when, is told although the worker, or the store, is away. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { createActivities, type ActivityDeps } from '../../activities/index.js';
import type { Activities } from '../../core/state/effect.js';
import type { Wait } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { startTcpProxy, type TcpProxy } from '../../testing/index.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { holdfast as run, placeOf, type CommandPlace } from './support/command.js';
import { startDesk, tokenOf, type TestDesk } from './support/desk.js';
import { IMPATIENT } from './support/patience.js';
import { read, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 120_000;
const HOUR_MS = 3_600_000;

interface Shown {
  readonly waits: readonly Wait[];
  readonly storeAway: boolean;
}

interface Manner {
  /** The clock of the command is so much ahead. */
  readonly laterMs?: number;
  readonly variables?: Readonly<Record<string, string>>;
}

/** The command as whoever operates it runs it. */
async function holdfast(place: CommandPlace, words: readonly string[], manner: Manner = {}) {
  const { laterMs = 0, variables = {} } = manner;
  const realNow = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNow() + laterMs);
  try {
    return await run(place, words, variables);
  } finally {
    clock.mockRestore();
  }
}

async function waitsShown(place: CommandPlace, runId: string): Promise<readonly Wait[]> {
  const { out } = await holdfast(place, ['show', runId, '--json']);
  return (JSON.parse(out) as Shown).waits;
}

/** What the run waits for, as soon as it is said. */
function firstWait(run: RunHandle): Promise<Wait> {
  return until('the wait', async () => (await run.execution()).waits[0], 60_000);
}

describe('a worker that is away', () => {
  let world: World;
  let place: CommandPlace;
  let desk: TestDesk;
  beforeAll(async () => {
    world = await startWorld({ worker: false, ...IMPATIENT });
    place = placeOf(world);
    desk = await startDesk(world);
  });
  afterAll(async () => {
    await desk?.stop();
    await world.stop();
  });

  test(
    'is what the run waits for, since it was killed',
    async () => {
      const worker = await world.spawn();
      const held = world.service.hold('left-alone', 'read');
      const run = await world.start({
        runId: 'left-alone',
        replies: [read(), say('Finished.')],
        settings: { heartbeatMs: { repeatable: 1_000, single: 1_000 } },
      });
      await held;
      expect(await waitsShown(place, run.runId)).toEqual([]);
      const gone = Date.now();
      await worker.kill();
      const wait = await firstWait(run);
      expect(wait).toMatchObject({ for: 'a worker', activity: expect.any(String), attempts: 1 });
      expect(wait.since).toBeGreaterThan(gone - 1_000);
      expect(wait.since).toBeLessThan(Date.now() - 10_000);

      expect(await waitsShown(place, run.runId)).toEqual([wait]);
      const { activities } = await run.execution();
      expect(activities).toMatchObject([{ lost: true, summary: 'facts.read' }]);
      const { out } = await holdfast(place, ['show', run.runId]);
      expect(out).toMatch(/The run waits for a worker since \d{4}-\d\d-\d\d [^]*holdfast worker/);
      const told = await desk.get(`/v1/runs/${run.runId}/waits`);
      expect(told).toMatchObject({ status: 200, body: { waits: [wait] } });
      expect((await desk.get(`/v1/runs/${run.runId}/waits`, 'bob')).status).toBe(404);
      const unreached = await holdfast({ ...place, address: '127.0.0.1:1' }, ['show', run.runId]);
      expect(unreached.out).toContain('No Temporal server answers: this is what the store has.');
      const doctor = await holdfast(place, ['doctor'], { laterMs: HOUR_MS });
      expect(doctor.out).toMatch(/left-alone: it waits for a worker[^]*holdfast worker/);

      await world.serve();
      world.service.releaseAll();
      await world.ended(run);
      expect(await waitsShown(place, run.runId)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'is what the run itself waits for when nobody takes its next step',
    async () => {
      const lonely = await world.raw.workflow.start('agentRun', {
        taskQueue: 'nobody-serves-this',
        workflowId: 'never-taken',
        args: [],
      });
      const wait = await firstWait(world.client.handle('never-taken'));
      expect(wait).toEqual({ for: 'a worker', since: expect.any(Number), attempts: 0 });
      await lonely.terminate();
    },
    LIMIT_MS,
  );
});

describe('code that no worker has', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ workerSettings: { activities: withoutTheTool } });
  });
  afterAll(() => world.stop());

  test(
    'is waited for, and a cancel ends the run at once',
    async () => {
      const run = await world.start({ runId: 'unserved', replies: [read(), say('Finished.')] });
      const wait = await firstWait(run);
      expect(wait).toMatchObject({ for: 'a worker with the tool facts.read', since: SINCE });
      const before = Date.now();
      await run.cancel();
      expect((await world.ended(run)).result).toMatchObject({ status: 'cancelled' });
      expect(Date.now() - before).toBeLessThan(30_000);
      expect((await run.execution()).waits).toEqual([]);
    },
    LIMIT_MS,
  );
});

test(
  'a store that is back is said to be, until the next try of the run, and when that is',
  async () => {
    const world = await startWorld({ workerSettings: { activities: onceWithoutStore } });
    try {
      const run = await world.start({ runId: 'back', replies: [read(), say('Finished.')] });
      const { nextAt = 0 } = await firstWait(run);
      expect(nextAt).toBeGreaterThan(Date.now());
      expect(nextAt).toBeLessThan(Date.now() + RETRY_MS);
      const { out } = await holdfast(placeOf(world), ['show', run.runId]);
      expect(out).toMatch(/waits for the store since [^]*, next at [^]*: It is away\.\n/);
      expect(out).toMatch(/→ The store answers this command: [^]* next try, at [\d:]{8} \(in /);
      expect(out).not.toContain('Bring the store back');
      expect((await world.ended(run)).result.completed).toBe(true);
    } finally {
      await world.stop();
    }
  },
  LIMIT_MS,
);

const RETRY_MS = 15_000;

/** A worker that does not reach its store at the first call of a tool. */
function onceWithoutStore(deps: ActivityDeps): Activities {
  const activities = createActivities(deps);
  let calls = 0;
  return {
    ...activities,
    execute_tool: async (input) => {
      calls += 1;
      if (calls > 1) return activities.execute_tool(input);
      throw ApplicationFailure.create({
        type: 'StoreUnavailable',
        message: 'It is away.',
        nextRetryDelay: RETRY_MS,
      });
    },
  };
}

const SINCE = Date.now() - HOUR_MS;

/** A worker whose configuration lacks what the run calls. */
function withoutTheTool(deps: ActivityDeps): Activities {
  return {
    ...createActivities(deps),
    execute_tool: async () => {
      throw ApplicationFailure.create({
        type: 'NotServed',
        message: 'This worker does not have the tool facts.read.',
        details: [{ tool: 'facts.read', waitingSince: SINCE }],
        nextRetryDelay: '30 s',
      });
    },
  };
}

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('a store that is away', () => {
  let world: World;
  let proxy: TcpProxy;
  let place: CommandPlace;
  let desk: TestDesk;
  let deskStore: Store;
  beforeAll(async () => {
    const url = await newPostgresUrl();
    proxy = await startTcpProxy({ target: url });
    const store = url.replace(new URL(url).host, proxy.address);
    world = await startWorld({ worker: false, storePlace: url });
    place = { ...world.place, store };
    await world.serve({ storePlace: store });
    deskStore = await openStoreAt(store);
    desk = await startDesk({ ...world, store: deskStore });
  });
  afterAll(async () => {
    await desk?.stop();
    await deskStore?.close();
    await world.stop();
    await proxy.stop();
  });

  async function leftWithoutStore(runId: string): Promise<{ run: RunHandle; wait: Wait }> {
    const held = world.service.hold(runId, 'read');
    const run = await world.start({ runId, replies: [read(), say('Finished.')] });
    await held;
    proxy.refuse();
    proxy.cut();
    world.service.releaseAll();
    return { run, wait: await firstWait(run) };
  }

  test(
    'is what the run waits for, and every command says so without it',
    async () => {
      const away = Date.now();
      const { run, wait } = await leftWithoutStore('storeless');
      expect(wait).toMatchObject({
        for: 'the store',
        message: expect.stringContaining('cannot be reached'),
      });
      expect(wait.since).toBeGreaterThan(away);
      await sleep(3_000);
      const shown = JSON.parse(
        (await holdfast(place, ['show', 'storeless', '--json'])).out,
      ) as Shown;
      expect(shown).toMatchObject({ storeAway: true, waits: [{ for: 'the store' }] });
      // Later attempts have been refused as well: the wait began with the first of them.
      expect(shown.waits[0]!.since).toBe(wait.since);
      const { out } = await holdfast(place, ['show', 'storeless']);
      expect(out).toMatch(/The store cannot be read[^]*The run waits for the store since /);

      expect((await holdfast(place, ['list', '--stuck'])).out).toContain('No run is stuck.');
      const later = await holdfast(place, ['list', '--stuck'], { laterMs: HOUR_MS });
      expect(later.out).toMatch(/storeless +waits for the store \(\w+\) .*1 h.* ago/);
      const listed = await holdfast(place, ['list', '--stuck', '--json'], { laterMs: HOUR_MS });
      expect(JSON.parse(listed.out)).toMatchObject({
        stuck: [{ runId: 'storeless', kind: 'waiting', waitsFor: 'the store', since: wait.since }],
      });
      const doctor = await holdfast(place, ['doctor'], { laterMs: HOUR_MS });
      expect(doctor.out).toMatch(/storeless: it waits for the store[^]*Bring the store back/);

      // The desk's own store is away as well.
      expect(await desk.get('/v1/runs/storeless')).toMatchObject({ status: 503 });
      const told = await desk.get('/v1/runs/storeless/waits');
      expect(told).toMatchObject({ status: 200, body: { waits: [{ for: 'the store' }] } });
      const atDesk = await holdfast(place, ['show', 'storeless'], {
        variables: { HOLDFAST_TOKEN: tokenOf('mia'), HOLDFAST_DESK_URL: desk.url },
      });
      expect(atDesk.out).toMatch(
        /The store of the desk does not serve this request[^]*The run waits for the store since /,
      );
      proxy.restore();
      await world.ended(run);
    },
    LIMIT_MS,
  );

  test(
    'keeps no cancel from taking hold: what is left is to store what it did',
    async () => {
      const { run } = await leftWithoutStore('cancelled');
      await run.cancel();
      const asked = world.requests('cancelled').length;
      // What it has done is still to be accounted for and its end to be stored: both wait for the store.
      await until('the end of its work', async () =>
        (await run.state()).status === 'closing' ? true : undefined,
      );
      await until('what waits', async () => {
        const { waits } = await run.execution();
        return waits.some(({ activity }) => activity !== 'call_model') ? true : undefined;
      });
      expect(await waitsShown(place, run.runId)).toMatchObject([{ for: 'the store' }]);
      proxy.restore();
      expect((await world.ended(run)).result).toMatchObject({ status: 'cancelled' });
      expect(world.requests('cancelled')).toHaveLength(asked);
    },
    LIMIT_MS,
  );
});
