/** The store's side of work folders: who changes them, and once. */
import { cleanUp, newStore } from './fixtures.js';

afterEach(cleanUp);

const FOLDER = { tenant: 'default', owner: 'run_1' };
const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

function commit(key: string, from: number, more: { attempt?: number; hash?: string } = {}) {
  const { attempt = 1, hash = A } = more;
  return { ...FOLDER, key, attempt, from, hash, result: `{"by":"${key}"}`, at: 1 };
}

test('a work folder begins with nothing, and each call makes a version of it', async () => {
  const { store } = await newStore();
  expect(await store.folderHead(FOLDER)).toEqual({ version: 0 });
  expect(await store.commitFolder(commit('k1', 0))).toBe('made');
  expect(await store.commitFolder(commit('k2', 1, { hash: B }))).toBe('made');
  expect(await store.folderHead(FOLDER)).toEqual({ version: 2, hash: B });
  expect(await store.folderHead({ ...FOLDER, tenant: 'other' })).toEqual({ version: 0 });
  expect(await store.folderCommit({ ...FOLDER, key: 'k1' })).toEqual({
    attempt: 1,
    version: 1,
    state: 'made',
    result: '{"by":"k1"}',
  });
});

test('a call changes the version that it saw, and only once', async () => {
  const { store } = await newStore();
  await store.commitFolder(commit('k1', 0));
  expect(await store.commitFolder(commit('k2', 0))).toBe('moved');
  expect(await store.commitFolder(commit('k1', 1, { attempt: 2 }))).toBe('spent');
  expect(await store.folderHead(FOLDER)).toEqual({ version: 1, hash: A });
});

test('what was found not to have happened never happens under its attempt', async () => {
  const { store } = await newStore();
  const burned = await store.burnFolderCommit({ ...FOLDER, key: 'k1', attempt: 1 });
  expect(burned).toMatchObject({ state: 'void', attempt: 1 });
  expect(await store.commitFolder(commit('k1', 0))).toBe('spent');
  expect(await store.commitFolder(commit('k1', 0, { attempt: 2 }))).toBe('made');
  expect(await store.burnFolderCommit({ ...FOLDER, key: 'k1', attempt: 2 })).toMatchObject({
    state: 'made',
    result: '{"by":"k1"}',
  });
});

test('contents of files come back byte for byte, also those that are no text', async () => {
  const { store } = await newStore();
  const bytes = [
    Buffer.from([0, 255, 10, 0]),
    Buffer.from('text'),
    Buffer.alloc(0),
    Buffer.alloc(9_000_000, 7),
  ];
  await store.putContents('default', [...bytes, bytes[1]!]);
  const { $blob } = await store.putBlob('default', 'text');
  const found = await store.getContents('default', [$blob, A]);
  expect([...found]).toEqual([[$blob, bytes[1]]]);
  const { sha256OfBytes } = await import('../../store/blobs.js');
  const all = await store.getContents('default', bytes.map(sha256OfBytes));
  expect(bytes.map((one) => all.get(sha256OfBytes(one))?.equals(one))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(await store.getContents('other', [$blob])).toEqual(new Map());
});
