/** The parts of `holdfast dev` that need no server. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventEmitter } from 'node:events';
import { defineAgent, defineConfig } from '../../../authoring/index.js';
import { keptToken } from '../../../cli/desk/kept-token.js';
import type { LiveCode } from '../../../cli/dev/live-code.js';
import { onKeys, type KeyInput } from '../../../cli/dev/keys.js';
import { watchNeighbours } from '../../../cli/dev/neighbours.js';
import { loadFailureLines, placeOfError, projectCode } from '../../../cli/dev/project-code.js';
import { reloader, type Reloader } from '../../../cli/dev/reload.js';
import { workInHand } from '../../../cli/dev/work-in-hand.js';
import { createOutput } from '../../../cli/terminal/output.js';
import { writeNewFile } from '../../../cli/new-file.js';
import { HoldfastError } from '../../../core/state/errors.js';
import { readEnvironment } from '../../../worker/config.js';
import { compiledPath } from '../../compiled.js';
import { until } from '../../until.js';

const ROOT = join(__dirname, '..', '..', '..');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-dev-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the place of an error', () => {
  test('is the line that a parser names', () => {
    const cause = Object.assign(new Error('Unexpected token'), {
      filename: '/shop/src/agent.ts',
      loc: { line: 7 },
    });
    const error = new HoldfastError('InvalidConfig', 'The file cannot be loaded.', { cause });
    expect(placeOfError(error, '/shop')).toBe('src/agent.ts:7');
  });

  test("is the first line of the project's own, not one of a package or of Holdfast", () => {
    const error = new HoldfastError('InvalidTool', 'Tool x: no.', { hint: 'Change the name.' });
    error.stack = [
      'HoldfastError: Tool x: no.',
      `    at defineTool (${compiledPath(join(__dirname, '..', '..', '..', 'authoring', 'define-tool.ts'))}:10:2)`,
      '    at z (/shop/node_modules/zod/index.js:1:1)',
      '    at Object.<anonymous> (/shop/src/agent.ts:4:64)',
      '    at node:internal/modules/cjs/loader:1:1',
    ].join('\n');
    expect(loadFailureLines(error, '/shop')).toEqual([
      'src/agent.ts:4: Tool x: no.',
      'Change the name.',
    ]);
  });

  test('is left out where there is none', () => {
    const error = { message: 'no error' };
    expect(placeOfError(error, '/shop')).toBeUndefined();
    expect(placeOfError(undefined, '/shop')).toBeUndefined();
  });
});

test('a load that does not end is given up, and says where to look', async () => {
  const configFile = join(folder, 'holdfast.config.mjs');
  writeFileSync(configFile, 'await new Promise(() => undefined);\nexport default {};\n');
  await expect(projectCode({ folder, configFile, limitMs: 50 }).load()).rejects.toMatchObject({
    code: 'InvalidConfig',
    hint: expect.stringContaining('`await` at the top of a module'),
  });
});

/** What a reloader says. */
function reloading(
  show: () => Promise<void>,
  isLoaded: (file: string) => boolean,
): { readonly said: { out: string; err: string }; readonly reload: Reloader } {
  const said = { out: '', err: '' };
  const streams = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  const rules = [{ tool: 'refnd', decision: 'deny' }] as const;
  const named = { name: 'a', model: 'scripted/x', instructions: 'Help.', policy: { rules } };
  const agents = [defineAgent(named)];
  const config = defineConfig({ agents, scripted: () => ({ text: 'Yes.' }) });
  const none = { serve: async () => undefined, serveQueuesOf: () => undefined };
  const reload = reloader(
    {
      code: { load: async () => config, isLoaded },
      config,
      folder,
      live: { replace: async () => 0 } as unknown as LiveCode,
      desk: { show, link: () => undefined, stop: async () => undefined },
      workers: { ...none, ready: Promise.resolve(true) },
      place: readEnvironment({}, folder),
    },
    createOutput(streams, { json: true, colour: false }),
  );
  return { said, reload };
}

