/** What an editor shows beside a name of the package: each function, class and constant says what it is for. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const ENTRIES = ['index.ts', 'testing/index.ts', 'http/index.ts', 'worker/index.ts'];
const FOLDERS =
  'activities attachments authoring client connection connectors core evaluation http providers pure replay sandbox store testing worker'.split(
    ' ',
  );
const DECLARED = /(\*\/\n)?^export (?:async )?(?:abstract )?(?:function\*?|const|class) (\w+)/gm;

const documented = new Set<string>();
const declared = new Set<string>();
function readFolder(folder: string): string {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => name.endsWith('.ts'));
  return sources.map((file) => readFileSync(join(ROOT, folder, file), 'utf8')).join('\n');
}

for (const [, comment, name = ''] of FOLDERS.map(readFolder).join('\n').matchAll(DECLARED)) {
  declared.add(name);
  if (comment !== undefined) documented.add(name);
}

/** Values, by the names that they are declared under. */
function exported(entry: string): readonly string[] {
  const text = readFileSync(join(ROOT, entry), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
  return [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names = '']) =>
    type === undefined
      ? names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && !name.startsWith('type '))
          .map((name) => name.split(' as ')[0] ?? name)
      : [],
  );
}

test.each(ENTRIES)('%s exports nothing that has no words of its own', (entry) => {
  const names = exported(entry);
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => declared.has(name) && !documented.has(name))).toEqual([]);
});

test('names are found where they are declared', () => {
  for (const name of ['defineTool', 'connect', 'testAgent']) expect(documented).toContain(name);
});
