/**
 * Compiled modules load one another at first use (build-lazy.cjs). A process that serves loads all that it may need before
 * it takes work: a release that is installed over it must not be mixed with it, and no call waits for a module.
 * Invariant: sources, which load one another at once, are not touched.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

/** As the compiler writes it; a module of this package by its path, others by name. */
const LOADED = /\brequire\("([^"]+)"\)/g;

const load = createRequire(__filename);
/** Whose own imports have been looked at, or will be in the walk that found it. */
const loaded = new Set<string>();
const walks = new Map<string, Promise<void>>();
/** Walks follow one another: each leaves out what the ones before have loaded. */
let last = Promise.resolve();

/** What goes on meanwhile, as a connection or a thread does, waits for no longer than this, and for one module. */
const AT_ONCE_MS = 5;

/** `file`: the absolute path of a module; all modules of this package that it leads to, and the packages that they name. */
export async function loadWhole(file: string): Promise<void> {
  if (!file.endsWith('.js')) return;
  const walk = walks.get(file) ?? (last = last.then(() => walkFrom(file)));
  walks.set(file, walk);
  await walk;
}

async function walkFrom(file: string): Promise<void> {
  let began = performance.now();
  const modules = new Set([file]);
  // The set grows while it is walked, by modules of this package alone.
  for (const module of modules) {
    for (const name of namesIn(module)) {
      const found = name.startsWith('.') ? join(dirname(module), name) : name;
      if (loaded.has(found)) continue;
      if (found === name) loadNow(name);
      else modules.add(found);
    }
    loadNow(module);
    if (performance.now() - began < AT_ONCE_MS) continue;
    await turn();
    began = performance.now();
  }
}

function namesIn(module: string): string[] {
  const code = readFileSync(module, 'utf8');
  return Array.from(code.matchAll(LOADED), ([, name = '']) => name);
}

/** The first use of a package that does not load tells why. */
function loadNow(name: string): void {
  loaded.add(name);
  try {
    load(name);
  } catch {
    // Told at that use.
  }
}
