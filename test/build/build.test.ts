/** The build of a small project that is laid out as this one: what it leaves, and when it leaves things alone. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compiledPath } from '../compiled.js';

const ROOT = join(__dirname, '..', '..');
const WRITES = (name: string, file: string, more = '') => `
  import { mkdirSync, writeFileSync } from 'node:fs';
  import { dirname, join } from 'node:path';
  export async function ${name}(): Promise<void> {
    const file = join(__dirname, '${file}');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{}');
    ${more}
  }`;
const BUNDLE = "writeFileSync(join(dirname(file), 'bundle.js'), 'const run = 1;');";
const COPIED = [
  'build.cjs',
  'build-bundled.cjs',
  'build-compact.cjs',
  'build-lazy.cjs',
  'build-page.cjs',
  'build-query-builder.cjs',
  'build-types.cjs',
  'tsconfig.build.json',
  'tsconfig.lab.json',
  'create-holdfast/pack-templates.cjs',
];
const SOURCES = {
  'package.json': JSON.stringify({ exports: { '.': { types: './dist/index.d.ts' } } }),
  'package-lock.json': '{}',
  'index.ts': 'export const version = 1;',
  'create-holdfast/scaffold/project.ts': 'export const templates = 1;',
  'create-holdfast/templates/minimal/README.md': 'A project.',
  'cli/main.ts': "export const said: string = 'one';",
  'worker/workflow-code.ts': WRITES('writeWorkflowBundle', '../workflows/bundle.json', BUNDLE),
  'core/json/json.ts': "import { sha256 } from '@noble/hashes/sha2';\nexport const hash = sha256;",
  'store/query-builder.ts': readFileSync(join(ROOT, 'store/query-builder.ts'), 'utf8'),
  'examples/refund/business/bundle.ts': WRITES('writeBusinessBundle', 'refund-process.bundle.js'),
  'console/page/index.html': '<p>one</p>',
  'lab/bench/main.ts': 'export const measured = 1;',
  'tsconfig.json': JSON.stringify({
    compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true },
    include: [
      '*.ts',
      'cli',
      'console',
      'core',
      'create-holdfast',
      'examples',
      'lab',
      'store',
      'worker',
    ],
  }),
};

let folder: string;
/** A folder that was built. */
let whole: string;
beforeAll(() => {
  newFolder();
  whole = folder;
  expect(build().code).toBe(0);
});
afterAll(() => rmSync(whole, { recursive: true, force: true }));
beforeEach(newFolder);
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function newFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-build-'));
  for (const file of COPIED) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of Object.entries(SOURCES)) write(file, text);
}

/** What a build of these sources leaves. */
function builtBefore(): void {
  cpSync(join(whole, 'dist'), join(folder, 'dist'), { recursive: true });
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Its exit code, and what the compiler and the build said. */
function build(...argv: readonly string[]): {
  readonly code: number | null;
  readonly said: string;
} {
  const ran = spawnSync(process.execPath, ['build.cjs', ...argv], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: ran.status, said: ran.stdout + ran.stderr };
}

const built = (file: string): string => readFileSync(join(folder, 'dist', file), 'utf8');
const leftOver = (): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('dist.'));
/** Changes with every build. */
const buildId = (): number => statSync(join(folder, 'dist')).ino;

const says = (text: string): string => `export const said: string = '${text}';`;
const NONSENSE = 'export const said: string = 7;';

test('a build compiles, copies the page and bundles; the next one of the same sources does nothing', () => {
  expect(build('--if-stale').code).toBe(0);
  expect(built('cli/main.js')).toContain('"one"');
  expect(built('console/page/index.html')).toBe('<p>one</p>');
  const first = buildId();
  expect(build('--if-stale')).toEqual({ code: 0, said: '' });
  expect(buildId()).toBe(first);
  expect(build().code).toBe(0);
  expect(buildId()).not.toBe(first);
});

test('the laboratory is compiled beside the package, never into it', () => {
  expect(build().code).toBe(0);
  const first = buildId();
  expect(existsSync(join(folder, 'dist/lab'))).toBe(false);
  expect(build('--lab').code).toBe(0);
  expect(existsSync(join(folder, 'build/lab/bench/main.js'))).toBe(true);
  expect(readFileSync(join(folder, 'build/cli/main.js'), 'utf8')).toContain('one');
  expect(buildId()).toBe(first);
  write('lab/bench/main.ts', 'export const measured = 2;');
  expect(build('--if-stale').code).toBe(0);
  expect(buildId()).toBe(first);
  const lab = statSync(join(folder, 'build')).ino;
  expect(build('--lab', '--if-stale').code).toBe(0);
  expect(statSync(join(folder, 'build')).ino).not.toBe(lab);
});

