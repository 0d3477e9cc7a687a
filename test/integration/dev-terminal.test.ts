/** `holdfast dev` as a process at a terminal: its keys, a save, another project on the queue, and Ctrl-C while a call is at work. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, type HoldfastClient } from '../../client/index.js';
import { compiledPath } from '../compiled.js';
import { startWorld, until, type World } from './support/world.js';

const ROOT = resolve(__dirname, '..', '..');
const QUEUE = 'shared';
/** A terminal of the system around the command, and its exit code. */
const PTY = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
const CTRL_C = '\u0003';

let world: World;
let client: HoldfastClient;
let folder: string;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  client = await connect({ ...world.place, taskQueue: QUEUE, store: world.store });
  folder = mkdtempSync(join(tmpdir(), 'holdfast-dev-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await client.close();
  await world.stop();
  rmSync(folder, { recursive: true });
});

const children: ChildProcess[] = [];

interface Dev {
  says(words: RegExp): Promise<unknown>;
  type(text: string): void;
  end(): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

function begin(project: string, terminal: boolean, command = ['dev', '--no-console']): Dev {
  const own = [process.execPath, compiledPath(join(ROOT, 'cli/main.ts')), ...command];
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--task-queue', QUEUE];
  const words = [...own, ...place, '--store', world.storePlace, '--home', join(folder, 'home')];
  const [program = '', ...args] = terminal ? ['python3', '-c', PTY, ...words] : words;
  const child = spawn(program, args, {
    cwd: join(folder, project),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm' },
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
  }
  const exited = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return {
    exited,
    says: (words) =>
      until(`${words.source} of ${project}`, () => {
        const found = words.exec(said);
        if (found === null && child.exitCode !== null) throw new Error(`It ended: ${said}`);
        // What was heard counts once.
        if (found !== null) said = said.slice(found.index + found[0].length);
        return found ?? undefined;
      }),
    type: (text) => void child.stdin.write(text),
    end() {
      child.kill('SIGINT');
      return exited;
    },
  };
}

/** An agent that says `words`, after a call that lasts until there is a file. */
function write(project: string, words: string): void {
  const authoring = JSON.stringify(compiledPath(join(ROOT, 'authoring/index.ts')));
  const zod = JSON.stringify(require.resolve('zod'));
  mkdirSync(join(folder, project), { recursive: true });
  writeFileSync(
    join(folder, project, 'holdfast.config.js'),
    `const { defineAgent, defineConfig, defineTool } = require(${authoring});
    const { z } = require(${zod});
    const { existsSync, writeFileSync } = require('node:fs');
    const slow = defineTool({
      name: 'slow', version: '1', effect: 'read', input: z.object({}), 
      run: async () => {
        writeFileSync(${JSON.stringify(join(folder, 'begun'))}, '');
        while (!existsSync(${JSON.stringify(join(folder, 'go'))})) await new Promise((r) => setTimeout(r, 20));
        return {};
      },
    });
    module.exports = defineConfig({
      agents: [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Serve.', tools: [slow] })],
      scripted: ({ runId, assistantMessages }) => runId === 'slow' && assistantMessages === 0
        ? { calls: [{ tool: 'slow', input: {} }] }
        : { text: ${JSON.stringify(words)} },
    });`,
  );
}

const ask = (runId: string, task: string) => client.start({ agent: 'a', task, runId });

test('keys, a save, a neighbour, and an end that waits for the call under way', async () => {
  write('mine', 'First.');
  const dev = begin('mine', true);
  await dev.says(/Keys +r loads the code anew, o opens the desk, q ends/);
  await dev.says(/serves a on task queue shared/);
  const first = await (await ask('first', 'Serve.')).result();
  expect(first.answer).toEqual({ text: 'First.' });

  dev.type('o');
  await dev.says(/The approval desk does not run/);
  write('mine', 'Second.');
  await dev.says(/The code of holdfast\.config\.js is live for runs that begin now/);
  const second = await (await ask('second', 'Serve.')).result();
  expect(second.answer).toEqual({ text: 'Second.' });
  dev.type('r');
  await dev.says(/The code is live for runs that begin now/);

  // Runs of the one may go to the other from now on.
  write('other', 'Other.');
  const other = begin('other', false);
  await other.says(/Another worker .*mine.* is on the task queue shared/);
  await dev.says(/Another worker .*other.* is on the task queue shared/);
  expect(await other.end()).toBe(0);

  const slow = await ask('slow', 'Slowly.');
  await until('the call to begin', () => existsSync(join(folder, 'begun')) || undefined);
  dev.type(CTRL_C);
  await dev.says(/waits for slow of slow \(.*A second Ctrl-C ends at once/);
  writeFileSync(join(folder, 'go'), '');
  expect(await dev.exited).toBe(0);
  await slow.cancel();
});

test('q ends it like Ctrl-C', async () => {
  write('mine', 'First.');
  const dev = begin('mine', true);
  await dev.says(/serves a on task queue shared/);
  dev.type('q');
  await dev.says(/takes no new work, and nothing is at work/);
  expect(await dev.exited).toBe(0);
});

test('a worker says at Ctrl-C that it waits for what is under way', async () => {
  write('mine', 'First.');
  const worker = begin('mine', false, ['worker']);
  await worker.says(/serves a on task queue shared/);
  const ended = worker.end();
  await worker.says(/takes no new work and waits for what is under way.*A second Ctrl-C ends/);
  expect(await ended).toBe(0);
});
