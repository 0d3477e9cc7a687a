/** Files that a command names, as a client attaches them. */
import { resolve } from 'node:path';
import type { AttachedPath } from '../../client/index.js';

export function attachedPaths(paths: readonly string[], folder: string): readonly AttachedPath[] {
  return paths.map((path) => ({ path: resolve(folder, path) }));
}
