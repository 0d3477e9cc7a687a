/**
 * Compiled modules load one another at first use (build-lazy.cjs). A process that serves loads all that it may need before
 * it takes work: a release that is installed over it must not be mixed with it, and no call waits for a module.
 * Invariant: sources, which load one another at once, are not touched.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** As the compiler writes it; a module of this package by its path, others by name. */
const LOADED = /\brequire\("([^"]+)"\)/g;

const loaded = new Set<string>();

/** `file`: the absolute path of a module; all modules of this package that it leads to, and the packages that they name. */
export function loadWhole(file: string): void {
  if (!file.endsWith('.js') || loaded.has(file)) return;
  const modules = new Set([file]);
  // The set grows while it is walked, by modules of this package alone.
  for (const module of modules) {
    const load = createRequire(module);
    for (const [, name = ''] of readFileSync(module, 'utf8').matchAll(LOADED)) {
      if (name.startsWith('.')) modules.add(load.resolve(name));
      else loadNow(load, name);
    }
    loadNow(load, module);
  }
  loaded.add(file);
}

/** The first use of a package that does not load tells why. */
function loadNow(load: NodeJS.Require, name: string): void {
  try {
    load(name);
  } catch {
    // Told at that use.
  }
}