test('the page is one script of its sources, which stay at home; one that does not compile leaves the old build', () => {
  write('console/page/index.html', '<script type="module" src="/app.js"></script>');
  write(
    'console/page/app.tsx',
    "import { said } from './parts/said.js';\nconsole.log(<p>{said}</p>);",
  );
  write('console/page/parts/said.ts', says('of the page'));
  expect(build().code).toBe(0);
  expect(built('console/page/app.js')).toContain('of the page');
  const files = readdirSync(join(folder, 'dist/console/page')).sort();
  expect(files).toEqual(['app.js', 'index.html', 'preact-license.txt', 'uplot-license.txt']);
  const first = buildId();
  write('console/page/parts/said.ts', 'export const said = ;');
  expect(build('--if-stale')).toMatchObject({ code: 2, said: expect.stringMatching(/said\.ts/) });
  rmSync(join(folder, 'console/page/app.tsx'));
  expect(build()).toMatchObject({ code: 2, said: expect.stringMatching(/has no source/) });
  expect([buildId(), leftOver()]).toEqual([first, []]);
});

test('the package has declarations that its entries lead to, and no compiled file of types that nothing loads', () => {
  write('index.ts', "export type { Named } from './cli/named.js';\nexport const version = 1;");
  write('cli/main.ts', `/** Says it. */\n// Twice.\n${says('one')}`);
  write('cli/named.ts', "import type { Inner } from './inner.js';\nexport type Named = Inner;");
  write('cli/inner.ts', 'export interface Inner { readonly name: string }');
  write('cli/unseen.ts', 'export const unseen = 1;');
  expect(build().code).toBe(0);
  const files = readdirSync(join(folder, 'dist/cli')).sort();
  expect(files).toEqual(['inner.d.ts', 'main.js', 'named.d.ts', 'unseen.js']);
  expect(built('cli/main.js')).not.toMatch(/Says it|Twice/);
});

test('the parts of packages that decisions use come with them, in a file with its license', () => {
  builtBefore();
  expect(readdirSync(join(folder, 'dist/core')).sort()).toEqual([
    'json',
    'noble-license.txt',
    'noble.js',
  ]);
  expect(built('core/json/json.js')).toContain('require("../noble.js")');
  const code = "process.stdout.write(Buffer.from(require('./dist/core/json/json.js').hash(Buffer.of())))";
  rmSync(join(folder, 'node_modules'));
  const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: folder });
  expect(stdout.toString('hex')).toBe(createHash('sha256').digest('hex'));
});

test('the builder of queries comes in one file with its license, and no package is needed for it', () => {
  builtBefore();
  expect(readdirSync(join(folder, 'dist/store')).sort()).toEqual([
    'query-builder-license.txt',
    'query-builder.d.ts',
    'query-builder.js',
  ]);
  expect(saidOfQueries('db.selectFrom("runs").select(sql`1`.as("one")).compile().sql')).toBe(
    'select 1 as "one" from "runs"',
  );
});

test('tests of the store run with the builder of queries that the package has', () => {
  builtBefore();
  const tested = readFileSync(compiledPath(join(ROOT, 'store/query-builder.ts')), 'utf8');
  expect(built('store/query-builder.js') === tested).toBe(true);
});

test.each(['db.schema', 'db.introspection', 'db.withSchema("s")', 'db.mergeInto("runs")'])(
  'the builder of queries has no %s, which the store does not use, and says where to get it',
  (unused) => {
    builtBefore();
    expect(saidOfQueries(unused)).toMatch(/is without \w+: take it off the list in build-query-bui/);
  },
);

/** What comes of an expression, in a project without packages. */
function saidOfQueries(expression: string): string {
  const code = `const { Kysely, sql, SqliteDialect } = require('./dist/store/query-builder.js');
    const db = new Kysely({ dialect: new SqliteDialect({}) });
    try { process.stdout.write(String(${expression})) } catch ({ message }) { process.stdout.write(message) }`;
  rmSync(join(folder, 'node_modules'));
  return spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' }).stdout;
}

test('a module of the package that is asked for late comes by require, one of Node by its own loader', () => {
  write('cli/late.ts', says('late'));
  write(
    'cli/main.ts',
    `export const late = async () => [
      (await import('./late.js')).said,
      (await import('node:os')).EOL,
    ].join('');`,
  );
  expect(build().code).toBe(0);
  expect(built('cli/main.js')).toContain('require("./late.js")');
  expect(built('cli/main.js')).not.toContain('import("./');
  expect(built('cli/main.js')).toContain('import("node:os")');
  const code = "require('./dist/cli/main.js').late().then((said) => process.stdout.write(said))";
  const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
  expect(stdout.trim()).toBe('late');
});

