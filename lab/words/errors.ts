/** Writes docs/reference/errors.md from the codes, their meanings and the exit codes: `npm run semantics`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_MEANINGS } from '../../cli/exit-code.js';
import { ERROR_GROUPS, ERROR_GUIDE } from './error-guide.js';

export function errorsPage(): string {
  return `${[
    '# Errors',
    '',
    'Each `HoldfastError` has a `code`, a message that says what is wrong, and mostly a `hint` with the next action. `--json` prints `{error: {code, message, hint}}`. Codes are never renamed. Written by `npm run semantics` from `lab/words/error-guide.ts`; do not edit.',
    '',
    '## Exit codes',
    '',
    '| exit code | meaning |',
    '| --- | --- |',
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    ...ERROR_GROUPS.flatMap(({ title, codes }) => [
      '',
      `## ${title}`,
      ...codes.flatMap((code) => {
        const { cause, remedy } = ERROR_GUIDE[code];
        return ['', `### ${code}`, '', `${cause} **Remedy:** ${remedy}`];
      }),
    ]),
  ].join('\n')}\n`;
}

if (require.main === module)
  writeFileSync(join(__dirname, '../../docs/reference/errors.md'), errorsPage());
