/**
 * A work folder as data: what lies at which path. Contents are named by the sha256 of their bytes.
 * Invariants: a path is relative, with single slashes, and has no part that is empty, `.` or `..`; no entry lies below a
 * file or link; of a file only its content, whether it may be run, and when it changed are known.
 */

export type FolderEntry =
  | {
      readonly kind: 'file';
      /** sha256 of the content. */
      readonly hash: string;
      readonly bytes: number;
      /** ms since epoch. */
      readonly at: number;
      /** It may be run as a program. */
      readonly runs?: true;
    }
  /** Its target is a text: nobody outside of the sandbox follows it. */
  | { readonly kind: 'link'; readonly target: string }
  /** One with nothing in it; others follow from the paths of what lies in them. */
  | { readonly kind: 'folder' };

/** By path. */
export type FolderEntries = ReadonlyMap<string, FolderEntry>;

export interface FolderLimits {
  /** Most entries. */
  readonly entries: number;
  /** Most bytes of all files together. */
  readonly bytes: number;
  /** Most bytes of one file. */
  readonly fileBytes: number;
}

export const FOLDER_LIMITS: FolderLimits = {
  entries: 5_000,
  bytes: 64 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
};

export const PATH_CHARS_MAX = 400;
export const PATH_PARTS_MAX = 32;
const PART_BYTES_MAX = 255;
const TARGET_CHARS_MAX = 1_000;
const HASH = /^[0-9a-f]{64}$/;

/** Why a text is no path of a work folder; undefined: it is one. */
export function pathDefect(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.length > PATH_CHARS_MAX) return `is longer than ${PATH_CHARS_MAX} characters`;
  if (path.startsWith('/')) return 'is absolute: paths begin in the work folder';
  if (/[\p{Cc}\p{Cs}]/u.test(path)) return 'has a control character';
  const parts = path.split('/');
  if (parts.length > PATH_PARTS_MAX) return `has more than ${PATH_PARTS_MAX} parts`;
  if (parts.some((part) => part === '' || part === '.')) return 'has an empty part';
  if (parts.includes('..')) return 'leads out of the work folder';
  return parts.some((part) => new TextEncoder().encode(part).length > PART_BYTES_MAX)
    ? `has a part of more than ${PART_BYTES_MAX} bytes`
    : undefined;
}

/** What may not be kept, in words; undefined: everything. */
export function folderDefect(entries: FolderEntries, limits: FolderLimits): string | undefined {
  if (entries.size > limits.entries)
    return `${entries.size} files and folders, of at most ${limits.entries}`;
  let bytes = 0;
  for (const [path, entry] of entries) {
    const defect = pathDefect(path) ?? entryDefect(entry) ?? parentDefect(entries, path);
    if (defect !== undefined) return `the path ${JSON.stringify(path.slice(0, 100))} ${defect}`;
    if (entry.kind !== 'file') continue;
    if (entry.bytes > limits.fileBytes)
      return `${JSON.stringify(path)} has ${entry.bytes} bytes, of at most ${limits.fileBytes}`;
    bytes += entry.bytes;
  }
  return bytes > limits.bytes ? `${bytes} bytes, of at most ${limits.bytes}` : undefined;
}

function entryDefect(entry: FolderEntry): string | undefined {
  switch (entry.kind) {
    case 'folder':
      return undefined;
    case 'link': {
      const { target } = entry;
      const isText = typeof target === 'string' && target !== '';
      return isText && target.length <= TARGET_CHARS_MAX ? undefined : 'leads nowhere';
    }
    case 'file': {
      const { hash, bytes, at } = entry;
      const isCount = (n: unknown): boolean => Number.isSafeInteger(n) && (n as number) >= 0;
      return HASH.test(hash) && isCount(bytes) && Number.isSafeInteger(at)
        ? undefined
        : 'is no file';
    }
    default:
      return 'is no file, link or folder';
  }
}

/** Nothing lies below a file or link. */
function parentDefect(entries: FolderEntries, path: string): string | undefined {
  const above = foldersAbove(path).some((folder) => entries.has(folder));
  return above ? 'lies below what is no folder' : undefined;
}

/** `a/b/c` lies in `a` and `a/b`. */
export function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

const VERSION = 1;

/** The text under which a folder is stored: the same for the same entries. */
export function folderText(entries: FolderEntries): string {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ v: VERSION, entries: sorted });
}

/** Undefined: the text is none of this release's. */
export function folderOf(text: string): FolderEntries | undefined {
  const read = JSON.parse(text) as { v: number; entries: readonly [string, FolderEntry][] };
  return read.v === VERSION ? new Map(read.entries) : undefined;
}
