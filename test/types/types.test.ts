import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

/** As a user's project has them, without the types of a test runner. */
const SETTINGS = {
  extends: '../../../tsconfig.json',
  compilerOptions: { types: ['node'] },
  include: ['*.ts'],
};

const textOf = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/** What the compiler complains of in each of the programs, all compiled at once in a folder beside this file. */
async function complaints(
  programs: ReadonlyMap<string, string>,
): Promise<(program: string) => readonly string[]> {
  const folder = await mkdtemp(join(__dirname, 'checked-'));
  try {
    for (const [name, program] of programs) await writeFile(join(folder, `${name}.ts`), program);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
    const told = await run(process.execPath, [TSC, '-p', folder]).then(
      () => '',
      ({ stdout = '' }: { readonly stdout?: string }) => stdout,
    );
    const errors = told.split('\n').filter((line) => line.includes('error TS'));
    const named = (line: string, program: string) => line.includes(`${program}.ts(`);
    // One in a file of ours is everybody's.
    const others = errors.filter((line) => ![...programs.keys()].some((name) => named(line, name)));
    return (program) => [...others, ...errors.filter((line) => named(line, program))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function queries(): Promise<string> {
  const source = await textOf('test/types/query.ts');
  return source.replaceAll("'../../index.js'", "'../../../index.js'");
}

async function readmeProgram(): Promise<string> {
  const readme = await textOf('README.md');
  const [, , program] = /## From your code\s+```(ts)\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(program).toContain('query({');
  return program!.replace("'holdfast'", "'../../../index.js'");
}

async function providerPrograms(): Promise<readonly string[]> {
  const text = await textOf('docs/guide/providers.md');
  const programs = [...text.matchAll(/```(ts)\n([\s\S]*?)```/g)].map(([, , program]) => program!);
  expect(programs).toHaveLength(4);
  return programs.map((program) => {
    const frame = program
      .replace("import { config } from './holdfast.config.js';\n", '')
      .replaceAll("'holdfast'", "'../../../index.js'")
      .replaceAll(/'holdfast\/(worker|testing)'/g, "'../../../$1/index.js'");
    // Two of them make a configuration.
    return program.includes('export const config')
      ? frame
      : `${frame}
import type { Config } from '../../../authoring/index.js';
declare const config: Config;
declare function test(name: string, run: () => Promise<void>, ms: number): void;
export { config, test };\n`;
  });
}

let told: (program: string) => readonly string[];
beforeAll(async () => {
  const right = await queries();
  const [first, second, third, fourth] = await providerPrograms();
  told = await complaints(
    new Map([
      ['right', right],
      ['wrong', right.replaceAll('@ts-expect-error', 'wrong:')],
      ['readme', await readmeProgram()],
      ['providers-1', first!],
      ['providers-2', second!],
      ['providers-3', third!],
      ['providers-4', fourth!],
    ]),
  );
});

test('the compiler accepts queries that are right and refuses those that are wrong', () => {
  expect(told('right')).toEqual([]);
});

test('it refuses each of them, when nobody says that it is expected', async () => {
  const wrong = (await queries()).match(/@ts-expect-error/g) ?? [];
  expect(wrong.length).toBeGreaterThan(15);
  expect(told('wrong')).toHaveLength(wrong.length);
});

test('the program of the README compiles', () => {
  expect(told('readme')).toEqual([]);
});

test.each(['providers-1', 'providers-2', 'providers-3', 'providers-4'])(
  'the program %s of docs/guide/providers.md compiles',
  (program) => {
    expect(told(program)).toEqual([]);
  },
);
