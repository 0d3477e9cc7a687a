/** Node and the data folder. */
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { leftBehind, SERVER_VERSION } from '../../devserver/index.js';
import type { Environment } from '../../worker/config.js';
import { broken, ok, warning, type Check } from './check.js';

/** The package's `engines`. */
const NODE_MIN = [20, 19] as const;

export function checkNode(version: string = process.versions.node): readonly Check[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (enough) return [ok('node', version)];
  return [broken('node', version, `Install Node ${NODE_MIN.join('.')} or newer.`)];
}

/** Databases of other server versions: their runs are not lost, but nobody serves them. */
export async function checkLeftBehind({ home }: Environment): Promise<readonly Check[]> {
  return (await leftBehind(home, SERVER_VERSION)).map(({ file, serverVersion, bytes }) =>
    warning(
      'left behind',
      `${file} (${Math.ceil(bytes / 1024)} KiB) belongs to server ${serverVersion}, today's is ${SERVER_VERSION}`,
      `Finish its runs with that version (--binary), or delete the file.`,
    ),
  );
}

export async function checkHome({ home }: Environment): Promise<readonly Check[]> {
  const writable = (folder: string): Promise<boolean> =>
    access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
  if (await writable(home)) return [ok('data folder', home)];
  if (await writable(dirname(home))) return [ok('data folder', `${home} (made when first needed)`)];
  return [
    broken(
      'data folder',
      `${home} cannot be written`,
      'Let this user write it, or set HOLDFAST_HOME.',
    ),
  ];
}
