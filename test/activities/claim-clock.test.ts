/** G108: claims end by the clock of the store's database, whatever the clocks of workers say. */
import type { ActivityDeps } from '../../activities/index.js';
import { MACHINE_TIMERS, type Timers } from '../../activities/timers.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { attempt, executeInput, RUN, sessionEvent, type Bed } from './setup.js';
import { bedWith, call, FINANCIAL } from './tool-bed.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;
const HOUR = 3_600_000;
/** What a tool may take here; its claim lasts a second longer, and the grace of a bed. */
const TIMEOUT_MS = 2_000;

onPostgres('the clock of a worker on PostgreSQL', () => {
  let store: Store;
  let bed: Bed;
  let states: (string | undefined)[];
  beforeEach(async () => {
    store = await openStoreAt(await newPostgresUrl());
    states = [];
    // What others find out while the tool is at work.
    bed = await bedWith(async () => {
      const found = reconciledAt(0);
      await Promise.race([waited, found]);
      states.push((await store.getLedgerRow(RUN.tenant, call.key))?.state);
      others.push(found);
      return 'paid';
    }, FINANCIAL);
  });
  afterEach(async () => {
    await bed.end();
    await store.close();
  });

  let others: Promise<unknown>[];
  let waited: Promise<void>;
  let timers: Timers;
  beforeEach(() => {
    others = [];
    waited = new Promise((resolve) => {
      timers = {
        after(ms, then) {
          resolve();
          return MACHINE_TIMERS.after(ms, then);
        },
      };
    });
  });

  const at = (skewMs: number, more: Partial<ActivityDeps> = {}) =>
    bed.activities({ store, clock: () => Date.now() + skewMs, ...more });
  const reconciledAt = async (skewMs: number) => {
    const input = { v: 1, run: RUN, call, inlineBytesMax: 4_096, timeoutMs: TIMEOUT_MS } as const;
    const events = [sessionEvent()];
    return (await attempt(at(skewMs, { timers }).reconcile_tool, { ...input, events })).finding;
  };
  const executedAt = (skewMs: number) =>
    attempt(at(skewMs).execute_tool, executeInput(call, { timeoutMs: TIMEOUT_MS }));

  test('that is behind does not let others take its claim away while its tool is at work', async () => {
    expect((await executedAt(-HOUR)).outcome).toMatchObject({ kind: 'ok' });
    expect(states).toEqual(['claimed']);
    expect(await others[0]).toMatchObject({ kind: 'happened', source: 'tool' });
  });

  test('that is ahead does not keep others from finding out for an hour', async () => {
    const claimedUntil = (await store.claimClock(Date.now() + HOUR)) + 200;
    const about = { runId: RUN.runId, callKey: '1', tool: 'it' };
    const target = { tenant: RUN.tenant, key: call.key, argsDigest: call.digest, attempt: 1 };
    await store.claim({ ...target, ...about, claimedUntil, sameKeyRetry: false });
    const before = Date.now();
    expect(await reconciledAt(-HOUR)).toMatchObject({ kind: 'unknown' });
    expect(Date.now() - before).toBeLessThan(HOUR / 10);
  });
});

test('on SQLite it is the clock of the machine', async () => {
  const bed = await bedWith(() => 'paid', FINANCIAL);
  expect(await bed.store.claimClock(77)).toBe(77);
  await bed.end();
});
