/**
 * A work folder on this machine's disk.
 * Invariants: everything lies below a folder that this call has made; no link is written and none is followed; a file has the
 * bytes that its sha256 names; the folder is there whole, or not at all.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import type { FolderEntries } from '../pure/work-folder/entry.js';
import { sha256OfBytes } from '../store/blobs.js';
import { makeFolder } from '../store/make-folder.js';
import { notWritten } from './terminal/file-error.js';
import { usage } from './usage.js';

/** Contents that are in memory at once: at most as many of the largest files. */
const FILES_AT_ONCE = 4;
const RANDOM_BYTES = 6;

export interface FolderSource {
  readonly entries: FolderEntries;
  readonly contents: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;
}

export interface FolderPlace {
  readonly place: string;
  /** Aborted: nothing stays. */
  readonly signal: AbortSignal;
}

/** Gives the paths that were left out. Errors: Usage; FileUnusable; TranscriptMissing for contents that the store lacks. */
export async function writeFolder(
  { entries, contents }: FolderSource,
  { place, signal }: FolderPlace,
): Promise<readonly string[]> {
  if (await isThere(place)) {
    throw usage(`${place} exists, and is kept.`, 'Choose the name of a new folder with -o.');
  }
  const made = join(
    dirname(place),
    `.${basename(place)}-${randomBytes(RANDOM_BYTES).toString('hex')}`,
  );
  try {
    makeFolder(dirname(place));
    await mkdir(made, { mode: 0o700 });
    const files = [...entries].flatMap(([path, entry]) =>
      entry.kind === 'file' ? [{ path, entry }] : [],
    );
    for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
      signal.throwIfAborted();
      const some = files.slice(from, from + FILES_AT_ONCE);
      const found = await contents(some.map(({ entry }) => entry.hash));
      for (const { path, entry } of some) {
        const file = join(made, path);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        const mode = entry.runs === true ? 0o700 : 0o600;
        await writeFile(file, contentOf(found, path, entry.hash), { flag: 'wx', mode });
      }
    }
    for (const [path, { kind }] of entries)
      if (kind === 'folder') await mkdir(join(made, path), { recursive: true, mode: 0o700 });
    await rename(made, place);
  } catch (error) {
    await rm(made, { recursive: true, force: true }).catch(() => undefined);
    if (signal.aborted) throw usage('The command was stopped, and nothing was written.');
    if (error instanceof HoldfastError) throw error;
    throw notWritten({ what: 'folder', place, option: '-o' }, error);
  }
  return [...entries].flatMap(([path, { kind }]) => (kind === 'link' ? [path] : []));
}

function contentOf(found: ReadonlyMap<string, Buffer>, path: string, hash: string): Buffer {
  const content = found.get(hash);
  if (content !== undefined && sha256OfBytes(content) === hash) return content;
  throw new HoldfastError(
    'TranscriptMissing',
    `The store lacks the content of ${JSON.stringify(path.slice(0, 200))}, so nothing was written.`,
    { hint: 'Restore the store from a backup.', details: { hash } },
  );
}

async function isThere(place: string): Promise<boolean> {
  return lstat(place).then(
    () => true,
    () => false,
  );
}
