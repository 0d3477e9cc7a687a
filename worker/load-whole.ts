/**
 * Compiled modules load one another at first use (build-lazy.cjs). A process that serves loads all that it may need before
 * it takes work, or right after: a release that is installed over it must not be mixed with it, and no call waits for a
 * module later.
 * Invariant: sources, which load one another at once, are not touched.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

/** As the compiler writes it; a module of this package by its path, others by name. */
const LOADED = /\brequire\("([^"]+)"\)/g;
/** What goes on meanwhile waits for no longer than this, and for one module. */
const AT_ONCE_MS = 5;

const load = createRequire(__filename);
const loaded = new Set<string>();
/** With all that they lead to. */
const whole = new Set<string>();

/**
 * `file`: the absolute path of a module; all modules of this package that it leads to, and the packages that they name.
 * `restMs`: how long the process does other things after each few milliseconds of loading, which then keeps no process
 * alive; default: as long as there is something to do.
 */
export async function loadWhole(file: string, restMs?: number): Promise<void> {
  if (!file.endsWith('.js') || whole.has(file)) return;
  let began = performance.now();
  const modules = new Set([file]);
  // The set grows while it is walked, by modules of this package alone.
  for (const module of modules) {
    for (const name of namesIn(module)) {
      const found = name.startsWith('.') ? join(dirname(module), name) : name;
      if (found === name) loadNow(name);
      else if (!whole.has(found)) modules.add(found);
    }
    loadNow(module);
    if (performance.now() - began < AT_ONCE_MS) continue;
    await (restMs === undefined ? turn() : pause(restMs, undefined, { ref: false }));
    began = performance.now();
  }
  for (const module of modules) whole.add(module);
}

function namesIn(module: string): string[] {
  const code = readFileSync(module, 'utf8');
  return Array.from(code.matchAll(LOADED), ([, name = '']) => name);
}

/** The first use of a package that does not load tells why. */
function loadNow(name: string): void {
  if (loaded.has(name)) return;
  loaded.add(name);
  try {
    load(name);
  } catch {
    // Told at that use.
  }
}
