/**
 * Files of the repository as a model names them.
 * Invariant: what is read or written is a regular file below the repository's folder; no link leads out of it.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../index.js';

export const FILE_BYTES_MAX = 64 * 1024;
const FILES_MAX = 100;
const DEPTH_MAX = 4;
/** No part begins with a dot: neither `..` nor hidden files. */
const PATH = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}(\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}){0,3}$/;

/** Errors: ToolError. */
export function fileAt(repository: string, path: string): string {
  if (!PATH.test(path)) {
    throw new ToolError('Name a file by its path in the repository, such as src/amount.mjs.');
  }
  const parts = path.split('/');
  for (const [index] of parts.entries()) {
    const stat = lstatSync(join(repository, ...parts.slice(0, index + 1)), {
      throwIfNoEntry: false,
    });
    const isRight = index === parts.length - 1 ? stat?.isFile() : stat?.isDirectory();
    if (isRight !== true) throw new ToolError(`The repository has no file ${path}.`);
  }
  return join(repository, ...parts);
}

export function textAt(repository: string, path: string): string {
  const file = fileAt(repository, path);
  if (lstatSync(file).size > FILE_BYTES_MAX) throw new ToolError(`${path} is too large.`);
  return readFileSync(file, 'utf8');
}

/** Paths of all regular files, sorted. */
export function filesIn(folder: string, depth = 0): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  const found = entries.flatMap((entry) => {
    if (entry.isFile()) return [entry.name];
    if (!entry.isDirectory() || depth >= DEPTH_MAX) return [];
    return filesIn(join(folder, entry.name), depth + 1).map((name) => `${entry.name}/${name}`);
  });
  if (found.length > FILES_MAX) throw new ToolError(`The folder has more than ${FILES_MAX} files.`);
  return found;
}
