/** The version of this package. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sources lie one level below the package, compiled files two. */
const CANDIDATES = ['../package.json', '../../package.json'];

export function packageVersion(): string {
  for (const candidate of CANDIDATES) {
    const file = join(__dirname, candidate);
    if (!existsSync(file)) continue;
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown };
    if (typeof version === 'string') return version;
  }
  return 'unknown';
}
