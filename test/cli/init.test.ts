/** `holdfast init`: Holdfast in a project that exists. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { writeProject } from '../../create-holdfast/scaffold/write.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function init(...words: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli(['init', ...words], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

const write = (file: string, content: object | string) =>
  writeFileSync(
    join(folder, file),
    typeof content === 'string' ? content : JSON.stringify(content),
  );

test('a Temporal project gets one agent step, and keeps what is its own', async () => {
  write('package.json', { name: 'shop', dependencies: { '@temporalio/worker': '1.24.0' } });
  write('tsconfig.json', '{}');
  const { code, out } = await init('--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    template: 'existing',
    module: 'commonjs',
    files: [
      'cases/complaint-goes-to-a-team.json',
      'holdfast.config.ts',
      'src/agent-step.ts',
      'src/agent.ts',
      'src/script.ts',
      'test/agent.test.ts',
    ],
    next: [
      expect.stringContaining('npm install'),
      expect.stringContaining('npm pkg set scripts.dev='),
      'npx tsx --test test/agent.test.ts',
      'npx holdfast eval cases',
      'npm run dev',
    ],
  });
  expect(readFileSync(join(folder, 'tsconfig.json'), 'utf8')).toBe('{}');
});

test('packages of the SDK that a project has come to one version, because they work in one alone', async () => {
  write('package.json', {
    dependencies: { '@temporalio/worker': '1.11.0', '@temporalio/testing': '1.11.0' },
  });
  const { out } = await init();
  expect(out).toMatch(/zod@\S+ @temporalio\/worker@(\S+) @temporalio\/workflow@\1\n/);
});

test.each([
  [{ dependencies: { zod: '^3.25.76' } }, true],
  [{ devDependencies: { zod: '3.x' } }, true],
  [{ dependencies: { zod: '^4.0.0' } }, false],
  [{ dependencies: { zod: '^3.25.0 || ^4.0.0' } }, false],
  [{}, false],
])('a project is told when its zod 3 gives way to zod 4: %j', async (content, isTold) => {
  write('package.json', content);
  const { code, err } = await init();
  expect({ code, isTold: err.includes('zod 4 in the place of the zod 3') }).toEqual({
    code: 0,
    isTold,
  });
});

test('another project gets the template that is named', async () => {
  write('package.json', { name: 'shop', type: 'module' });
  const { code, out } = await init('--template', 'refund');
  expect(code).toBe(0);
  expect(out).toMatch(/Wrote src\/shop\.ts[^]*npm install --save-exact holdfast@\S+ zod@/);
  expect(existsSync(join(folder, 'Dockerfile'))).toBe(false);
});

test('a project that has Holdfast keeps it', async () => {
  write('package.json', {});
  write('holdfast.config.ts', 'mine');
  const { code, err } = await init();
  expect(code).toBe(2);
  expect(err).toMatch(/has holdfast\.config\.ts already\. Nothing was written/);
  expect(existsSync(join(folder, 'src'))).toBe(false);
});

test.each([
  ['no package.json', 2, undefined, /There is no package\.json[^]*npm create holdfast/],
  ['one that is no JSON', 1, '{"name":', /cannot be read as JSON/],
])('%s is told', async (_, exit, content, why) => {
  if (content !== undefined) write('package.json', content);
  const { code, err } = await init();
  expect(code).toBe(exit);
  expect(err).toMatch(why);
});

test('a folder that cannot be written is an error of the file system, not of the command line', async () => {
  write('taken', 'a file');
  await expect(
    writeProject(join(folder, 'taken', 'app'), [{ path: 'a.ts', content: '' }]),
  ).rejects.toMatchObject({ code: 'FileUnusable', hint: expect.stringContaining('another one') });
});

test.each([
  ['pnpm-lock.yaml', /\n {2}pnpm add --save-exact holdfast@/],
  ['yarn.lock', /\n {2}yarn add --exact holdfast@/],
  ['bun.lock', /\n {2}bun add --exact holdfast@/],
])('a package in a repository with a %s is told how that one installs', async (lock, command) => {
  write(lock, '');
  const repository = folder;
  folder = mkdtempSync(join(repository, 'package-'));
  write('package.json', { name: 'shop' });
  const { out } = await init();
  folder = repository;
  expect(out).toMatch(command);
});

test('a project keeps a script of the name dev that it has', async () => {
  write('package.json', { name: 'shop', scripts: { dev: 'vite' } });
  const { out } = await init();
  expect(out).toMatch(/npm pkg set scripts\.agents=[^]*npm run agents\n/);
  expect(out).not.toContain('scripts.dev');
});
