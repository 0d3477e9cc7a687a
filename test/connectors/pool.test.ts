/** Connections that several calls wait for, some of which are stopped. */
import type { Connection } from '../../connectors/connection.js';
import { Pool } from '../../connectors/pool.js';

const connection = { closed: () => false, close: async () => undefined } as unknown as Connection;
const never = new AbortController().signal;

/** A pool whose four connections are in use, and what ends the use of one. */
async function busyPool() {
  const pool = new Pool(async () => connection);
  const ends: (() => void)[] = [];
  const using = (): Promise<void> => new Promise((end) => ends.push(end));
  const all = [1, 2, 3, 4].map(() => pool.with(never, { work: using, keeps: () => true }));
  await turn();
  expect(ends).toHaveLength(4);
  return {
    pool,
    end: () => ends.shift()?.(),
    async rest() {
      for (const finish of ends) finish();
      await Promise.all(all);
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const work = { work: async () => 'done', keeps: () => true };

test('A call that was stopped before it came waits for no connection.', async () => {
  const { pool, rest } = await busyPool();
  await expect(pool.with(AbortSignal.abort(), work)).rejects.toThrow();
  await rest();
});

test('A place of a call that is stopped as it is woken goes to the next one.', async () => {
  const { pool, end, rest } = await busyPool();
  const stop = new AbortController();
  // Stopped in the step in which it is woken, before it goes on.
  const { signal } = stop;
  const leave = signal.removeEventListener.bind(signal);
  const woken = jest.spyOn(signal, 'removeEventListener').mockImplementation((...listener) => {
    leave(...listener);
    stop.abort();
  });
  const stopped = pool.with(signal, work).catch(() => 'stopped');
  let given: string | undefined;
  const other = pool.with(never, work).then((value) => (given = value));
  end();
  expect(await stopped).toBe('stopped');
  await turn();
  expect(woken).toHaveBeenCalledTimes(1);
  expect(given).toBe('done');
  await rest();
  await other;
});
