/**
 * Writing a new project.
 * Invariants: a file that exists is never touched; either all files are there or those that were written are gone again;
 * no link is followed below the project's folder.
 */
import { lstat, open, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { makeFolder } from '../../store/make-folder.js';
import type { ProjectFile } from './files.js';

const NAMED_MAX = 10;

/** Errors: Usage: files of the project exist already; FileUnusable: the folder cannot be written. */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  await refuseTaken(folder, files);
  const done: string[] = [];
  const made: string[] = [];
  try {
    for (const { path, content } of files) {
      const file = join(folder, path);
      made.push(...makeFolder(dirname(file)));
      const handle = await open(file, 'wx');
      // Ours from here on, also where not all of its content can be written.
      done.push(file);
      try {
        await handle.writeFile(content);
      } finally {
        await handle.close();
      }
    }
  } catch (cause) {
    for (const file of done) await rm(file, { force: true });
    for (const one of made.toReversed()) await rmdir(one).catch(() => undefined);
    throw cannotWrite(folder, cause);
  }
}

/** Those of `files` that exist. Errors: Usage: something else stands where a folder has to be. */
export async function existing(
  folder: string,
  files: readonly ProjectFile[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path } of files) {
    await refuseNoFolder(folder, path);
    if ((await kindOf(join(folder, path))) !== undefined) found.push(path);
  }
  return found;
}

async function refuseTaken(folder: string, files: readonly ProjectFile[]): Promise<void> {
  const taken = await existing(folder, files);
  if (taken.length === 0) return;
  const more = taken.length > NAMED_MAX ? ` and ${taken.length - NAMED_MAX} more` : '';
  throw new HoldfastError(
    'Usage',
    `${folder} has ${taken.slice(0, NAMED_MAX).join(', ')}${more} already. Nothing was written.`,
    {
      hint: 'Choose another folder, or move these files away. `npx holdfast init` adds Holdfast to a project that exists.',
      details: { taken: taken.slice(0, NAMED_MAX) },
    },
  );
}

/** A link to elsewhere, or a file, where the project has a folder. */
async function refuseNoFolder(folder: string, path: string): Promise<void> {
  const parts = path.split('/').slice(0, -1);
  const folders = [folder, ...parts.map((_, at) => join(folder, ...parts.slice(0, at + 1)))];
  for (const [depth, one] of folders.entries()) {
    const kind = await kindOf(one);
    // The project's own folder may be reached by a link: somebody has named it.
    if (kind === undefined || kind === 'folder' || (depth === 0 && kind === 'link')) continue;
    throw new HoldfastError('Usage', `${one} is no folder, and the project needs one there.`, {
      hint: 'Choose another folder, or move that away. Nothing was written.',
    });
  }
}

async function kindOf(path: string): Promise<'folder' | 'link' | 'other' | undefined> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return 'folder';
    return found.isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    // What is above it is no folder: told where that is looked at.
    if (code === 'ENOTDIR') return undefined;
    throw cannotWrite(path, error);
  }
}

function cannotWrite(folder: string, cause: unknown): HoldfastError {
  if (cause instanceof HoldfastError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = REASONS[code ?? ''] ?? message;
  const first = FULL.test(code ?? '')
    ? 'Free disk space'
    : 'Make it a folder that you may write to';
  return new HoldfastError('FileUnusable', `The project cannot be written to ${folder}: ${why}.`, {
    hint: `${first}, or choose another one. Nothing of the project stays.`,
    cause,
  });
}

const FULL = /^(?:ENOSPC|EDQUOT)$/;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the file system cannot be written',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  ENAMETOOLONG: 'the name is too long for the file system',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'another program wrote there meanwhile',
};
