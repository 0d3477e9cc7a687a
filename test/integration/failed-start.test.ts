/** What a start leaves behind that fails: the program that started the worker goes on, or ends by itself. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledPath } from '../compiled.js';
import { startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const PROGRAM = `
  const fs = require('node:fs');
  const { readFileSync } = fs;
  let read = 0;
  fs.readFileSync = (...given) => ((read += 1), readFileSync(...given));
  const { startWorker } = require(${JSON.stringify(compiledPath('worker/index.ts'))});
  const { defineAgent, defineConfig } = require(${JSON.stringify(compiledPath('authoring/index.ts'))});
  const agents = [defineAgent({ name: 'clerk', model: 'scripted/model', instructions: 'Answer.' })];
  const given = { taskQueue: 'failed-start', config: defineConfig({ agents }), providers: new Map() };
  startWorker({ ...given, ...JSON.parse(process.argv[1]) }).catch(({ message }) => {
    const before = read;
    process.on('exit', () => console.log(JSON.stringify({ message, readLater: read - before })));
  });
`;
/** A program that does not end by itself is one that fails. */
const LIMIT_MS = 60_000;

function failedStart(settings: object): unknown {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['-e', PROGRAM, '--', JSON.stringify(settings)],
    { encoding: 'utf8', timeout: LIMIT_MS, killSignal: 'SIGKILL' },
  );
  return { status, stderr, ...(stdout !== '' && (JSON.parse(stdout) as object)) };
}

const storePlace = (): string =>
  join(mkdtempSync(join(tmpdir(), 'holdfast-failed-start-')), 'store.db');

test('a start without a store looks for no more modules once it has failed, and its program ends', () => {
  const settings = { ...world.place, storePlace: '/proc/no/such/store.db' };

  expect(failedStart(settings)).toEqual({
    status: 0,
    stderr: '',
    message: expect.stringContaining('cannot be opened'),
    readLater: 0,
  });
});

test.each([{ stackTraces: false }, { stackTraces: true }])(
  'a worker that its server refuses leaves no thread that keeps its program: %j',
  (stacks) => {
    const settings = { ...world.place, ...stacks, storePlace: storePlace(), namespace: 'nobodys' };

    expect(failedStart(settings)).toEqual({
      status: 0,
      stderr: '',
      message: expect.stringContaining('nobodys'),
      readLater: 0,
    });
  },
);
