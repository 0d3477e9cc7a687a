/** The token of the desk of `holdfast dev`: kept beside its key, so that a link to the desk outlives a restart. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLocalToken, newLocalToken } from '../../console/index.js';
import { makeFolder } from '../../store/make-folder.js';

const FILE = 'dev-desk-token';

/** A file that cannot be used is replaced; where none can be written the token is one of this process. */
export function keptToken(home: string): string {
  const file = join(home, FILE);
  const kept = tokenIn(file);
  if (kept !== undefined) return kept;
  const token = newLocalToken();
  try {
    makeFolder(home);
    rmSync(file, { force: true });
    writeFileSync(file, `${token}\n`, { flag: 'wx', mode: 0o600 });
  } catch {
    // Another process may have been first: then its token counts.
    return tokenIn(file) ?? token;
  }
  return token;
}

function tokenIn(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim();
    return isLocalToken(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
