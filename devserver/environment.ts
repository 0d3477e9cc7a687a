import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Environment variables as a value; the caller reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
}

/** Where this process runs. */
export function thisMachine(): Machine {
  return { platform: process.platform, arch: process.arch };
}

/**
 * Folder for what can be fetched or built again, outside any clone:
 * HOLDFAST_CACHE_DIR, else XDG_CACHE_HOME/holdfast, else the platform's cache folder.
 */
export function cacheFolder(environment: Environment, machine: Machine = thisMachine()): string {
  if (environment.HOLDFAST_CACHE_DIR) return environment.HOLDFAST_CACHE_DIR;
  if (environment.XDG_CACHE_HOME) return join(environment.XDG_CACHE_HOME, 'holdfast');
  const home = environment.HOME ?? environment.USERPROFILE ?? homedir();
  if (machine.platform === 'darwin') return join(home, 'Library', 'Caches', 'holdfast');
  if (machine.platform === 'win32') {
    return join(environment.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'holdfast', 'Cache');
  }
  return join(home, '.cache', 'holdfast');
}

/** Name of an executable file on this platform. */
export function executableName(name: string, machine: Machine = thisMachine()): string {
  return machine.platform === 'win32' ? `${name}.exe` : name;
}

/** Every executable of this name on PATH, in the order of PATH. */
export function onPath(environment: Environment, name: string): readonly string[] {
  const path = environment.PATH ?? environment.Path ?? '';
  const file = executableName(name);
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, file))
    .filter((candidate) => isExecutable(candidate));
}

/** Whether a file exists and may be run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
