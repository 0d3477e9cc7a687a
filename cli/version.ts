/** The package of this program: where it lies, and its version. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sources lie one level below the package, compiled files two. */
export function packageFolder(): string {
  const above = join(__dirname, '..');
  return existsSync(join(above, 'package.json')) ? above : join(above, '..');
}

export function packageVersion(): string {
  try {
    const text = readFileSync(join(packageFolder(), 'package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === 'string' ? version : 'unknown';
  } catch {
    return 'unknown';
  }
}
