/** Writes what of the specification follows from the code: `npm run semantics`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATES } from '../../core/gates/completion.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { casesIn, entriesIn, fileOf, invariantsIn, TOPICS } from './codes.js';

const ROOT = join(__dirname, '..', '..');
const DEFAULTS: { readonly [name: string]: unknown } = { ...DEFAULT_SETTINGS, ...DEFAULT_BUDGET };
const WRITTEN =
  'Written by `npm run semantics` from the files that it names; changes here are overwritten.';

/** Every document that has a generated part, by its path from the root. */
export function filled(): ReadonlyMap<string, string> {
  return new Map([
    ...[...TOPICS.map(fileOf), 'docs/specification/README.md'].map(
      (file) => [file, withBlocks(readFileSync(join(ROOT, file), 'utf8'))] as const,
    ),
    ['docs/specification/scenarios.md', scenarios()],
    ['docs/specification/invariants.md', invariants()],
  ]);
}

const BLOCK =
  /(?<head><!-- (?<kind>settings|gates|topics)(?:: (?<names>[^>]*?))? -->\n)[\s\S]*?(?<end><!-- end -->)/g;

/** Fills what stands between `<!-- kind: names -->` and `<!-- end -->`. */
function withBlocks(text: string): string {
  return text.replace(BLOCK, (...found) => {
    const { head, kind, names, end } = found.at(-1) as Readonly<Record<string, string | undefined>>;
    return `${head}\n${blockOf(kind ?? '', names?.split(' ') ?? [])}\n\n${end}`;
  });
}

function blockOf(kind: string, names: readonly string[]): string {
  switch (kind) {
    case 'settings':
      return table(['setting', 'default'], names.map(settingRow));
    case 'gates':
      return `Gates, in order: ${GATES.map(({ name }) => wordsOf(name.replace(/Gate$/, ''))).join(', ')}.`;
    default:
      return topics();
  }
}

function settingRow(name: string): readonly string[] {
  if (!Object.hasOwn(DEFAULTS, name)) throw new Error(`There is no setting or budget ${name}.`);
  return [`\`${name}\``, `\`${JSON.stringify(DEFAULTS[name])}\``];
}

function topics(): string {
  const entries = [...entriesIn(ROOT)];
  return TOPICS.map((topic) => {
    const codes = entries
      .filter(([, places]) => places.includes(topic))
      .map(([code]) => `[${code}](${topic}.md#${code.toLowerCase()})`);
    return `- [${titleOf(fileOf(topic))}](${topic}.md): ${codes.join(' ')}`;
  }).join('\n');
}

function titleOf(file: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? file;
}

function scenarios(): string {
  const cases = casesIn(ROOT);
  const parts = [...new Set(cases.map(({ folder }) => folder))].map((folder) => {
    const rows = cases.filter((one) => one.folder === folder);
    return `## ${folder}\n\n${table(
      ['case', 'behaviour'],
      rows.map(({ id, title }) => [id, title.replaceAll('|', '\\|')]),
    )}`;
  });
  return `${['# Scenarios', `Cases of \`test/scenarios\`. ${WRITTEN}`, ...parts].join('\n\n')}\n`;
}

function invariants(): string {
  const all = invariantsIn(ROOT);
  const rows = all.map(({ file, name, says }) => [
    name,
    `\`${file}\``,
    says.replaceAll('|', '\\|'),
  ]);
  const says = `Numbered invariants at the heads of files. ${WRITTEN}`;
  return `${['# Invariants', says, table(['name', 'file', 'holds'], rows)].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** `outputSchema` as "output schema". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

if (require.main === module) {
  for (const [file, text] of filled()) writeFileSync(join(ROOT, file), text);
}
