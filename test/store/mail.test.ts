import { MAIL_LIMITS } from '../../core/state/mail.js';
import type { Mailing } from '../../store/mail.js';
import type { Store } from '../../store/store.js';
import { cleanUp, newStore } from './fixtures.js';

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterEach(cleanUp);

let keys = 0;
function letter(over: Partial<Mailing> = {}): Mailing {
  keys += 1;
  const from = { run: 'run:a1', agent: 'desk/auditor' };
  return { tenant: 't', to: 'run', from, key: `k${keys}`, text: 'Hello.', at: 1, ...over };
}

const read = async (after = 0, limit = 100, to = 'run', tenant = 't') =>
  (await store.readLetters(tenant, to, { after, limit })).letters;

test('Letters are numbered for their recipient in the order in which they were written.', async () => {
  expect(await store.writeLetter(letter({ text: 'one' }))).toBe('written');
  expect(await store.writeLetter(letter({ text: 'two' }))).toBe('written');
  await store.writeLetter(letter({ to: 'run:a2', text: 'other' }));
  const letters = await read();
  expect(letters.map(({ seq, text }) => [seq, text])).toEqual([
    [1, 'one'],
    [2, 'two'],
  ]);
  expect(await read(1)).toHaveLength(1);
  expect((await read(0, 1)).map(({ text }) => text)).toEqual(['one']);
});

test('A call writes one letter, however often it is delivered, and no other one.', async () => {
  const first = letter({ key: 'k' });
  expect(await store.writeLetter(first)).toBe('written');
  expect(await store.writeLetter({ ...first, at: 2 })).toBe('same');
  expect(await store.writeLetter({ ...first, text: 'Other.' })).toBe('other');
  expect(await store.writeLetter({ ...first, to: 'run:a2' })).toBe('other');
  expect(await read()).toHaveLength(1);
});

test('A mailbox takes no more letters than may be unread, and reading makes room.', async () => {
  for (let n = 0; n < MAIL_LIMITS.unread; n += 1) await store.writeLetter(letter());
  expect(await store.writeLetter(letter())).toBe('full');
  await read(0, 1);
  expect(await store.writeLetter(letter())).toBe('written');
  expect((await read(0)).map(({ seq }) => seq)).toEqual(
    Array.from({ length: MAIL_LIMITS.unread + 1 }, (_, index) => index + 1),
  );
});

test('What was read is read again by a run that was reset.', async () => {
  await store.writeLetter(letter({ text: 'one' }));
  const once = await read();
  expect(await read()).toEqual(once);
});

test('Letters of another tenant are of another mailbox.', async () => {
  await store.writeLetter(letter({ tenant: 'other' }));
  expect(await read()).toEqual([]);
  expect(await read(0, 100, 'run', 'other')).toHaveLength(1);
});

test('Letters that are large together are read in parts, and only what was read counts as read.', async () => {
  const text = '\u0001'.repeat(MAIL_LIMITS.textChars);
  for (let n = 0; n < 3; n += 1) await store.writeLetter(letter({ text }));
  await store.writeLetter(letter());
  const limit = MAIL_LIMITS.atOnce;
  const first = await store.readLetters('t', 'run', { after: 0, limit });
  expect(first).toMatchObject({ letters: [{ seq: 1 }], more: true });
  const last = await store.readLetters('t', 'run', { after: 3, limit });
  expect(last).toMatchObject({ letters: [{ seq: 4 }], more: false });
});
