/** Calls in a sandbox on workers of their own: `holdfast worker --only sandbox`, killed and come back. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCli } from '../../cli/program.js';
import { folderOf } from '../../pure/work-folder/entry.js';
import { compiledPath } from '../compiled.js';
import { whereIsolated } from '../sandbox/where-isolated.js';
import { holdfast, placeOf } from './support/command.js';
import { call, ofType, say, startWorld, until, type World } from './support/world.js';

const ROOT = resolve(__dirname, '..', '..');

function configText(): string {
  const authoring = JSON.stringify(compiledPath(join(ROOT, 'authoring/index.ts')));
  const zod = JSON.stringify(require.resolve('zod'));
  return `
    const { codingTools, defineAgent, defineConfig, defineTool } = require(${authoring});
    const { z } = require(${zod});
    const run = defineTool({
      name: 'sh',
      version: '1',
      effect: 'execute',
      idempotency: 'none',
      input: z.object({ line: z.string() }),
      timeoutMs: 8_000,
      sandbox: 'required',
      isolated: true,
      run: () => undefined,
      sandboxRun: ({ line }, { sandbox }) => sandbox.run({ command: ['/bin/sh', '-c', line] }),
      probe: (_, { sandbox }) => sandbox.made(),
    });
    module.exports = defineConfig({
      agents: [defineAgent({
        name: 'coder',
        model: 'scripted/model',
        instructions: 'Code.',
        settings: { heartbeatMs: { repeatable: 2_000, single: 2_000 } },
        tools: [run, ...codingTools],
      })],
    });`;
}

let folder: string;
const open: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-sandboxed-'));
  writeFileSync(join(folder, 'holdfast.config.js'), configText());
});
afterAll(() => {
  for (const child of open) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function worker(world: World, ...words: readonly string[]) {
  const { address, namespace } = world.place;
  const argv = ['worker', ...words, '--address', address, '--namespace', namespace];
  const child = spawn(
    process.execPath,
    [compiledPath(join(ROOT, 'cli/main.ts')), ...argv, '--store', world.storePlace],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        TMPDIR: process.env['TMPDIR'],
        ANTHROPIC_API_KEY: 'scripted',
        ANTHROPIC_BASE_URL: world.model.baseUrl,
        HOLDFAST_HOME: join(folder, 'home'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  open.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
  return {
    child,
    says: (words: RegExp) => until(`${words.source}: ${said}`, () => words.exec(said) ?? undefined),
  };
}

/** Processes of this machine whose command line has this in it. */
function running(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

whereIsolated('calls in a sandbox', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ worker: false });
    await world.client.ensureNamespaceReady();
  });
  afterAll(() => world.stop());

  async function filesOf(owner: string): Promise<object> {
    const { hash = '' } = await world.store.folderHead({ tenant: 'default', owner });
    const entries = folderOf((await world.store.getBlob('default', hash)) ?? '')!;
    const texts = [...entries].map(async ([path, entry]) => {
      const content = entry.kind === 'file' ? await world.store.getBlob('default', entry.hash) : '';
      return [path, content] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  }

  test('wait for a worker that isolates, survive its death, and are done once', async () => {
    const decides = worker(world, '--only', 'workflows');
    const acts = worker(world, '--only', 'activities');
    await acts.says(/in a sandbox go to the task queue holdfast\.sandbox: run/);
    await decides.says(/on task queue holdfast\b/);
    // How long the command sleeps is how it is found: far below the tool's time limit.
    const mark = `3.0${process.pid}`;
    const run = await world.start({
      runId: 'coded',
      agent: 'coder',
      replies: [
        call('write_file', { path: 'a.txt', text: 'one' }),
        call('sh', { line: `cat a.txt; echo two >> b.txt; sleep ${mark}; echo three >> b.txt` }),
        call('sh', { line: 'cat b.txt' }),
        say('Done.'),
      ],
    });
    const wait = await until('the wait', async () => (await run.execution()).waits[0]);
    expect(wait.for).toBe('a worker of the task queue holdfast.sandbox');
    const shown = await holdfast(placeOf(world), ['show', 'coded']);
    expect(shown.out).toMatch(/holdfast worker .*--only sandbox/);

    const first = worker(world, '--only', 'sandbox');
    await first.says(
      /serves calls of sh, shell, read_file, write_file, edit_file on task queue holdfast\.sandbox/,
    );
    await until('the command', () => (running(`sleep\0${mark}`).length > 0 ? true : undefined));
    first.child.kill('SIGKILL');
    await until('its end', () => (running(`sleep\0${mark}`).length === 0 ? true : undefined));
    expect(await filesOf('coded')).toEqual({ 'a.txt': 'one' });

    worker(world, '--only', 'sandbox');
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ stopReason: 'completed' });
    expect(await filesOf('coded')).toEqual({ 'a.txt': 'one', 'b.txt': 'two\nthree\n' });
    const finished = ofType(events, 'tool_finished').map(({ tool, status }) => [tool, status]);
    expect(finished).toEqual([
      ['write_file', 'ok'],
      ['sh', 'ok'],
      ['sh', 'ok'],
    ]);
    const last = ofType(events, 'tool_finished').at(-1)!.content as { text: string };
    expect(JSON.parse(last.text)).toMatchObject({ stdout: 'two\nthree\n', changed: [] });
    expect(ofType(events, 'tool_reconciled')).toHaveLength(1);
    decides.child.kill('SIGTERM');
    acts.child.kill('SIGTERM');
  });
});

test('a sandbox worker does not start where nothing can be isolated, and says what is missing', async () => {
  const home = join(folder, 'none');
  let err = '';
  const code = await runCli(['worker', '--only', 'sandbox', '--home', home], {
    environment: { variables: { PATH: '/nowhere' }, folder, colour: false, interactive: false },
    streams: { out: () => undefined, err: (text) => void (err += text) },
  });
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /Nothing can be isolated here: bubblewrap \(bwrap\) is not installed\.[^]*apt install bubblewrap/,
    ),
  });
});