test('code is what the load has made code of, whatever else has changed', async () => {
  const { said, reload } = reloading(
    async () => undefined,
    (file) => file.endsWith('.ts'),
  );
  const [source, data] = [join(folder, 'a.ts'), join(folder, 'ledger.json')];
  reload.changed([data]);
  await until(() =>
    said.err.includes('ledger.json has changed, so the code is loaded anew for runs'),
  );
  expect(said.err).not.toContain('code of');
  reload.changed([data, source]);
  await until(() => said.err.includes('The code of a.ts is live for runs that begin now'));
  await reload.stop();
  // Its rule matches no tool, which is told of the new code once.
  expect(said.err.split('policy.rules[0] is "refnd"')).toHaveLength(2);
});

test('a desk that does not start after a save is no failed load', async () => {
  const { said, reload } = reloading(
    async () => {
      throw new HoldfastError('InvalidConfig', 'The webhook w has no secret.', { hint: 'Set it.' });
    },
    () => false,
  );
  reload.now();
  await until(() => said.err.includes('Set it.'));
  await reload.stop();
  const { out, err } = said;
  expect(err).toMatch(
    /The code is live, and the approval desk does not run: .*The webhook w has no secret\./,
  );
  expect(err).not.toContain('The code before it stays');
  expect(out).toContain('"live"');
  expect(out).not.toContain('"failed"');
});

test('a new file that can be written only in part is gone, and one of somebody else stays', async () => {
  const half = function* (): Generator<string> {
    yield 'half';
    throw new Error('no more can be written');
  };
  const file = join(folder, 'it.json');
  const content = () => half() as unknown as string;
  await expect(writeNewFile(content(), { file, what: 'bundle' })).rejects.toMatchObject({
    code: 'FileUnusable',
    hint: 'no more can be written',
  });
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'theirs');
  await expect(writeNewFile(content(), { file, what: 'bundle' })).rejects.toThrow(/is kept/);
  expect(readFileSync(file, 'utf8')).toBe('theirs');
});

describe('the keys', () => {
  class Terminal extends EventEmitter implements KeyInput {
    readonly isTTY = true;
    readonly raw: boolean[] = [];
    setRawMode(raw: boolean): void {
      this.raw.push(raw);
    }
    resume(): void {}
    pause(): void {}
  }

  test('each does what it stands for, Ctrl-C interrupts, and the terminal is given back', () => {
    const terminal = new Terminal();
    const heard: string[] = [];
    const keys = onKeys(terminal, { r: () => heard.push('r') }, () => heard.push('Ctrl-C'));
    terminal.emit('data', Buffer.from('Rx\u0003r'));
    keys.release();
    terminal.emit('data', 'r');
    expect(heard).toEqual(['r', 'Ctrl-C', 'r']);
    expect(terminal.raw).toEqual([true, false]);
  });

  test('nothing is taken from what is no terminal', () => {
    const input = Object.assign(new Terminal(), { isTTY: false });
    onKeys(input, {}, () => undefined).release();
    expect(input.raw).toEqual([]);
  });
});

describe('the token of the desk', () => {
  test('is the same after a restart, and only its owner can read it', () => {
    const token = keptToken(folder);
    expect(token).toMatch(/^hf_local_/);
    expect(keptToken(folder)).toBe(token);
    expect(statSync(join(folder, 'dev-desk-token')).mode & 0o777).toBe(0o600);
  });

  test('a file that holds none is replaced', () => {
    writeFileSync(join(folder, 'dev-desk-token'), 'hf_local_short');
    const token = keptToken(folder);
    expect(readFileSync(join(folder, 'dev-desk-token'), 'utf8')).toBe(`${token}\n`);
    expect(keptToken(folder)).toBe(token);
  });

  test('there is one where nothing can be kept', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    expect(keptToken(join(file, 'home'))).toMatch(/^hf_local_/);
  });
});

