/** A question by its id alone, where the store does not serve. */
import { findAsk } from '../../../client/decide/find-ask.js';
import type { Link } from '../../../client/link.js';
import { awayStore } from '../../../client/store-away.js';
import { HoldfastError } from '../../../core/state/errors.js';

const TOO_NEW = 'The store was written by a newer Holdfast.';
const linkWith = (store: Link['store']): Link => ({ tenant: 't', store }) as unknown as Link;

test('a store that is newer than the program says so itself', async () => {
  const why = new HoldfastError('StoreUnavailable', TOO_NEW, { hint: 'Upgrade Holdfast.' });
  await expect(findAsk(linkWith(awayStore(why)), 'r1:1')).rejects.toMatchObject({
    code: 'StoreUnavailable',
    message: `${TOO_NEW} Only the store knows a question by its id alone.`,
    hint: expect.stringMatching(/^Upgrade Holdfast\. Name the run .*\(here probably r1\)/),
  });
});

test('one that says nothing in time cannot be reached', async () => {
  jest.useFakeTimers();
  try {
    const silent = { getAsk: () => new Promise(() => undefined) } as unknown as Link['store'];
    const found = findAsk(linkWith(silent), 'r1:1').catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await found).toMatchObject({
      message: expect.stringMatching(/^The store cannot be reached\. Only the store knows/),
      hint: expect.stringMatching(/^Name the run/),
    });
  } finally {
    jest.useRealTimers();
  }
});
