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
  const source = await readFile(join(ROOT, 'test/types/query.ts'), 'utf8');
  return source.replaceAll("'../../index.js'", "'../../../index.js'");
}

let told: (program: string) => readonly string[];
beforeAll(async () => {
  const right = await queries();
  told = await complaints(
    new Map([
      ['right', right],
      ['wrong', right.replaceAll('@ts-expect-error', 'wrong:')],
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
