/** Lists of the desk while its store says nothing. */
import { inTime } from '../../console/routes/in-time.js';
import { HoldfastError } from '../../core/state/errors.js';

const desk = () => ({ store: {} }) as Parameters<typeof inTime>[0];
const never = () => new Promise<never>(() => undefined);

test('a list from a silent store is refused within five seconds as one from a store that is away', async () => {
  jest.useFakeTimers();
  try {
    const refused = expect(inTime(desk(), never)).rejects.toMatchObject({
      code: 'StoreUnavailable',
    });
    await jest.advanceTimersByTimeAsync(5_000);
    await refused;
  } finally {
    jest.useRealTimers();
  }
});

test('a store that refuses says why, another failure stays what it is, and an answer is the answer', async () => {
  const why = new HoldfastError('StoreUnavailable', 'It starts.');
  await expect(inTime(desk(), () => Promise.reject(why))).rejects.toBe(why);
  const other = new Error('no');
  await expect(inTime(desk(), () => Promise.reject(other))).rejects.toBe(other);
  expect(await inTime(desk(), () => Promise.resolve(7))).toBe(7);
});

test('a search takes as long as it takes', async () => {
  jest.useFakeTimers();
  try {
    const found = new Promise((resolve) => setTimeout(() => resolve('found'), 20_000));
    const searched = inTime(desk(), () => found, true);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await searched).toBe('found');
  } finally {
    jest.useRealTimers();
  }
});
