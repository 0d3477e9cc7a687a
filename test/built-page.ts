/** The console's page as the package has it: built once before all tests, because browsers do not read its sources. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPage } from '../build-page.cjs';

const VARIABLE = 'HOLDFAST_TEST_PAGE';

/** For the global setup; worker processes of jest inherit the variable. */
export function buildTestPage(): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-built-page-'));
  buildPage(join(__dirname, '..', 'console', 'page'), folder);
  process.env[VARIABLE] = folder;
}

/** For the global teardown. */
export function removeTestPage(): void {
  const folder = process.env[VARIABLE];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

export function builtPageFolder(): string {
  const folder = process.env[VARIABLE];
  if (folder === undefined) throw new Error('The global setup of the tests builds the page.');
  return folder;
}
