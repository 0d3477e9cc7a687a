/** Test files that share a process: what runs the tests of one is gone when the next begins. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const FILES = 3;
const COUNTS = `
  const { appendFileSync } = require('node:fs');
  const { join } = require('node:path');
  test('it counts', () => {
    const handlers = globalThis[Symbol.for('EVENT_HANDLERS')].length;
    const states = Object.getOwnPropertySymbols(globalThis)
      .filter(({ description }) => description === 'JEST_STATE_SYMBOL').length;
    appendFileSync(join(__dirname, 'counts'), handlers + ' ' + states + '\\n');
  });`;

test('no file meets handlers of events or states of the ones before it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-one-context-'));
  for (let n = 0; n < FILES; n += 1) writeFileSync(join(folder, `${n}.test.js`), COUNTS);
  const config = {
    testEnvironment: join(ROOT, 'test', 'one-context.cjs'),
    runtime: join(ROOT, 'test', 'shared-modules.cjs'),
    transform: {},
  };
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
      '--runInBand',
      '--rootDir',
      folder,
      '--config',
      JSON.stringify(config),
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  expect(status === 0 ? '' : stderr).toBe('');
  const counts = readFileSync(join(folder, 'counts'), 'utf8').trim().split('\n');
  expect(counts).toHaveLength(FILES);
  expect(new Set(counts).size).toBe(1);
  expect(counts[0]).toMatch(/ 1$/);
});
