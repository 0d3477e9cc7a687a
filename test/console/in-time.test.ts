/** Lists of the desk while its store says nothing. */
import { unlessStoreAway } from '../../client/index.js';
import { inTime } from '../../console/routes/in-time.js';
import { HoldfastError } from '../../core/state/errors.js';

const ANSWERS = () => Promise.resolve({ id: 's', epoch: 1 });
const SILENT = () => new Promise<never>(() => undefined);
const deskOf = (identity: () => Promise<unknown>) =>
  ({ store: { identity } }) as unknown as Parameters<typeof inTime>[0];

test('a list from a silent store is refused within five seconds as one from a store that is away, and is not begun', async () => {
  jest.useFakeTimers();
  try {
    let begun = 0;
    const listed = inTime(deskOf(SILENT), () => Promise.resolve((begun += 1)));
    const refused = expect(listed).rejects.toMatchObject({ code: 'StoreUnavailable' });
    await jest.advanceTimersByTimeAsync(5_000);
    await refused;
    expect(begun).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a store that refuses says why, another failure stays what it is, and an answer is the answer', async () => {
  const why = new HoldfastError('StoreUnavailable', 'It starts.');
  const list = jest.fn(() => Promise.resolve(7));
  await expect(
    inTime(
      deskOf(() => Promise.reject(why)),
      list,
    ),
  ).rejects.toBe(why);
  expect(list).not.toHaveBeenCalled();
  const other = new Error('no');
  await expect(inTime(deskOf(ANSWERS), () => Promise.reject(other))).rejects.toBe(other);
  expect(await inTime(deskOf(ANSWERS), list)).toBe(7);
});

test('a slow list takes as long as it takes, and nobody counts the store as away for it', async () => {
  jest.useFakeTimers();
  try {
    const found = new Promise((resolve) => setTimeout(() => resolve('found'), 20_000));
    const desk = deskOf(ANSWERS);
    const searched = inTime(desk, () => found);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await unlessStoreAway(desk.store, () => Promise.resolve('read'))).toBe('read');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await searched).toBe('found');
  } finally {
    jest.useRealTimers();
  }
});
