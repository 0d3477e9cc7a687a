/**
 * Blocks of TypeScript in documents as programs that a compiler accepts: names that a block uses and does not declare come from the
 * blocks before it, from `snippet-context.ts`, or from the package's public entry.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..', '..');

export interface Snippet {
  /** The document and the number of the block's first line. */
  readonly place: string;
  /** The file of the program, without its ending. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
  /** A block that holds fields of an object says of which type: `<!-- part of: Config -->` on the line before. */
  readonly partOf: string | undefined;
}

export interface Program {
  readonly snippet: Snippet;
  readonly source: string;
}

const LANGUAGES = ['ts', 'tsx', 'js'];

/** The blocks of a document in its order. */
export function snippetsOf(document: string): readonly Snippet[] {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  const snippets: Snippet[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, language] = /^```(\w+)$/.exec(lines[at]!) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    const before = lines.slice(0, at).findLast((line) => line.trim() !== '');
    if (LANGUAGES.includes(language)) {
      snippets.push({
        place: `${document}:${at + 1}`,
        name: `${document.replace(/\.md$/, '').replaceAll(/\W+/g, '-').toLowerCase()}-${snippets.length + 1}`,
        language,
        code: lines.slice(at + 1, end).join('\n'),
        partOf: /^<!-- part of: (.+) -->$/.exec(before ?? '')?.[1],
      });
    }
    at = end;
  }
  return snippets;
}

/** Names that `export { … } from` of a file lists; of types as well. */
export function namesExportedBy(file: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, ''),
    ),
  );
  const declared = [
    ...text.matchAll(
      /^export (?:declare )?(?:async )?(?:const|function|class|interface|type) (\w+)/gm,
    ),
  ].map(([, name]) => name!);
  return new Set([...lists, ...declared].filter((name) => name !== ''));
}

const CONTEXT = namesExportedBy('test/docs/support/snippet-context.ts');
const PUBLIC = namesExportedBy('index.ts');

/** The programs of a document's blocks. */
export function programsOf(document: string): readonly Program[] {
  const declaredBy = new Map<string, string>();
  return snippetsOf(document).map((snippet) => {
    const code = withoutRelativeImports(codeOf(snippet));
    const own = declaredIn(code);
    const known = new Set([...own.values, ...own.types, ...importedIn(code)]);
    const wanted = [...wordsOf(code)].filter((word) => !known.has(word));
    const imports = wanted.flatMap((word) => importOf(word, declaredBy));
    const file = `./${snippet.name}.${snippet.language === 'tsx' ? 'js' : 'mjs'}`;
    for (const name of [...own.values, ...own.types]) declaredBy.set(name, file);
    return { snippet, source: [...imports, code, exportsOf(code, own)].join('\n') };
  });
}

function codeOf({ code, partOf }: Snippet): string {
  return partOf === undefined ? code : `export const part: Partial<${partOf}> = {\n${code}\n};`;
}

/** What a block imports from files of its reader. */
function withoutRelativeImports(code: string): string {
  return code.replaceAll(/^import [^;]*? from '\.[^']*';/gm, '');
}

interface Declared {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

function declaredIn(code: string): Declared {
  const named = (kinds: string): readonly string[] =>
    [
      ...code.matchAll(
        new RegExp(`^(?:export )?(?:declare )?(?:async )?(?:${kinds}) (\\w+)`, 'gm'),
      ),
    ].map(([, name]) => name!);
  const taken = [...code.matchAll(/^(?:export )?const \{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.trim().replace(/^\w+: /, '')),
  );
  const values = [...named('const|let|function|class'), ...taken].filter((name) => name !== '');
  return { values: [...new Set(values)], types: named('interface|type') };
}

function importedIn(code: string): readonly string[] {
  return [...code.matchAll(/^import ([^;]*?) from /gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/\w+/g)].map(([name]) => name),
  );
}

function wordsOf(code: string): ReadonlySet<string> {
  return new Set([...code.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].map(([word]) => word));
}

function importOf(word: string, declaredBy: ReadonlyMap<string, string>): readonly string[] {
  const before = declaredBy.get(word);
  if (before !== undefined) return [`import { ${word} } from '${before}';`];
  if (CONTEXT.has(word))
    return [`import { ${word} } from '../../test/docs/support/snippet-context.js';`];
  if (word === 'z') return ["import { z } from 'zod';"];
  if (PUBLIC.has(word)) return [`import { ${word} } from 'holdfast';`];
  return [];
}

/** A later block may use each name that this one declares. */
function exportsOf(code: string, { values, types }: Declared): string {
  const exported = (name: string) =>
    new RegExp(`^export (?:declare )?(?:async )?(?:\\w+) ${name}\\b`, 'm').test(code);
  const list = (names: readonly string[]) => names.filter((name) => !exported(name)).join(', ');
  return `export { ${list(values)} };\nexport type { ${list(types)} };\n`;
}
