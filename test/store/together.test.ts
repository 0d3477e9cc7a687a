import Database from 'better-sqlite3';
import type { Store, StoreCalls } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore, warnings } from './fixtures.js';

afterAll(cleanUp);

const RUN = { tenant: 't', runId: 'r1' };
const SOURCE = { ...RUN, execution: 'e' };
const REPLY = { ...RUN, call: 1, requestDigest: 'd' };

const CALL = {
  tenant: 't',
  key: 'k',
  argsDigest: 'd',
  attempt: 1,
  runId: 'r1',
  callKey: '1',
  tool: 'pay',
};

/** A transaction that has written a blob and stays open until `end` is called. */
async function openTransaction(store: Store) {
  let inside: StoreCalls | undefined;
  let finish: ((failure?: Error) => void) | undefined;
  let begun: (() => void) | undefined;
  const open = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const over = store.together(async (calls) => {
    inside = calls;
    await calls.putBlob('t', 'first');
    begun?.();
    await new Promise<void>((resolve, reject) => {
      finish = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
  });
  await open;
  return {
    inside,
    async end(failure?: Error) {
      finish?.(failure);
      return over;
    },
  };
}

/** One call of each kind that may run without waiting for Kysely. */
function outsideCalls(store: Store): readonly Promise<unknown>[] {
  return [
    store.putReply({ ...REPLY, output: 'mine' }),
    store.claim({ ...CALL, claimedUntil: 5, sameKeyRetry: false }),
    store.putNode('t', { v: 1, parent: null, role: 'user', messageId: 'm', blocks: [] }),
    store.appendEvents(SOURCE, eventsFrom(0, warnings(1))),
  ];
}

test.each(['file', 'memory'])(
  'what others write during a transaction waits for it and outlives its failure (%s)',
  async (where) => {
    const { store } = await newStore(where === 'memory' ? ':memory:' : undefined);
    const { end } = await openTransaction(store);
    let done = 0;
    const outside = outsideCalls(store).map((call) => call.then(() => (done += 1)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(0);
    await expect(end(new Error('no'))).rejects.toThrow('no');
    await Promise.all(outside);
    expect(await store.getReply(REPLY)).toBe('mine');
    expect(await store.getLedgerRow('t', 'k')).toMatchObject({ state: 'claimed' });
    expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(0);
  },
);

test('others do not see what is not committed', async () => {
  const { store } = await newStore();
  const { inside, end } = await openTransaction(store);
  await inside?.putReply({ ...REPLY, output: 'uncommitted' });
  const seen = store.getReply(REPLY);
  await expect(end(new Error('no'))).rejects.toThrow('no');
  expect(await seen).toBeUndefined();
});

test('a transaction that SQLite ended by itself writes nothing more', async () => {
  const { store, file } = await newStore();
  const raw = new Database(file);
  raw.exec(`create trigger fail before insert on ledger begin select raise(rollback, 'no'); end`);
  raw.close();
  const work = store.together(async (calls) => {
    await calls.putReply({ ...REPLY, output: 'before' });
    await calls.burn(CALL).catch(() => undefined);
    await calls.putReply({ ...REPLY, call: 2, output: 'after' });
  });
  await expect(work).rejects.toMatchObject({ code: 'StoreUnavailable' });
  expect(await store.getReply(REPLY)).toBeUndefined();
  expect(await store.getReply({ ...REPLY, call: 2 })).toBeUndefined();
  expect(await store.putReply({ ...REPLY, output: 'usable' })).toBe('usable');
});

test('many transactions and single calls at once lose nothing', async () => {
  const { store } = await newStore();
  await Promise.all(
    Array.from({ length: 40 }, (_, call) => {
      const reply = { ...REPLY, call, output: call };
      if (call % 2 === 0) return store.putReply(reply);
      return store.together(async (calls) => {
        await calls.putReply(reply);
        if (call % 4 === 1) throw new Error('undone');
      });
    }).map((call) => call.catch(() => undefined)),
  );
  const stored = await Promise.all(
    Array.from({ length: 40 }, (_, call) => store.getReply({ ...REPLY, call })),
  );
  expect(stored).toEqual(stored.map((_, call) => (call % 4 === 1 ? undefined : call)));
});

test('the first reply stays, also when the second comes in the same transaction', async () => {
  const { store } = await newStore();
  expect(await store.putReply({ ...REPLY, output: { n: 1 } })).toEqual({ n: 1 });
  expect(await store.together((calls) => calls.putReply({ ...REPLY, output: { n: 2 } }))).toEqual({
    n: 1,
  });
});
