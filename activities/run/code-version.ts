/** The version of this package, which every run records as the code it was started by (G60). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sources lie two levels below the package, compiled files three. */
const CANDIDATES = ['../../package.json', '../../../package.json'].map((path) =>
  join(__dirname, path),
);

let known: string | undefined;

/** That of the code in this process, whatever is installed in its place later. */
export function codeVersion(): string {
  known ??= readVersion();
  return known;
}

function readVersion(): string {
  for (const file of CANDIDATES) {
    if (!existsSync(file)) continue;
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as {
      name?: unknown;
      version?: unknown;
    };
    if (name === 'holdfast' && typeof version === 'string') return version;
  }
  return 'unknown';
}
