/**
 * One temporary folder for all that tests write, in memory where the machine has a place for that: stores and servers
 * wait for a disk after every step otherwise. Nothing of it is left when jest has ended, however it ended.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** A whole run of the tests needs a part of it. */
const FREE_BYTES_LEAST = 4 * 1024 ** 3;

/** For the global setup: worker processes of jest inherit the variable. */
export function openTemporaryFolder(): void {
  const folder = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'holdfast-tests-'));
  // PostgreSQL runs as somebody else, in a folder below.
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  // Workers of a jest that was killed write for a moment more.
  const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; sleep 5; rm -rf "$0"`;
  spawn('sh', ['-c', script, folder], { stdio: 'ignore', detached: true }).unref();
}

/** For the global teardown. */
export function removeTemporaryFolder(): void {
  const folder = process.env['TMPDIR'];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= FREE_BYTES_LEAST;
}
