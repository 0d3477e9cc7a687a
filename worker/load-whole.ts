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

const requires = new Map<string, NodeJS.Require>();
/** Modules, and packages by the folder of who names them. */
const loaded = new Set<string>();
/** Modules with all that they lead to. */
const whole = new Set<string>();

/** For what is loaded beside other work. */
export interface Leisurely {
  /** How long the process does other things after each few milliseconds of loading; it keeps no process alive. */
  readonly restMs: number;
  /** Ends the loading. */
  readonly signal: AbortSignal;
}

/**
 * `file`: the absolute path of a module; all modules of this package that it leads to, and the packages that they name.
 * Without `leisurely` other things are done only where there are some.
 */
export async function loadWhole(file: string, leisurely?: Leisurely): Promise<void> {
  if (!file.endsWith('.js') || whole.has(file)) return;
  let began = performance.now();
  const modules = new Set([file]);
  // The set grows while it is walked, by modules of this package alone.
  for (const module of modules) {
    for (const found of modulesOf(module)) if (!whole.has(found)) modules.add(found);
    loadNow(requireIn(dirname(module)), module, module);
    if (performance.now() - began < AT_ONCE_MS) continue;
    await (leisurely === undefined ? turn() : pause(leisurely.restMs, undefined, { ref: false }));
    if (leisurely?.signal.aborted) return;
    began = performance.now();
  }
  for (const module of modules) whole.add(module);
}

/** Compiled modules in a folder and below it that this process has loaded. */
export function loadedIn(folder: string): readonly string[] {
  const inFolder = join(folder, '/');
  return Object.keys(requireIn(folder).cache).filter((file) => file.startsWith(inFolder));
}

/** Those of this package; the others that it names are loaded. */
function modulesOf(module: string): string[] {
  const folder = dirname(module);
  const from = requireIn(folder);
  const names = Array.from(readFileSync(module, 'utf8').matchAll(LOADED), ([, name = '']) => name);
  const isOwn = (name: string): boolean => name.startsWith('.');
  for (const name of names) if (!isOwn(name)) loadNow(from, name, `${folder}\0${name}`);
  // Node keeps what it has found from a folder: at the first use no file has to be there.
  return names.filter(isOwn).map((name) => from.resolve(name));
}

/** The first use of what does not load tells why. */
function loadNow(from: NodeJS.Require, name: string, key: string): void {
  if (loaded.has(key)) return;
  loaded.add(key);
  try {
    from(name);
  } catch {
    // Told at that use.
  }
}

function requireIn(folder: string): NodeJS.Require {
  const from = requires.get(folder) ?? createRequire(join(folder, 'any.js'));
  requires.set(folder, from);
  return from;
}
