/** Errors of the operating system about files: whose they are is known, so they are no bugs of Holdfast. */
import { HoldfastError } from '../../core/state/errors.js';

type Words = readonly [message: (place: string) => string, hint: string];

const OTHER_PLACE = 'or name another place with --home, --store or -o';

const WORDS: Readonly<Record<string, Words>> = {
  ENOSPC: [(at) => `The disk has no room left for ${at}.`, `Free disk space, ${OTHER_PLACE}.`],
  EDQUOT: [
    (at) => `The disk quota of this user has no room left for ${at}.`,
    `Free disk space, ${OTHER_PLACE}.`,
  ],
  EROFS: [
    (at) => `The file system of ${at} can only be read.`,
    'Name another place with --home, --store or -o.',
  ],
  EACCES: [(at) => `This user may not use ${at}.`, `Give this user the right, ${OTHER_PLACE}.`],
  EPERM: [(at) => `This user may not use ${at}.`, `Give this user the right, ${OTHER_PLACE}.`],
  EMFILE: [() => 'This process has too many open files.', 'Raise the limit (ulimit -n).'],
  ENFILE: [
    () => 'This machine has too many open files.',
    'End other programs, or raise the limit.',
  ],
};
const PLACE_CHARS_MAX = 400;

/** The same in words, as FileUnusable; anything else stays as it is. */
export function inFileWords(error: unknown): unknown {
  if (error instanceof HoldfastError || !(error instanceof Error)) return error;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return error;
  const named = typeof path === 'string' ? path.slice(-PLACE_CHARS_MAX) : undefined;
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  if (words === undefined && named === undefined) return error;
  // A socket has permissions too, and what cannot be started has a path: neither is a file of the user.
  if (syscall !== undefined && NO_FILES.test(syscall)) return error;
  const place = named ?? 'a file';
  const [message, hint] = words ?? [
    (at: string) =>
      `The file or folder ${at} cannot be used (${code}${syscall === undefined ? '' : `, ${syscall}`}).`,
    `Look at the place that is named, ${OTHER_PLACE}.`,
  ];
  return new HoldfastError('FileUnusable', message(place), {
    hint,
    details: { code, ...(named !== undefined && { path: named }) },
    cause: error,
  });
}

const NO_FILES = /^(?:connect|listen|bind|accept|getaddrinfo|spawn|kill)/;

interface Unwritten {
  readonly what: string;
  readonly place: string;
  /** Names another place. */
  readonly option: string;
}

/** A file or folder that a command was to write. Another place helps where the system refused this one. */
export function notWritten({ what, place, option }: Unwritten, cause: unknown): HoldfastError {
  const { syscall, message } = cause as NodeJS.ErrnoException;
  return new HoldfastError('FileUnusable', `The ${what} cannot be written to ${place}.`, {
    hint: syscall === undefined ? message : `${remedyOf(cause, option)}: ${message}`,
    cause,
  });
}

function remedyOf(cause: unknown, option: string): string {
  const { code = '' } = cause as NodeJS.ErrnoException;
  return `${FULL.test(code) ? 'Free disk space, or name' : 'Name'} another place with ${option}`;
}

const FULL = /^(?:ENOSPC|EDQUOT)$/;
