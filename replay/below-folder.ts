/** Files below a folder that somebody keeps there: not those of installed packages, of editors or of version control. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Relative paths at any depth, sorted; links to folders are not followed. Errors: those of the file system. */
export async function filesBelow(
  folder: string,
  isWanted: (entry: Dirent) => boolean,
): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(isWanted)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(sep).slice(0, -1).some(isOthers))
    .toSorted();
}

function isOthers(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.');
}
