import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TSC = join(__dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

/** As a user's project has them, without the types of a test runner. */
const SETTINGS = {
  extends: '../../../tsconfig.json',
  compilerOptions: { types: ['node'] },
  include: ['query.ts'],
};

/** What the compiler complains of, line by line, in a copy of the file beside it. */
async function complaints(change: (source: string) => string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(__dirname, 'checked-'));
  try {
    const source = await readFile(join(__dirname, 'query.ts'), 'utf8');
    await writeFile(
      join(folder, 'query.ts'),
      change(source).replaceAll("'../../index.js'", "'../../../index.js'"),
    );
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
    await run(process.execPath, [TSC, '-p', folder]);
    return [];
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string };
    return stdout.split('\n').filter((line) => line.includes('error TS'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('the compiler accepts queries that are right and refuses those that are wrong', async () => {
  expect(await complaints((source) => source)).toEqual([]);
}, 120_000);

test('the program of the README compiles', async () => {
  const readme = await readFile(join(__dirname, '..', '..', 'README.md'), 'utf8');
  const [, , program] = /## From your code\s+```(ts)\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(program).toContain('query({');
  expect(await complaints(() => program!.replace("'holdfast'", "'../../../index.js'"))).toEqual([]);
}, 120_000);

test('the programs of docs/guide/providers.md compile', async () => {
  const text = await readFile(join(__dirname, '..', '..', 'docs', 'guide', 'providers.md'), 'utf8');
  const programs = [...text.matchAll(/```(ts)\n([\s\S]*?)```/g)].map(([, , program]) => program!);
  expect(programs).toHaveLength(3);
  const [configured] = programs;
  for (const program of programs) {
    const frame = program
      .replace("import { config } from './holdfast.config.js';\n", '')
      .replaceAll("'holdfast'", "'../../../index.js'")
      .replaceAll(/'holdfast\/(worker|testing)'/g, "'../../../$1/index.js'");
    const given =
      program === configured
        ? frame
        : `${frame}
import type { Config } from '../../../authoring/index.js';
declare const config: Config;
declare function test(name: string, run: () => Promise<void>, ms: number): void;
export { config, test };\n`;
    expect(await complaints(() => given)).toEqual([]);
  }
}, 120_000);

test('it refuses each of them, when nobody says that it is expected', async () => {
  const source = await readFile(join(__dirname, 'query.ts'), 'utf8');
  const wrong = source.match(/@ts-expect-error/g) ?? [];
  const told = await complaints((text) => text.replaceAll('@ts-expect-error', 'wrong:'));
  expect(wrong.length).toBeGreaterThan(15);
  expect(told).toHaveLength(wrong.length);
}, 120_000);
