import fc from 'fast-check';
import { sha256Hex, INLINE_BYTES_MAX, PREVIEW_CHARS } from '../../core/json/json.js';
import { cleanUp, newStore } from './fixtures.js';

afterAll(cleanUp);

test('a blob is found by the sha256 of its UTF-8 bytes, and storing it again changes nothing', async () => {
  const { store } = await newStore();
  const text = 'Grüße \0 🌍';
  const ref = await store.putBlob('t', text);
  expect(ref).toEqual({ $blob: sha256Hex(text), bytes: Buffer.byteLength(text) });
  expect(await store.putBlob('t', text)).toEqual(ref);
  expect(await store.getBlob('t', ref.$blob)).toBe(text);
});

test('a blob belongs to its tenant', async () => {
  const { store } = await newStore();
  const ref = await store.putBlob('t', 'mine');
  expect(await store.getBlob('other', ref.$blob)).toBeUndefined();
});

test('an unpaired surrogate becomes U+FFFD, inline and in a blob alike', async () => {
  const { store } = await newStore();
  const ref = await store.putBlob('t', 'a\ud800b');
  expect(await store.getBlob('t', ref.$blob)).toBe('a\ufffdb');
  expect(ref.$blob).toBe(sha256Hex('a\ud800b'));
  expect(await store.putText('t', 'a\udc00b')).toEqual({ text: 'a\ufffdb' });
});

test('a text stays inline up to the limit in bytes and is a blob with a preview above it', async () => {
  const { store } = await newStore();
  const inline = 'é'.repeat(INLINE_BYTES_MAX / 2);
  expect(await store.putText('t', inline)).toEqual({ text: inline });
  const stored = await store.putText('t', `${inline}x`);
  expect(stored).toMatchObject({ bytes: INLINE_BYTES_MAX + 1, preview: 'é'.repeat(PREVIEW_CHARS) });
  expect(await store.getText('t', stored)).toBe(`${inline}x`);
});

test('a preview never ends within a surrogate pair', async () => {
  const { store } = await newStore();
  const stored = await store.putText('t', `x${'🌍'.repeat(INLINE_BYTES_MAX)}`);
  expect('preview' in stored && stored.preview).toBe(`x${'🌍'.repeat((PREVIEW_CHARS - 2) / 2)}`);
});

test('a missing text is a typed error that tells the remedy', async () => {
  const { store } = await newStore();
  await expect(
    store.getText('t', { $blob: 'f'.repeat(64), bytes: 1, preview: '' }),
  ).rejects.toMatchObject({ code: 'TranscriptMissing', hint: expect.stringContaining('Restore') });
});

test('every well-formed text comes back as it was', async () => {
  const { store } = await newStore();
  const texts = fc.string({ unit: 'grapheme', maxLength: 5000, size: 'max' });
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(await store.getText('t', await store.putText('t', text))).toBe(text);
    }),
    { numRuns: 60 },
  );
});
