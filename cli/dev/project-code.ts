/**
 * The code of a project, loaded anew as often as its files change.
 * Invariants: only files of the project are loaded anew: packages, and Holdfast itself, stay what they are, so that there
 * is one of each; what could not be loaded changes nothing.
 */
import { dirname, join, sep } from 'node:path';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { findConfig, loadConfig } from '../../worker/load-config.js';
import { workTimes } from './work-times.js';

/** Of this copy of Holdfast. */
const OWN_ROOT = join(__dirname, '..', '..');
const PACKAGES = `${sep}node_modules${sep}`;
const LOAD_LIMIT_MS = 30_000;

export interface ProjectCode {
  /** Errors: InvalidConfig, also where a load does not end; UnknownModel and others of the configuration. */
  load(): Promise<Config>;
  /** Of the configuration. */
  readonly folder: string;
  /** Folders of the files that it is made of. */
  folders(): readonly string[];
  isLoaded(file: string): boolean;
  /** `at`: ms since epoch; of the last loads. */
  wasLoading(at: number): boolean;
}

export interface ProjectPlace {
  readonly folder: string;
  readonly configFile?: string | undefined;
  /** Of one load, ms; default 30 s. */
  readonly limitMs?: number;
}

export function projectCode({ folder, configFile, limitMs }: ProjectPlace): ProjectCode {
  const file = configFile ?? findConfig(folder);
  const project = file === undefined ? folder : dirname(file);
  const seen = new Set<string>();
  const loads = workTimes();
  const ownModules = (): readonly string[] =>
    Object.keys(require.cache).filter((path) => isOfProject(path, project));
  return {
    async load() {
      for (const path of ownModules()) delete require.cache[path];
      const end = loads.begin();
      try {
        return await within(
          loadConfig({ folder, ...(file !== undefined && { file }), anew: true }),
          limitMs ?? LOAD_LIMIT_MS,
        );
      } finally {
        end();
        for (const path of ownModules()) seen.add(dirname(path));
      }
    },
    folder: project,
    // Also what was loaded later. Node keeps what it imports itself elsewhere.
    isLoaded: (path) => path === file || path in require.cache,
    wasLoading: (at) => loads.covers(at),
    folders: () => [...seen],
  };
}

/** What comes later is not heard: the next load begins with modules of its own. */
async function within<T>(loading: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(endless(limitMs)), limitMs);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

function endless(limitMs: number): HoldfastError {
  return new HoldfastError(
    'InvalidConfig',
    `The code of the project is not loaded after ${limitMs / 1_000} s.`,
    { hint: 'Look for an `await` at the top of a module that never ends.' },
  );
}

function isOfProject(path: string, project: string): boolean {
  if (path.includes(PACKAGES)) return false;
  if (path.startsWith(`${project}${sep}`) && !OWN_ROOT.startsWith(`${project}${sep}`)) return true;
  return path !== OWN_ROOT && !path.startsWith(`${OWN_ROOT}${sep}`);
}

const FRAME = /(?:\(|at |^)(?:file:\/\/)?((?:[A-Za-z]:)?[^():\n]+\.[cm]?[jt]sx?):(\d+)/;
const CAUSES_MAX = 8;

/** Where in the project an error stands, `file:line`, for columns are those of the compiled code; undefined: nowhere that could be told. */
export function placeOfError(error: unknown, folder: string): string | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Object; depth += 1) {
    const { filename, loc } = cause as { filename?: unknown; loc?: { line?: unknown } };
    if (typeof filename === 'string' && typeof loc?.line === 'number') {
      return `${shown(filename, folder)}:${loc.line}`;
    }
    cause = (cause as { cause?: unknown }).cause;
  }
  cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Object; depth += 1) {
    const found = frameOf((cause as { stack?: unknown }).stack, folder);
    if (found !== undefined) return found;
    cause = (cause as { cause?: unknown }).cause;
  }
  return undefined;
}

function frameOf(stack: unknown, folder: string): string | undefined {
  if (typeof stack !== 'string') return undefined;
  for (const line of stack.split('\n')) {
    const [, path = '', row] = FRAME.exec(line.trim()) ?? [];
    if (path === '' || path.startsWith('node:') || !isOfProject(path, folder)) continue;
    return `${shown(path, folder)}:${row}`;
  }
  return undefined;
}

function shown(path: string, folder: string): string {
  return path.startsWith(`${folder}${sep}`) ? path.slice(folder.length + 1) : path;
}

/** What went wrong, its place first, and what to do. */
export function loadFailureLines(error: unknown, folder: string): readonly string[] {
  const place = placeOfError(error, folder);
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof HoldfastError ? error.hint : undefined;
  return [
    `${place === undefined ? '' : `${place}: `}${message}`,
    ...(hint === undefined ? [] : [hint]),
  ];
}