describe('neighbours', () => {
  const now = () => Date.now() + 1_000;

  test('a worker of somebody else is told once, with its folder where that is known', async () => {
    const told: string[] = [];
    const end = watchNeighbours({
      taskQueue: 'holdfast',
      pollers: async () => [
        { identity: '1@me', askedAt: now() },
        { identity: `2@${hostname()}`, askedAt: now() },
        { identity: '3@far', askedAt: now() - 3_600_000 },
      ],
      tell: (line) => void told.push(line),
      everyMs: 5,
      self: '1@me',
      folderOf: (pid) => `/projects/of-${pid}`,
    });
    await until(() => told.length > 0);
    await new Promise((looked) => setTimeout(looked, 30));
    end();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/2@.*running in \/projects\/of-2, is on the task queue holdfast/);
  });

  test('a worker that lives here is told of while its last question waits, and one that is gone is not', async () => {
    const told: string[] = [];
    const end = watchNeighbours({
      taskQueue: 'holdfast',
      pollers: async () => [
        { identity: `2@${hostname()}`, askedAt: now() - 50_000 },
        { identity: `3@${hostname()}`, askedAt: now() - 50_000 },
        { identity: `4@${hostname()}`, askedAt: now() - 200_000 },
      ],
      tell: (line) => void told.push(line),
      everyMs: 5,
      folderOf: (pid) => (pid === 3 ? undefined : `/projects/of-${pid}`),
    });
    await until(() => told.length > 0);
    await new Promise((looked) => setTimeout(looked, 30));
    end();
    expect(told).toEqual([expect.stringContaining('/projects/of-2')]);
  });

  test('a worker of this machine that has ended is left out, unless it asks again', async () => {
    const told: string[] = [];
    const [ended, elsewhere] = ['', ''].map(
      () => `${spawnSync(process.execPath, ['--version']).pid}@${hostname()}`,
    ) as [string, string];
    const began = now();
    let looks = 0;
    const end = watchNeighbours({
      taskQueue: 'holdfast',
      pollers: async () => {
        looks += 1;
        return [
          { identity: ended, askedAt: began },
          { identity: elsewhere, askedAt: began + looks * 1_000 },
        ];
      },
      tell: (line) => void told.push(line),
      everyMs: 5,
    });
    await until(() => told.length > 0);
    await until(() => looks > 5);
    end();
    expect(told).toEqual([expect.stringContaining(`(${elsewhere}) is on the task queue`)]);
  });

  test('a server that does not answer is asked again', async () => {
    let asked = 0;
    const told: string[] = [];
    const end = watchNeighbours({
      taskQueue: 'holdfast',
      pollers: async () => {
        asked += 1;
        if (asked === 1) throw new Error('away');
        return [{ identity: 'other', askedAt: now() }];
      },
      tell: (line) => void told.push(line),
      everyMs: 5,
    });
    await until(() => told.length > 0);
    end();
    expect(told[0]).toContain('(other) is on the task queue');
  });
});

test('work in hand is named with its run and its time, the longest first, and five at most', async () => {
  let now = 0;
  const work = workInHand(() => now);
  const ends: (() => void)[] = [];
  const begin = (kind: string, input: object) =>
    work.during(
      { kind, input: { run: { runId: 'run_1' }, ...input } },
      () => new Promise<void>((end) => ends.push(end)),
    );
  const tool = begin('execute_tool', { call: { tool: 'issue_refund' } });
  now = 3_000;
  const others = [begin('call_model', {}), begin('flush', {})];
  expect(work.shown()).toEqual(['issue_refund of run_1 (3.0 s)', 'a model call of run_1 (0 ms)']);
  for (let more = 0; more < 5; more += 1) others.push(begin('run_check', {}));
  expect(work.shown().at(-1)).toBe('2 more');
  for (const end of ends) end();
  await Promise.all([tool, ...others]);
  expect(work.shown()).toEqual([]);
});

