/** `npm create holdfast`: what is written, what is refused, and what is asked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { create } from '../../create-holdfast/create.js';
import { filesOf } from '../../create-holdfast/scaffold/files.js';
import { MODULES, TEMPLATES, VERSIONS } from '../../create-holdfast/scaffold/project.js';
import { writeProject } from '../../create-holdfast/scaffold/write.js';
import { until } from '../until.js';

const ROOT = join(__dirname, '..', '..');

let here: string;
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'holdfast-create-'));
});
afterEach(() => rmSync(here, { recursive: true, force: true }));

async function said(argv: readonly string[], answers?: readonly string[], userAgent?: string) {
  let [out, err] = ['', ''];
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = '';
  output.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const ended = create(argv, {
    here,
    version: '9.9.9',
    ...(userAgent !== undefined && { userAgent }),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    ...(answers !== undefined && { terminal: { input, output } }),
    signal: new AbortController().signal,
  });
  for (const [at, answer] of (answers ?? []).entries()) {
    await until(() => (shown.match(/\?/g)?.length ?? 0) > at);
    input.write(`${answer}\n`);
  }
  const code = await ended;
  return { code, out, err, shown };
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test.each(TEMPLATES)(
  'the image of the template %s is built with a compiler, and its worker knows the authorities of TLS',
  (template) => {
    const files = filesOf({
      name: 'shop',
      template,
      module: 'esm',
      model: 'anthropic',
      holdfast: '9.9.9',
    });
    const content = (wanted: string) => files.find(({ path }) => path === wanted)?.content ?? '';
    const [build = '', worker = ''] = content('Dockerfile')
      .split(/^(?=FROM )/m)
      .slice(1);
    expect(build).toMatch(/^FROM node:\d+-bookworm AS build$/m);
    expect(worker).toMatch(/^FROM node:\d+-bookworm-slim$/m);
    expect(worker).toContain(
      'COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/\n',
    );
    // Keys also lie in .env.local and .env.production.
    expect(content('.dockerignore').split('\n')).toContain('.env*');
    expect(content('.gitignore').split('\n')).toContain('.env*');
  },
);

test.each(TEMPLATES.flatMap((template) => MODULES.map((module) => [template, module] as const)))(
  'the template %s as %s has every file that a project needs',
  async (template, module) => {
    const { code, out } = await said([
      'app',
      '-y',
      '--template',
      template,
      '--module',
      module,
      '--json',
    ]);
    expect(code).toBe(0);
    const { files, folder } = JSON.parse(out) as { files: string[]; folder: string };
    expect(files).toEqual(expect.arrayContaining(['.gitignore', 'Dockerfile', 'README.md']));
    expect(files).toEqual(expect.arrayContaining(['holdfast.config.ts', 'tsconfig.json']));
    expect(files.filter((file) => file.startsWith('cases/'))).toHaveLength(1);
    expect(files.filter((file) => file.startsWith('test/'))).toHaveLength(1);
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(texts.filter((text) => /__[A-Z]+__|\*\*[A-Z]+\*\*/.test(text))).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'app',
      type: module === 'esm' ? 'module' : 'commonjs',
      dependencies: { holdfast: '9.9.9' },
    });
  },
);

test('a project has the versions that Holdfast itself is tested with', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  expect({ ...devDependencies, ...dependencies }).toMatchObject(VERSIONS);
});

test('its own version is that of Holdfast', () => {
  const versionIn = (file: string) =>
    (JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { version: string }).version;
  expect(versionIn('create-holdfast/package.json')).toBe(versionIn('package.json'));
});

test('a file that is there is named and kept, and nothing is written', async () => {
  mkdirSync(join(here, 'app', 'src'), { recursive: true });
  writeFileSync(join(here, 'app', 'README.md'), 'mine');
  writeFileSync(join(here, 'app', 'src', 'agent.ts'), 'mine too');
  const { code, err } = await said(['app', '-y']);
  expect(code).toBe(2);
  expect(err).toMatch(/README\.md, src\/agent\.ts already\. Nothing was written/);
  expect(filesIn(join(here, 'app')).toSorted()).toEqual(['README.md', 'agent.ts']);
  expect(readFileSync(join(here, 'app', 'README.md'), 'utf8')).toBe('mine');
});

test('files of others stay beside those of the project', async () => {
  mkdirSync(join(here, 'app'));
  writeFileSync(join(here, 'app', 'NOTES.md'), 'mine');
  expect((await said(['app', '-y'])).code).toBe(0);
  expect(readFileSync(join(here, 'app', 'NOTES.md'), 'utf8')).toBe('mine');
});

test('a link in the place of a folder is not followed', async () => {
  mkdirSync(join(here, 'elsewhere'));
  mkdirSync(join(here, 'app'));
  symlinkSync(join(here, 'elsewhere'), join(here, 'app', 'src'));
  const { code, err } = await said(['app', '-y']);
  expect(code).toBe(2);
  expect(err).toContain('is no folder, and the project needs one there');
  expect(filesIn(join(here, 'elsewhere'))).toEqual([]);
});

test('what could not be written whole leaves nothing', async () => {
  writeFileSync(join(here, 'taken'), 'a file');
  const { code, err } = await said(['taken/app', '-y']);
  expect(code).toBe(1);
  expect(err).toMatch(
    /cannot be written to .*: a part of its path is no folder\.\n.* choose another one\./,
  );
  expect(filesIn(here)).toEqual(['taken']);
});

