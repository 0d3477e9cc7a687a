/**
 * Which saved files are code of a project: those that were loaded, and those that what was loaded names. A bundle, a case
 * or a report that a command writes beside the code is none of them.
 * Invariants: a file counts rather than not where nobody can tell; what is read to find out is bounded.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';

const CODE = /^\.[cm]?[jt]sx?$/;
const SOURCES_MAX = 500;
const SOURCE_BYTES_MAX = 1024 * 1024;

/** `loaded`: files of the project, the configuration among them. `changed`: those that were saved. */
export function codeAmong(
  changed: readonly string[],
  loaded: ReadonlySet<string>,
): readonly string[] {
  const others = changed.filter((file) => !loaded.has(file));
  if (others.length === 0) return changed;
  const sources = [...loaded].slice(0, SOURCES_MAX).map(sourceOf);
  // What is saved may be a module that another one of them names.
  const named = new Set<string>();
  for (let size = -1; size < named.size;) {
    size = named.size;
    for (const file of others) {
      if (named.has(file) || !sources.some((source) => names(source, file))) continue;
      named.add(file);
      if (CODE.test(extname(file))) sources.push(sourceOf(file));
    }
  }
  return changed.filter((file) => loaded.has(file) || named.has(file));
}

/** '': it is gone, or larger than code is. */
function sourceOf(file: string): string {
  try {
    return statSync(file).size > SOURCE_BYTES_MAX ? '' : readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A name may be put together (`${agent}.md`), and a folder may be listed. */
function names(source: string, file: string): boolean {
  const [name, extension] = [basename(file), extname(file)];
  if (CODE.test(extension)) return source.includes(`/${name.slice(0, -extension.length)}`);
  if (source.includes(name)) return true;
  const ending = `[}'"\`]${extension.replace('.', '\\.')}['"\`]`;
  return /\breaddir/.test(source) || new RegExp(ending).test(source);
}
