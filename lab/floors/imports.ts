/** What the files of a tree import from each other, types counted. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** By file, the files of the tree that it imports; paths from the root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const SPECIFIER =
  /^(?:import|export)\b[^'";]*?\bfrom '(\.[^']*)'|^import '(\.[^']*)'|\bimport\('(\.[^']*)'\)/gm;
const SOURCE = /(?<!\.d)\.tsx?$/;
const ENDINGS = ['.ts', '.tsx', '/index.ts', ''];

export function importsIn(root: string, entries: readonly string[]): Imports {
  const files = entries.flatMap((entry) => sourcesIn(root, entry));
  const known = new Set(files);
  return new Map(files.map((file) => [file, importedBy(root, file, known)]));
}

function sourcesIn(root: string, entry: string): readonly string[] {
  if (SOURCE.test(entry)) return existsSync(join(root, entry)) ? [entry] : [];
  if (!existsSync(join(root, entry))) return [];
  return readdirSync(join(root, entry), { withFileTypes: true }).flatMap((one) =>
    one.name.startsWith('.') || one.name === 'node_modules'
      ? []
      : one.isDirectory() || SOURCE.test(one.name)
        ? sourcesIn(root, `${entry}/${one.name}`)
        : [],
  );
}

function importedBy(root: string, file: string, known: ReadonlySet<string>): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = new Set<string>();
  for (const [, named, bare, dynamic] of text.matchAll(SPECIFIER)) {
    const path = normalize(join(dirname(file), named ?? bare ?? dynamic ?? ''));
    const stem = path.replace(/\.jsx?$/, '');
    const target = ENDINGS.map((ending) => `${stem}${ending}`).find((one) => known.has(one));
    if (target !== undefined && target !== file) found.add(target);
  }
  return [...found];
}

/** Files that import each other, each circle once. */
export function circlesIn(imports: Imports): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    const number = order.size;
    order.set(file, number);
    lowest.set(file, number);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) {
        lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!));
      }
    }
    if (lowest.get(file) !== number) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles;
}
