/** Blocks of TypeScript in the README and the documents compile as they stand there. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { documentsIn } from '../../lab/words/places.js';
import { programsOf, ROOT, type Program } from './support/snippets.js';

const run = promisify(execFile);
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const PROGRAMS = documentsIn(ROOT).flatMap(programsOf);

const PAGE = '../../examples/next-chat';

/** As a user's project has them: entries by their names, and no rule about names that are not used. */
const SETTINGS = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    jsx: 'react-jsx',
    lib: ['es2023', 'es2024.string', 'dom'],
    noUnusedLocals: false,
    paths: {
      holdfast: ['../../index.ts'],
      'holdfast/http/projection': ['../../http/projection/index.ts'],
      'holdfast/*': ['../../*/index.ts'],
      // Projects with vitest have its types; these have the same functions.
      vitest: ['../../test/docs/support/vitest.ts'],
      '@ai-sdk/react': ['../../node_modules/ai-react-v7/dist/index.d.ts'],
      ai: ['../../node_modules/ai-v7/dist/index.d.ts'],
    },
  },
  // The example with a page is a project of its own, which no other compilation here looks at.
  include: ['*.mts', '*.tsx', `${PAGE}/**/*.ts`, `${PAGE}/**/*.tsx`],
  exclude: [`${PAGE}/node_modules`, `${PAGE}/.next`],
};

/** Programs that define things and do nothing else can be run without a server, a model or a test runner. */
const onlyDefines = ({ snippet: { language, code } }: Program): boolean =>
  language !== 'tsx' &&
  !/readFileSync\(|\bawait\b|\bvoid \w+\(|\btest\(|^export \{|^(?!define)\w+(?:\.\w+)?\(/m.test(
    code,
  );

interface Told {
  /** What the compiler complains of, by program. */
  readonly compiler: ReadonlyMap<string, string>;
  /** Why a program could not be run, by program. */
  readonly runs: ReadonlyMap<string, string>;
}

async function toldOf(programs: readonly Program[]): Promise<Told> {
  // Not among the sources: whoever copies or checks them meanwhile would meet files that go away.
  const folder = await mkdtemp(join(ROOT, '.compiled', 'snippets-'));
  const written = (name: string, text: string) => writeFile(join(folder, name), text);
  try {
    for (const { snippet, source } of programs)
      await written(`${snippet.name}.${snippet.language === 'tsx' ? 'tsx' : 'mts'}`, source);
    await written('tsconfig.json', JSON.stringify(SETTINGS));
    const compiler = complaintsIn(await outputOf([TSC, '-p', folder]));
    await written(
      'run.mjs',
      runnerOf(programs.filter(onlyDefines).map(({ snippet }) => snippet.name)),
    );
    const tsx = ['--import', 'tsx', join(folder, 'run.mjs')];
    const environment = { ...process.env, TSX_TSCONFIG_PATH: join(folder, 'tsconfig.json') };
    const said = await outputOf(tsx, environment);
    const runs = JSON.parse(said.split('\n').at(-1) ?? '') as Readonly<Record<string, string>>;
    return { compiler, runs: new Map(Object.entries(runs)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function outputOf(args: readonly string[], environment = process.env): Promise<string> {
  const ended = await run(process.execPath, args, { cwd: ROOT, env: environment }).catch(
    (error: { readonly stdout?: string; readonly stderr?: string }) => error,
  );
  return (ended.stdout ?? '').trim() || (ended.stderr ?? '');
}

function complaintsIn(said: string): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  for (const line of said.split('\n').filter((one) => one.includes('error TS'))) {
    const name = /snippets-\w+\/([\w-]+)\./.exec(line)?.[1] ?? 'elsewhere';
    told.set(name, `${told.get(name) ?? ''}${line.replace(/^.*?\(/, '(')}\n`);
  }
  return told;
}

/** Imports each program, and prints why one failed. */
const runnerOf = (names: readonly string[]): string => `
const told = {};
process.env.CRM_TOKEN = 'a token of the customers';
for (const name of ${JSON.stringify(names)}) {
  told[name] = await import('./' + name + '.mts').then(() => '', (error) => String(error?.stack ?? error));
}
console.log('\\n' + JSON.stringify(told));
`;

let told: Told;
beforeAll(async () => {
  told = await toldOf(PROGRAMS);
});

test('there are many, and half of them can be run', () => {
  expect(PROGRAMS.length).toBeGreaterThan(45);
  expect(PROGRAMS.filter(onlyDefines).length).toBeGreaterThan(25);
});

test('nothing but a block is complained of', () => {
  expect(told.compiler.get('elsewhere') ?? '').toBe('');
});

const named = (programs: readonly Program[]) =>
  programs.map(({ snippet: { place, name } }) => [place, name] as const);

test.each(named(PROGRAMS))('the block of %s compiles', (_place, name) => {
  expect(told.compiler.get(name) ?? '').toBe('');
});

test.each(named(PROGRAMS.filter(onlyDefines)))('the block of %s can be run', (_place, name) => {
  expect(told.runs.get(name)).toBe('');
});