test('a call of a moment is told from one that is long at work, also while it is', async () => {
  let now = 10_000;
  const work = workInHand(() => now);
  const end: (() => void)[] = [];
  const call = () =>
    work.during(
      { kind: 'execute_tool', input: { run: { runId: 'run_1' } } },
      () => new Promise<void>((resolve) => void end.push(resolve)),
    );
  const short = call();
  now += 100;
  expect([9_000, 10_050].map(work.ranBriefly)).toEqual([false, true]);
  end[0]?.();
  await short;
  now += 60_000;
  expect(work.ranBriefly(10_050)).toBe(true);
  const long = call();
  now += 30_000;
  expect([work.ranCode(now - 1), work.ranBriefly(now - 1)]).toEqual([true, false]);
  end[1]?.();
  await long;
  expect([work.ranCode(now - 1), work.ranBriefly(now - 1)]).toEqual([true, false]);
});

test('code of the project is at work while tools, hooks and checks run, and a moment longer', async () => {
  let now = 10_000;
  const work = workInHand(() => now);
  const during = (kind: string, ms: number) =>
    work.during({ kind, input: { run: { runId: 'run_1' } } }, async () => void (now += ms));
  await during('call_model', 5_000);
  expect(work.ranCode(12_000)).toBe(false);
  await during('execute_tool', 5_000);
  now += 60_000;
  expect([14_900, 15_000, 19_999, 20_100, 21_000].map((at) => work.ranCode(at))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});

// In a process of its own: the test runner has modules of its own, and no native import.
test('a configuration is loaded anew with the files that it is made of, whatever kind of module it is', () => {
  const code = JSON.stringify(compiledPath(join(ROOT, 'cli/dev/project-code.ts')));
  const authoring = JSON.stringify(compiledPath(join(ROOT, 'authoring/index.ts')));
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    const { join } = require('node:path');
    const { projectCode } = require(${code});
    const KINDS = [['js', 'commonjs'], ['cjs'], ['js', 'module'], ['mjs'], ['ts', 'module'], ['ts', 'commonjs']];
    async function twice([end, type]) {
      const place = join(${JSON.stringify(folder)}, end + type);
      mkdirSync(place);
      if (type) writeFileSync(join(place, 'package.json'), JSON.stringify({ type }));
      const isCommon = end === 'cjs' || (end === 'js' && type === 'commonjs');
      const from = (names, file) => isCommon
        ? 'const { ' + names + ' } = require(' + file + ');'
        : 'import { ' + names + ' } from ' + file + ';';
      writeFileSync(join(place, 'holdfast.config.' + end), [
        from('defineAgent, defineConfig', ${JSON.stringify(authoring)}),
        from('words', "'./words." + end + "'"),
        "const agent = defineAgent({ name: 'a', model: 'scripted/x', instructions: words });",
        'const config = defineConfig({ agents: [agent], scripted: () => ({ text: words }) });',
        isCommon ? 'module.exports = config;' : 'export default config;',
      ].join('\\n'));
      const said = [];
      const code = projectCode({ folder: place });
      for (const text of ['First.', 'Second.']) {
        const word = 'words = "' + text + '";';
        writeFileSync(join(place, 'words.' + end), (isCommon ? 'exports.' : 'export const ') + word);
        said.push((await code.load()).agents.get('a').instructions);
      }
      return said.join(' ');
    }
    (async () => {
      const all = [];
      for (const kind of KINDS) all.push(kind.join(' ') + ': ' + (await twice(kind)));
      console.log(JSON.stringify(all));
    })();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(
    ['js commonjs', 'cjs', 'js module', 'mjs', 'ts module', 'ts commonjs'].map(
      (kind) => `${kind}: First. Second.`,
    ),
  );
});
