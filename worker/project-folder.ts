/** The folder of a project: where its configuration lies, from wherever in the project a command is run. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NAMES = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((end) => `holdfast.config.${end}`);
/** No project lies deeper. */
const LEVELS_MAX = 64;

/** The configuration in the folder or in the nearest one above, or undefined. */
export function findConfig(folder: string): string | undefined {
  let looked = folder;
  for (let level = 0; level < LEVELS_MAX; level += 1) {
    const inFolder = looked;
    const found = NAMES.map((name) => join(inFolder, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    const above = dirname(looked);
    if (above === looked) return undefined;
    looked = above;
  }
  return undefined;
}

/** Without a configuration the folder itself. */
export function projectFolder(folder: string, configFile = findConfig(folder)): string {
  return configFile === undefined ? folder : dirname(configFile);
}
