/** Code of a configuration that runs in a case whose time is virtual. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RealTime } from '../../evaluation/real-time.js';
import { inOwnTime, type OwnTime } from '../../evaluation/scripted/own-time.js';
import type { Stage } from '../../evaluation/scripted/stage.js';

function ownTime() {
  const waited: number[] = [];
  const wait = async (ms: number): Promise<void> => void waited.push(ms);
  const stage = { worker: () => ({ wait }) } as unknown as Stage;
  return { own: { time: new RealTime(), stage } satisfies OwnTime, waited };
}

const never = new AbortController().signal;

test('the time of the case stands still while the work goes on, then goes on by as much', async () => {
  const { own, waited } = ownTime();
  const done = inOwnTime(own, { limitMs: 60_000, signal: never }, async () => {
    await sleep(30);
    return 'done';
  });
  expect(own.time.current()).toBeDefined();
  expect(await done).toBe('done');
  expect(own.time.current()).toBeUndefined();
  expect(waited[0]).toBeGreaterThanOrEqual(29);
});

test('work that never ends holds the case for no longer than its own limit', async () => {
  const { own, waited } = ownTime();
  void inOwnTime(own, { limitMs: 20, signal: never }, () => new Promise(() => undefined));
  while (own.time.current() !== undefined) await own.time.current();
  expect(waited[0]).toBeGreaterThanOrEqual(19);
});

test('work that fails fails', async () => {
  const { own } = ownTime();
  const failed = inOwnTime(own, { limitMs: 1_000, signal: never }, () =>
    Promise.reject(new Error('broken')),
  );
  await expect(failed).rejects.toThrow('broken');
});
