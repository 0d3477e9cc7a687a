/** What SQLite's errors mean to an operator: which are the environment's, and what mends them. */
import { types } from 'node:util';
import { HoldfastError } from '../../core/state/errors.js';

const HINTS: readonly (readonly [prefix: string, hint: string])[] = [
  ['SQLITE_BUSY', 'Find the process that keeps the store locked, then retry.'],
  ['SQLITE_LOCKED', 'Find the process that keeps the store locked, then retry.'],
  ['SQLITE_FULL', 'Free disk space where the store lies, then retry.'],
  ['SQLITE_CORRUPT', "Restore the store's file from a backup."],
  ['SQLITE_NOTADB', 'Point the store at a Holdfast database, or restore it from a backup.'],
  ['SQLITE_READONLY', "Let this user write the store's file and folder."],
  ['SQLITE_CANTOPEN', 'Create the folder of the store and let this user write it.'],
  ['SQLITE_PERM', "Let this user write the store's file and folder."],
  ['SQLITE_AUTH', "Let this user write the store's file and folder."],
  // It has no room for its index of the log.
  ['SQLITE_IOERR_SHMSIZE', 'Free disk space where the store lies, then retry.'],
  ['SQLITE_IOERR', 'Check the disk that holds the store, then retry.'],
  ['SQLITE_NOMEM', 'Give the process more memory, then retry.'],
  ['SQLITE_PROTOCOL', 'Retry; if it persists, check that the store lies on a local disk.'],
];

/** A failure of a statement as a HoldfastError: `StoreUnavailable`, `InvalidRequest` or `Internal`. */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  if (isClosed(error)) {
    return new HoldfastError('StoreUnavailable', 'The store has been closed.', {
      hint: 'Open the store again before using it.',
      cause: error,
    });
  }
  if (!isSqliteError(error)) return error;
  if (error.code.startsWith('SQLITE_TOOBIG')) {
    return new HoldfastError('InvalidRequest', 'The value is too large for the store.', {
      hint: 'Store a smaller value.',
      cause: error,
    });
  }
  const hint = HINTS.find(([prefix]) => error.code.startsWith(prefix))?.[1];
  const code = hint === undefined ? 'Internal' : 'StoreUnavailable';
  return new HoldfastError(code, `The store failed: ${error.message} (${error.code}).`, {
    ...(hint === undefined ? {} : { hint }),
    details: { sqlite: error.code },
    cause: error,
  });
}

/**
 * By its shape: the addon keeps the class of whoever loaded it first, which need not be ours, nor need its
 * Error be.
 */
export function isSqliteError(error: unknown): error is Error & { readonly code: string } {
  if (typeof error !== 'object' || error === null) return false;
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'SqliteError' && typeof code === 'string';
}

const REASON_CHARS_MAX = 300;

/** The addon throws a plain TypeError, in its own realm. */
function isClosed(error: unknown): error is Error {
  return types.isNativeError(error) && error.message === 'The database connection is not open';
}

/** The addon itself: compiled for another Node or another machine, or not at all where the package manager runs no install scripts. */
function addonFailure(error: unknown): HoldfastError | undefined {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  const isMissing = message.startsWith('Could not locate the bindings file');
  if (code !== 'ERR_DLOPEN_FAILED' && !isMissing) return undefined;
  const why = isMissing ? 'was not compiled' : whyNotLoaded(message);
  return new HoldfastError(
    'StoreUnavailable',
    `SQLite cannot be loaded by Node ${process.version}: better-sqlite3 ${why}.`,
    {
      hint: 'Run `npm rebuild better-sqlite3` with this Node, and start again. With pnpm, `pnpm approve-builds` allows its install script first.',
      cause: error,
    },
  );
}

/** As Node and the system say what keeps a compiled file from being loaded. */
function whyNotLoaded(message: string): string {
  if (message.includes('NODE_MODULE_VERSION')) return 'was compiled for another version of Node';
  if (/invalid ELF header|wrong ELF class|mach-o|not a valid Win32/i.test(message))
    return 'was compiled for another system';
  const library = /version [`'"]?(GLIBC(?:XX)?_[\d.]+)['"]? not found/.exec(message)?.[1];
  if (library !== undefined) return `was compiled for a newer system (${library} is missing here)`;
  return `is not loaded: ${message.slice(0, REASON_CHARS_MAX)}`.replace(/\.$/, '');
}

/** A failure to open a file, which is the environment's whatever its kind. */
export function openFailure(error: unknown, file: string): HoldfastError {
  const addon = addonFailure(error);
  if (addon !== undefined) return addon;
  const known = databaseFailure(error);
  if (known instanceof HoldfastError && known.code === 'StoreUnavailable') return known;
  const isReadOnly = (error as { readonly code?: unknown } | undefined)?.code === 'EROFS';
  const why = isReadOnly ? ': its file system is read-only (EROFS)' : '';
  return new HoldfastError('StoreUnavailable', `The store ${file} cannot be opened${why}.`, {
    hint: 'Check that its folder exists, that this user may write it, and that it lies on a local disk.',
    cause: error,
  });
}
