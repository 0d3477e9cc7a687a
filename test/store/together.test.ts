import { cleanUp, eventsFrom, newStore, onlyOn, warnings } from './fixtures.js';
import { openTransaction, outsideCalls, REPLY } from './open-transaction.js';

afterAll(cleanUp);

test('what others write during a transaction outlives its failure', async () => {
  const { store } = await newStore();
  const { end } = await openTransaction(store);
  const outside = Promise.all(outsideCalls(store));
  await expect(end(new Error('no'))).rejects.toThrow('no');
  await outside;
  expect(await store.getReply(REPLY)).toBe('mine');
  expect(await store.getLedgerRow('t', 'k')).toMatchObject({ state: 'claimed' });
  expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(0);
});

test('others do not see what is not committed', async () => {
  const { store } = await newStore();
  const { inside, end } = await openTransaction(store);
  await inside?.putReply({ ...REPLY, output: 'uncommitted' });
  const seen = store.getReply(REPLY);
  await expect(end(new Error('no'))).rejects.toThrow('no');
  expect(await seen).toBeUndefined();
});

onlyOn('sqlite')(
  'who asks during a transaction waits for its end: queries, and transactions in order',
  async () => {
    const { store } = await newStore();
    const { inside, end } = await openTransaction(store);
    const { $blob } = await inside!.putBlob('t', 'a text');
    const seen: (string | undefined)[] = [];
    const look = () => store.together(async (calls) => seen.push(await calls.getBlob('t', $blob)));
    const first = look();
    // A query that is built has a way of its own to the connection.
    const contents = store.getContents('t', [$blob]);
    const second = store.together(async (calls) => {
      seen.push('second');
      await calls.putBlob('t', 'more');
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toEqual([]);
    await end();
    await Promise.all([first, second]);
    expect(seen).toEqual(['a text', 'second']);
    expect((await contents).size).toBe(1);
  },
);

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

test('a transaction wakes the readers of the events that it has appended itself, and of no others', async () => {
  const { store } = await newStore();
  const append = (runId: string, failure?: Error) =>
    store.together(async (calls) => {
      await calls.appendEvents({ tenant: 't', runId, execution: 'e' }, eventsFrom(0, warnings(1)));
      if (failure !== undefined) throw failure;
    });
  const woken: string[] = [];
  const watches = ['undone', 'kept'].map((runId) => {
    const watch = store.watchEvents({ tenant: 't', runId });
    const over = new AbortController();
    const waits = watch.wait(60_000, over.signal).then(() => {
      if (!over.signal.aborted) woken.push(runId);
    });
    return { waits, stop: () => (over.abort(), watch.stop()) };
  });
  await expect(append('undone', new Error('no'))).rejects.toThrow('no');
  await append('kept');
  await watches[1]!.waits;
  for (const { stop } of watches) stop();
  await Promise.all(watches.map(({ waits }) => waits));
  expect(woken).toEqual(['kept']);
});
