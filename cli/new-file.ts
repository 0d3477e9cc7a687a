/** A file that a command writes for people to keep: never over another one, and its folder is made. */
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream, existsSync } from 'node:fs';
import {
  copyFile,
  link,
  open,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { HoldfastError } from '../core/state/errors.js';
import { makeFolder } from '../store/make-folder.js';
import { notWritten as cannotWrite } from './terminal/file-error.js';
import { usage } from './usage.js';
import { noteWritten } from './written.js';

interface NewFile {
  readonly file: string;
  /** What it is, for errors: `bundle`. */
  readonly what: string;
}

/** The file is whole or not there. Errors: Usage: the file exists; FileUnusable: it cannot be written. */
export async function writeNewFile(
  content: string | Uint8Array,
  { file, what }: NewFile,
): Promise<void> {
  try {
    makeFolder(dirname(file));
    noteWritten(file);
    await filled(await open(file, 'wx', 0o600), content).catch(async (cause: unknown) => {
      // Made here, and only a part of it: the next attempt would find it taken.
      await rm(file, { force: true }).catch(() => undefined);
      throw cause;
    });
  } catch (cause) {
    throw notWritten({ file, what }, cause);
  }
}

async function filled(handle: FileHandle, content: string | Uint8Array): Promise<void> {
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

export interface StreamedFile extends NewFile {
  /** By gzip. */
  readonly packed: boolean;
}

/**
 * Writes what comes in pieces beside the file and gives it its name when it is whole: the file is whole or not there.
 * Gives its bytes. Errors: as above, and those of the pieces.
 */
export async function streamNewFile(
  pieces: AsyncIterable<Uint8Array>,
  { file, what, packed }: StreamedFile,
): Promise<number> {
  const partial = partialOf(file);
  let bytes = 0;
  async function* counted(packedPieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of packedPieces) {
      bytes += piece.length;
      yield piece;
    }
  }
  try {
    const target = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
    if (packed) await pipeline(pieces, createGzip({ level: 9 }), counted, target);
    else await pipeline(pieces, counted, target);
    noteWritten(file);
    await named(partial, file);
    return bytes;
  } catch (cause) {
    throw notWritten({ file, what }, cause);
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Writes a report in the place of an earlier one, which stays as it was when the new one cannot be written. What is no
 * plain file (a pipe, a terminal) is written to as it is. Errors: those of the system.
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  // A link stays one.
  const place = await realpath(file).catch(() => file);
  const facts = await stat(place).catch(() => undefined);
  if (facts?.isFile() === false) return writeFile(place, content);
  const partial = partialOf(place);
  noteWritten(file);
  try {
    await writeFile(partial, content, { flag: 'wx', mode: facts?.mode ?? 0o600 });
    await rename(partial, place);
  } catch (cause) {
    // A folder may take no other file, and a mounted file no other in its place.
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (facts === undefined || !NO_OTHER_BESIDE.includes(code)) throw cause;
    await writeFile(place, content);
  } finally {
    await rm(partial, { force: true });
  }
}

const NO_OTHER_BESIDE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'];

function partialOf(file: string): string {
  return join(dirname(file), `.${basename(file).slice(0, 100)}.${randomUUID()}.partial`);
}

/** Said before long work for a file that would not be written. Makes its folder. Errors: as above. */
export async function checkNewFile({ file, what }: NewFile): Promise<void> {
  try {
    makeFolder(dirname(file));
  } catch (cause) {
    throw notWritten({ file, what }, cause);
  }
  if (existsSync(file)) throw taken(file);
}

/** A link, unlike a rename, never takes the name of another file. */
async function named(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (cause) {
    // Some file systems have no links; a copy is not there at once, and still over no other file.
    if (!NO_LINKS.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
    await copyFile(partial, file, constants.COPYFILE_EXCL);
  }
}

const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function notWritten({ file, what }: NewFile, cause: unknown): HoldfastError {
  if (cause instanceof HoldfastError) return cause;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (code === 'EEXIST' && syscall !== 'mkdir') return taken(file);
  return cannotWrite({ what, place: file, option: '-o' }, cause);
}

function taken(file: string): HoldfastError {
  return usage(`The file ${file} exists, and is kept.`, 'Choose another name with -o.');
}
