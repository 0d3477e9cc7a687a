/** SQLite's addon that does not fit is named, and no folder or permission is blamed. */
import { HoldfastError } from '../../core/state/errors.js';
import { openFailure } from '../../store/sqlite/sqlite-errors.js';

const notLoaded = (words: string): Error =>
  Object.assign(new Error(words), { code: 'ERR_DLOPEN_FAILED' });

test.each([
  [
    notLoaded('The module was compiled against NODE_MODULE_VERSION 115.'),
    /better-sqlite3 was compiled for another version of Node\.$/,
  ],
  [
    notLoaded('/app/node_modules/better_sqlite3.node: invalid ELF header'),
    /better-sqlite3 was compiled for another system\.$/,
  ],
  [
    notLoaded("/lib/libc.so.6: version `GLIBC_2.38' not found (required by better_sqlite3.node)"),
    /better-sqlite3 was compiled for a newer system \(GLIBC_2\.38 is missing here\)\.$/,
  ],
  [
    notLoaded('libstdc++.so.6: cannot open shared object file: No such file or directory'),
    /better-sqlite3 is not loaded: libstdc\+\+\.so\.6: cannot open shared object file: No such file or directory\.$/,
  ],
  [
    new Error('Could not locate the bindings file. Tried: /build/better_sqlite3.node'),
    /better-sqlite3 was not compiled\.$/,
  ],
])('%s', (error, message) => {
  const failure = openFailure(error, '/somewhere/store.db');
  expect(failure).toBeInstanceOf(HoldfastError);
  expect(failure).toMatchObject({
    code: 'StoreUnavailable',
    message: expect.stringMatching(message),
    hint: expect.stringContaining('npm rebuild better-sqlite3'),
  });
  expect(failure.message).toContain(process.version);
});

test('a file system that is read-only is named', () => {
  const error = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  expect(openFailure(error, '/ro/store.db').message).toBe(
    'The store /ro/store.db cannot be opened: its file system is read-only (EROFS).',
  );
});

test('another failure names the file', () => {
  expect(openFailure(new Error('no'), '/somewhere/store.db').message).toBe(
    'The store /somewhere/store.db cannot be opened.',
  );
});
