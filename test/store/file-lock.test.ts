import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { withFileLock, type FileLock } from '../../store/sqlite/file-lock.js';
import { until } from '../until.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
  path = join(folder, 'one.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lock = (changes: Partial<FileLock> = {}): FileLock => ({
  path,
  waitMs: 20_000,
  tooLong: () => new HoldfastError('ServerUnavailable', 'too long'),
  ...changes,
});
const nothing = () => Promise.resolve('in');

/** A process that holds the lock until it is killed. */
async function holder() {
  const hold = `
    const Database = require(${JSON.stringify(require.resolve('better-sqlite3'))});
    const database = new Database(${JSON.stringify(path)});
    database.exec('begin exclusive');
    process.stdout.write('held');
    // Names the connection: one that nothing names is collected, and its lock with it.
    setInterval(() => database.open, 1_000);`;
  const child = spawn(process.execPath, ['-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

test('one caller is in at a time', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(5);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withFileLock(lock(), work)));
  expect(most).toBe(1);
});

test('the lock of a killed process is free', async () => {
  const child = await holder();
  let waits = 0;
  const entered = withFileLock(lock({ onWait: () => (waits += 1) }), nothing);
  await until(() => waits > 0);
  child.kill('SIGKILL');
  expect(await entered).toBe('in');
  expect(waits).toBe(1);
});

test('a caller that waits too long is told so', async () => {
  const child = await holder();
  try {
    await expect(withFileLock(lock({ waitMs: 100 }), nothing)).rejects.toThrow('too long');
  } finally {
    child.kill('SIGKILL');
  }
});

test('the lock is free again after a failure, and leaves one file', async () => {
  await expect(withFileLock(lock(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withFileLock(lock({ waitMs: 0 }), nothing)).toBe('in');
  expect(readdirSync(folder)).toEqual(['one.lock']);
});

test('a lock writes nothing, so a full disk lets it be taken', async () => {
  const files = await withFileLock(lock(), () => Promise.resolve(readdirSync(folder)));
  expect(files).toEqual(['one.lock']);
  expect(statSync(path).size).toBe(0);
});
