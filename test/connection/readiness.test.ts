/** Whether store and server answer: one look at a time, words of ours alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readinessOf } from '../../connection/readiness.js';

const fine = async () => 'fine';

test('everything answers', async () => {
  const ready = readinessOf(fine, fine);
  expect(await ready()).toEqual({ ok: true, store: 'ok', temporal: 'ok' });
});

test('a failure is a word with the time of the first look that found it, and nothing of the error', async () => {
  let fails = true;
  const store = jest.fn(async () => {
    if (fails) throw new Error('postgres://me:secret@db refuses');
  });
  const ready = readinessOf(store, fine);
  const first = await ready();
  expect(first).toEqual({
    ok: false,
    store: 'unavailable',
    temporal: 'ok',
    since: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await sleep(1_050);
  expect(await ready()).toEqual(first);
  expect(store).toHaveBeenCalledTimes(2);
  fails = false;
  await sleep(1_050);
  expect(await ready()).toEqual({ ok: true, store: 'ok', temporal: 'ok' });
});

test('many askers share one look, and its answer for a second', async () => {
  const [store, temporal] = [jest.fn(fine), jest.fn(fine)];
  const ready = readinessOf(store, temporal);
  await Promise.all(Array.from({ length: 500 }, ready));
  for (let asked = 0; asked < 50; asked += 1) await ready();
  expect(store).toHaveBeenCalledTimes(1);
  expect(temporal).toHaveBeenCalledTimes(1);
});

test('what does not answer in time is said within a second, and is not asked again meanwhile', async () => {
  let answer = (): void => undefined;
  const store = jest.fn(() => new Promise<void>((resolve) => void (answer = resolve)));
  const ready = readinessOf(store, fine);
  const begun = performance.now();
  expect(await ready()).toMatchObject({ ok: false, store: 'timeout' });
  expect(performance.now() - begun).toBeLessThan(5_000);
  await sleep(1_050);
  expect(await ready()).toMatchObject({ ok: false, store: 'timeout' });
  expect(store).toHaveBeenCalledTimes(1);
  answer();
  await sleep(10);
  expect(await ready()).toMatchObject({ ok: true });
});
