import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { semantics } from '../../lab/words/semantics.js';

const ROOT = join(__dirname, '..', '..');

/** The table's layout is the formatter's business. */
const cells = (text: string): string => text.replace(/-{3,}/g, '---').replace(/ +/g, ' ');

test('docs/reference/semantics.md says what the constants say', () => {
  const written = readFileSync(join(ROOT, 'docs', 'reference', 'semantics.md'), 'utf8');
  const fresh = execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/prettier/bin/prettier.cjs'), '--parser', 'markdown'],
    { cwd: ROOT, input: semantics(), encoding: 'utf8' },
  );
  expect(cells(written)).toBe(cells(fresh));
});
