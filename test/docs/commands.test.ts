/** Command lines in the README and the documents name commands and options that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliEnvironment } from '../../cli/environment.js';
import { runCli } from '../../cli/program.js';
import { documentsIn } from '../../lab/words/places.js';

const ROOT = join(__dirname, '..', '..');

interface Line {
  readonly document: string;
  readonly words: readonly string[];
}

/** Lines of blocks for a shell, and code within sentences, that call `holdfast`. */
function linesOf(document: string): readonly Line[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const blocks = [...text.matchAll(/^```(?:sh|bash|yaml)\n([\s\S]*?)^```/gm)].map(
    ([, code]) => code!,
  );
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  const said = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  const lines = [...blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')), ...said];
  return lines
    .flatMap((line) => line.replace(/ # .*$/, '').split(/&&|\||;/))
    .filter((line) => !line.includes('npm install'))
    .flatMap((line) => /(?:^|[\s:])(?:npx )?holdfast (.*)$/.exec(line)?.[1] ?? [])
    .map((rest) => ({ document, words: wordsOf(rest) }))
    .filter(({ words }) => /^[a-z]/.test(words[0] ?? ''));
}

/** Words as a shell splits them; what stands in quotes is one. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word);
}

const helps = new Map<string, Promise<string>>();
function helpOf(words: readonly string[]): Promise<string> {
  const key = words.join(' ');
  const known = helps.get(key);
  if (known !== undefined) return known;
  const said: string[] = [];
  const streams = {
    out: (text: string) => said.push(text),
    err: (text: string) => said.push(text),
  };
  const asked = runCli([...words, '--help'], { environment: cliEnvironment(), streams });
  const help = asked.then((code) => (code === 0 ? said.join('') : ''));
  helps.set(key, help);
  return help;
}

/** The help of the innermost command that the words name; `undefined` where there is none. */
async function helpFor([first = '', second = '']: readonly string[]): Promise<string | undefined> {
  const help = await helpOf([first]);
  if (!help.startsWith(`Usage: holdfast ${first}`)) return undefined;
  if (!/^Commands:$/m.test(help) || !/^[a-z]/.test(second)) return help;
  const inner = await helpOf([first, second]);
  return inner.startsWith(`Usage: holdfast ${first} ${second}`) ? inner : undefined;
}

async function wrongIn({ document, words }: Line): Promise<readonly string[]> {
  const told = `${document}: holdfast ${words.join(' ')}`;
  const help = await helpFor(words);
  if (help === undefined) return [`${told}: there is no such command`];
  const options = words.flatMap((word) => /^--[a-z][a-z-]*/.exec(word)?.[0] ?? []);
  return options
    .filter((option) => !new RegExp(`${option}(?![a-z-])`).test(help))
    .map((option) => `${told}: there is no ${option}`);
}

const LINES = documentsIn(ROOT).flatMap(linesOf);

test('there are many', () => {
  expect(LINES.length).toBeGreaterThan(150);
});

test('each names a command and options that exist', async () => {
  const wrong: string[] = [];
  for (const line of LINES) wrong.push(...(await wrongIn(line)));
  expect(wrong).toEqual([]);
});