test('a module takes another one whole as it is; only an entry says that it was a module of ES', () => {
  write('cli/named.ts', says('named'));
  write('cli/main.ts', "import * as named from './named.js';\nexport const names = { ...named };");
  expect(build().code).toBe(0);
  expect(built('cli/main.js')).toContain('const named = require("./named.js")');
  expect(built('cli/main.js') + built('cli/named.js')).not.toContain('__');
  const code = "process.stdout.write(JSON.stringify(require('./dist/cli/main.js').names))";
  const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
  expect(stdout).toBe('{"said":"named"}');
  expect(built('index.js')).toContain('"__esModule"');
});

test('a workflow that would load a module late is no build', () => {
  const late = BUNDLE.replace('const run = 1;', 'const $=(f,x)=>()=>x??=f();');
  write('worker/workflow-code.ts', WRITES('writeWorkflowBundle', '../workflows/bundle.json', late));
  expect(build()).toMatchObject({ code: 1, said: expect.stringContaining('loads another one late') });
  expect(existsSync(join(folder, 'dist/build.json'))).toBe(false);
});

test.each([
  ['has each line where it was, without indentation', '[1];\n\n  __webpack_require__;', '[1];\n\n$r;'],
  ['keeps the blanks of a text of several lines', '`one\n  two`;', '`one\n  two`;'],
])('a workflow %s', (_what, code, left) => {
  const bundle = BUNDLE.replace("'const run = 1;'", JSON.stringify(code));
  write('worker/workflow-code.ts', WRITES('writeWorkflowBundle', '../workflows/bundle.json', bundle));
  expect(build().code).toBe(0);
  expect(built('workflows/bundle.js')).toBe(left);
});

test.each([
  ['a source', () => write('cli/main.ts', says('two'))],
  ['the page', () => write('console/page/index.html', '<p>two</p>')],
  ['a package', () => write('package-lock.json', '{"changed": true}')],
  ['a bundle that was never made', () => rmSync(join(folder, 'dist/workflows/bundle.json'))],
  ['a stamp that says nothing', () => write('dist/build.json', '')],
])('%s makes a build stale', (_what, change) => {
  builtBefore();
  const first = buildId();
  change();
  expect(build('--if-stale').code).toBe(0);
  expect(buildId()).not.toBe(first);
});

test.each([
  ["an editor's unsaved file", () => symlinkSync('nowhere', join(folder, 'cli/.#main.ts'))],
  ['the data of a run', () => write('cli/.holdfast/store.db', 'x')],
  ["a user's own configuration", () => write('holdfast.config.ts', NONSENSE)],
])('%s is no source', (_what, change) => {
  builtBefore();
  const first = buildId();
  change();
  expect(build('--if-stale')).toEqual({ code: 0, said: '' });
  expect(buildId()).toBe(first);
});

test('what does not compile is told and leaves the old build', () => {
  builtBefore();
  write('cli/main.ts', NONSENSE);
  expect(build('--if-stale')).toMatchObject({ code: 2, said: expect.stringMatching(/TS2322/) });
  expect(built('cli/main.js')).toContain('"one"');
  expect(leftOver()).toEqual([]);
});

test('a folder that is compiled and not listed fails the build: nobody would see it change', () => {
  write('hidden/away.ts', 'export const away = 1;');
  write('index.ts', "export * from './hidden/away.js';");
  expect(build()).toMatchObject({ code: 2, said: expect.stringMatching(/must include hidden/) });
  expect(existsSync(join(folder, 'dist'))).toBe(false);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'a build that %s ends leaves a whole one, and the next build is new',
  async (signal, exitCode) => {
    builtBefore();
    write('cli/main.ts', says('two'));
    // So many that the signal comes while they are written.
    for (let index = 0; index < 300; index += 1)
      write(`worker/many-${index}/one.ts`, `export const one = ${index};`);
    const child = spawn(process.execPath, ['build.cjs'], { cwd: folder, stdio: 'ignore' });
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    while (leftOver().length === 0 && child.exitCode === null) await sleep(1);
    child.kill(signal);
    // It may have been over, or bundling, when it was told.
    expect([0, exitCode]).toContain(await exit);
    expect(leftOver()).toEqual([]);
    expect(built('cli/main.js')).toMatch(/"one"|"two"/);
    expect(build('--if-stale').code).toBe(0);
    expect(built('cli/main.js')).toContain('"two"');
    expect(built('workflows/bundle.json')).toBe('{}');
  },
);

test('what a killed build left is cleared away, and the old build put back', () => {
  builtBefore();
  const noProcess = 2 ** 22 + 1;
  cpSync(join(folder, 'dist'), join(folder, `dist.old-${noProcess}`), { recursive: true });
  write(`dist.new-${noProcess}/half.js`, '');
  rmSync(join(folder, 'dist'), { recursive: true });
  write('cli/main.ts', NONSENSE);
  expect(build().code).toBe(2);
  expect(built('cli/main.js')).toContain('"one"');
  expect(leftOver()).toEqual([]);
});
