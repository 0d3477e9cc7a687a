/** Waits for the first of several promises, some of which stay open for long. */
import { firstOf } from '../../client/first-of.js';

test('The first that ends is the answer, also when it had ended before.', async () => {
  const open = new Promise<string>(() => undefined);
  const ended = Promise.resolve('now');
  expect(await firstOf([open, ended])).toBe('now');
  expect(await firstOf([open, ended])).toBe('now');
  await expect(firstOf([open, Promise.reject(new Error('No.'))])).rejects.toThrow('No.');
  expect(await firstOf([Promise.resolve(1), Promise.resolve(2)])).toBe(1);
});

test('A promise that stays open is asked once, however often somebody waits for it, and ends for all who still do.', async () => {
  let end: (value: string) => void = () => undefined;
  const open = new Promise<string>((resolve) => (end = resolve));
  const asked = jest.spyOn(open, 'then');
  for (let wait = 0; wait < 100; wait += 1) await firstOf([open, Promise.resolve('other')]);
  expect(asked).toHaveBeenCalledTimes(1);
  const still = [firstOf([open]), firstOf([open, new Promise<string>(() => undefined)])];
  end('at last');
  expect(await Promise.all(still)).toEqual(['at last', 'at last']);
});