test.each([
  ['', 'is blank'],
  ['a\u0000b', 'characters that cannot be seen'],
  ['a\u202eb', 'characters that cannot be seen'],
  ['a\nb', 'characters that cannot be seen'],
  ['/', 'is the root of the file system'],
  ['$(touch x)', 'no package can have in its name'],
  ['my agent', 'no package can have in its name'],
  ['.hidden', 'no package can have in its name'],
  ['node_modules', 'npm or an operating system has taken'],
  ['CON', 'npm or an operating system has taken'],
  ['holdfast', 'is the name of a package that the project needs'],
  ['x'.repeat(101), '101 characters, and 100 are the most'],
  ['y'.repeat(2_000), '2000 characters, and 1024 are the most'],
])('a folder that is called %j is refused by name', async (folder, why) => {
  const { code, err } = await said([folder, '-y']);
  expect(code).toBe(2);
  expect(err).toContain(why);
  expect(err).toMatch(/my-agent for instance/);
  expect(err).not.toMatch(/\p{Cf}/u);
  expect(filesIn(here)).toEqual([]);
});

test.each([
  [['app', '--template', 'big'], '--template is one of minimal, refund, existing, not "big"'],
  [['app', '--module', 'umd'], '--module is one of esm, commonjs'],
  [['app', '--holdfast', '--evil'], "'--holdfast"],
  [['app', '--holdfast=--evil', '-y'], '--holdfast is a version or file:PLACE'],
  [['app', '--colour'], "Unknown option '--colour'"],
  [['app', 'other'], 'One folder is enough'],
  [['app', '--install', '--no-install'], 'not both'],
  [['app'], 'There is no terminal to ask questions at'],
])('%j is a wrong command line', async (argv, why) => {
  const { code, err } = await said(argv);
  expect(code).toBe(2);
  expect(err).toContain(why);
});

test('an option that is misspelt is named as it is written', async () => {
  const { code, err } = await said(['app', '--templat', 'refund', '-y']);
  expect(code).toBe(2);
  expect(err).toContain('Did you mean --template?');
});

test('a project is whole when nobody reads to the end what is said', async () => {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'create-holdfast', 'main.ts'), join(here, 'app'), '-y'],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(filesIn(join(here, 'app'))).toContain('holdfast.config.ts');
}, 60_000);

test('an error is JSON where that was asked for', async () => {
  const { code, out } = await said(['app', '--json', '--template', 'big', '-y']);
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'Usage', hint: 'See --help.' } });
});

test('five things are asked; an empty answer takes the default, and a wrong one is asked again', async () => {
  const { code, shown, out } = await said([], ['desk', 'large', 'refund', '', 'openai', 'no']);
  expect(code).toBe(0);
  expect(shown).toContain('--template is one of');
  expect(out).toMatch(/cd desk\n {2}npm install\n {2}npm run dev/);
  const packageOf = JSON.parse(readFileSync(join(here, 'desk', 'package.json'), 'utf8')) as object;
  expect(packageOf).toMatchObject({ type: 'module' });
  expect(readFileSync(join(here, 'desk', 'src', 'agent.ts'), 'utf8')).toContain('OPENAI_API_KEY');
});

test.each([
  [undefined, 'npm'],
  ['npm/11.0.0 node/v22.1.0 linux x64 workspaces/false', 'npm'],
  ['pnpm/10.2.0 npm/? node/v22.1.0 linux x64', 'pnpm'],
  ['yarn/1.22.22 npm/? node/v22.1.0 linux x64', 'yarn'],
  ['bun/1.2.0 npm/? node/v22.1.0 linux x64', 'bun'],
  ['other/1.0.0', 'npm'],
])('started by %p, the next steps are those of %s', async (userAgent, manager) => {
  const { out } = await said(['app', '--yes'], undefined, userAgent);
  expect(out).toContain(`\n  ${manager} install\n  ${manager} run dev\n`);
});

test('the same options give the same files', () => {
  const project = {
    name: 'a',
    template: 'refund',
    module: 'esm',
    model: 'openai',
    holdfast: '1',
  } as const;
  expect(filesOf(project)).toEqual(filesOf(project));
});

test.each([
  ['anthropic', 'ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-5-5'],
  ['openai', 'OPENAI_API_KEY', 'openai/gpt-5-mini'],
] as const)(
  'without the key of %s a script answers, but never in production',
  (model, key, vendors) => {
    const project = { name: 'a', template: 'minimal', module: 'esm', holdfast: '1' } as const;
    const agent = filesOf({ ...project, model }).find(({ path }) => path === 'src/agent.ts');
    const [, expression = ''] = /\n {2}model:([^,]+),\n {2}instructions/.exec(agent!.content) ?? [];
    const modelWith = (env: object): unknown => runInNewContext(expression, { process: { env } });
    expect(modelWith({})).toBe('scripted/demo');
    expect(modelWith({ NODE_ENV: 'development' })).toBe('scripted/demo');
    expect(modelWith({ [key]: 'k' })).toBe(vendors);
    expect(modelWith({ NODE_ENV: 'production' })).toBe(vendors);
    expect(modelWith({ [key]: '', NODE_ENV: 'production' })).toBe(vendors);
  },
);

test('a file that can be written only in part is gone with those before it', async () => {
  const half = function* (): Generator<string> {
    yield 'half';
    throw new Error('no more can be written');
  };
  const folder = join(here, 'app');
  const files = [
    { path: 'a.txt', content: 'whole' },
    { path: 'src/b.txt', content: half() as unknown as string },
  ];
  await expect(writeProject(folder, files)).rejects.toThrow(/no more can be written/);
  expect(readdirSync(here)).toEqual([]);
});

test('--help and --version say so and write nothing', async () => {
  expect((await said(['--help'])).out).toMatch(/Exit codes:[^]*130/);
  expect((await said(['-V'])).out).toBe('9.9.9\n');
});
