/**
 * A folder with those above it. `mkdir` of Node with `recursive` never returns where a file system takes no folders at all
 * (`/proc`): Node goes on trying there.
 * Invariant: a folder of the name `.holdfast` that is made here tells git to leave it alone.
 */
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Beside a project, with conversations and keys. */
const DATA_FOLDER = '.holdfast';

/** Gives the folders that were not there, the highest first. Errors: those of the system, at the first that cannot be made. */
export function makeFolder(folder: string, mode?: number): readonly string[] {
  const missing: string[] = [];
  // Ends at the root, which is there.
  for (let one = resolve(folder); !isThere(one); one = dirname(one)) missing.unshift(one);
  return missing.filter((one) => wasMade(one, mode));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** False: another process was faster. */
function wasMade(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, { mode });
    if (basename(path) === DATA_FOLDER) keepFromGit(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function keepFromGit(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch {
    // The folder is of use without it.
  }
}
