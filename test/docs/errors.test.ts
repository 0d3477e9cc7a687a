import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../core/state/errors.js';
import { errorsPage } from '../../lab/words/errors.js';
import { ERROR_GROUPS, ERROR_GUIDE } from '../../lab/words/error-guide.js';

const ROOT = join(__dirname, '..', '..');
const SENTENCES = /^(?:(?!It |What |Whoever |Nobody )[A-Z`].*\.)$/;

/** The table's layout is the formatter's business. */
const cells = (text: string): string => text.replace(/-{3,}/g, '---').replace(/ +/g, ' ');

test('every code stands once on the page of errors, with a cause and a remedy in sentences', () => {
  const listed = ERROR_GROUPS.flatMap(({ codes }) => codes);
  expect(listed.toSorted()).toEqual([...ERROR_CODES].toSorted());
  for (const code of ERROR_CODES) {
    const { cause, remedy } = ERROR_GUIDE[code];
    expect({ code, cause, remedy }).toEqual({
      code,
      cause: expect.stringMatching(SENTENCES),
      remedy: expect.stringMatching(SENTENCES),
    });
  }
});

test('docs/reference/errors.md says what the codes say', () => {
  const written = readFileSync(join(ROOT, 'docs', 'reference', 'errors.md'), 'utf8');
  const fresh = execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/prettier/bin/prettier.cjs'), '--parser', 'markdown'],
    { cwd: ROOT, input: errorsPage(), encoding: 'utf8' },
  );
  expect(cells(written)).toBe(cells(fresh));
});
