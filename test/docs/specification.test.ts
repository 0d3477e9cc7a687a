/** Each code that is cited can be looked up, and nothing is explained that nobody cites. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { casesIn, citationsIn, entriesIn, filesIn } from '../../lab/words/codes.js';
import { filled } from '../../lab/words/specification.js';

const ROOT = join(__dirname, '..', '..');
const CITED = citationsIn(ROOT);
const ENTRIES = entriesIn(ROOT);

test('there are citations and entries to compare', () => {
  expect(CITED.size).toBeGreaterThan(100);
  expect(CITED.get('C19')).toEqual(expect.arrayContaining(['core/call/dispatch.ts']));
});

test('every code that is cited has an entry', () => {
  expect([...CITED].filter(([code]) => !ENTRIES.has(code))).toEqual([]);
});

test('no code has two entries', () => {
  expect([...ENTRIES].filter(([, topics]) => topics.length !== 1)).toEqual([]);
});

test('every entry is cited', () => {
  expect([...ENTRIES.keys()].filter((code) => !CITED.has(code))).toEqual([]);
});

/** Names of documents that are not here, and cases that are none. */
const DEAD =
  /design §|vocabulary D\d|(?<![\w-])(?:BU|CC|CI|HK|LC|MH|PA|PN|SE|SP|SR|ST|TA|TR)-\d{2}\b|(?<=[('"])S\d{1,3}(?=[:,)])/g;

test('no comment or title cites what nobody can look up', () => {
  const cases = casesIn(ROOT).map(({ id }) => id.replace(/(?<=^S\d+)[a-z]$/, ''));
  const dead = filesIn(ROOT)
    .filter((file) => /\.tsx?$/.test(file) && file !== 'test/docs/specification.test.ts')
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(DEAD)].map(([name]) => ({ file, name })),
    )
    .filter(({ name }) => !cases.includes(name));
  expect(dead).toEqual([]);
});

/** The layout of tables is the formatter's business. */
const cells = (text: string): string => text.replace(/-{3,}/g, '---').replace(/ +/g, ' ');

test('the documents say what the code says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-specification-'));
  const copies = [...filled()].map(([file, text]) => ({
    file,
    text,
    copy: join(folder, basename(file)),
  }));
  for (const { copy, text } of copies) writeFileSync(copy, text);
  const prettier = join(ROOT, 'node_modules/prettier/bin/prettier.cjs');
  execFileSync(process.execPath, [prettier, '--write', folder], { cwd: ROOT });
  const stale = copies.filter(
    ({ file, copy }) =>
      cells(readFileSync(join(ROOT, file), 'utf8')) !== cells(readFileSync(copy, 'utf8')),
  );
  rmSync(folder, { recursive: true });
  // `npm run semantics` writes them.
  expect(stale.map(({ file }) => file)).toEqual([]);
  expect(copies.length).toBeGreaterThan(10);
});
