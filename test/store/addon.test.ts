/** SQLite's addon that does not fit is named, and no folder or permission is blamed. */
import { HoldfastError } from '../../core/state/errors.js';
import { openFailure } from '../../store/sqlite/sqlite-errors.js';

test.each([
  [
    Object.assign(new Error('The module was compiled against NODE_MODULE_VERSION 115.'), {
      code: 'ERR_DLOPEN_FAILED',
    }),
    /better-sqlite3 was compiled for another version of Node\.$/,
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

test('another failure names the file', () => {
  expect(openFailure(new Error('no'), '/somewhere/store.db').message).toBe(
    'The store /somewhere/store.db cannot be opened.',
  );
});
