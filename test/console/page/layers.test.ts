/** Imports of the page go down only: no file of a folder uses one of a folder above it, and no two use each other. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const ROOT = join(__dirname, '..', '..', '..');
const PAGE = 'console/page/';
/** From below to above. */
const FOLDERS = [
  'data',
  'parts',
  'decide',
  'card',
  'steps',
  'run',
  'runs',
  'goals',
  'inbox',
  'controls',
  'shell',
  'app.tsx',
];

/** By the names of files in the page's folder: what each of them imports, types aside. */
function imports(): ReadonlyMap<string, readonly string[]> {
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [`${PAGE}app.tsx`],
    bundle: true,
    write: false,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const own = (path: string): boolean => path.startsWith(PAGE);
  const nameOf = (path: string): string => path.slice(PAGE.length);
  const files = Object.entries(metafile.inputs).filter(([path]) => own(path));
  return new Map(
    files.map(([path, file]) => [
      nameOf(path),
      file.imports.flatMap((one) => (own(one.path) ? [nameOf(one.path)] : [])),
    ]),
  );
}

const rankOf = (file: string): number => FOLDERS.indexOf(file.split('/')[0] ?? '');

test('no file imports one of a folder above its own', () => {
  const files = imports();
  expect(files.size).toBeGreaterThan(50);
  for (const [file, used] of files) {
    expect([file, rankOf(file)]).not.toEqual([file, -1]);
    expect([file, used.filter((one) => rankOf(one) > rankOf(file))]).toEqual([file, []]);
  }
});

test('no file imports itself by way of others', () => {
  const files = imports();
  const done = new Set<string>();
  const look = (file: string, way: readonly string[]): void => {
    expect(way).not.toContain(file);
    if (done.has(file)) return;
    for (const one of files.get(file) ?? []) look(one, [...way, file]);
    done.add(file);
  };
  for (const file of files.keys()) look(file, []);
});
