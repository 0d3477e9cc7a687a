/**
 * Which saved files are code of a project: all that are watched but what commands write, and outputs, which are written again
 * and again while the project's own code is at work. A load that writes what it wrote before is followed by no other one.
 * Invariants: a file that was loaded is no output, and a source is none of a tool; a file counts rather than not where nobody
 * can tell: what is written while code is loaded or tools are long at work counts three times, what is written in the moment
 * of a call once; one that is saved at another time is no output any more; what is an output is told.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

export interface SavedFile {
  readonly file: string;
  /** ms since epoch; of one that is gone: when that was seen. */
  readonly at: number;
  /** The watcher has not seen it before. */
  readonly isNew: boolean;
}

export interface ProjectFiles {
  /** Those that are code. */
  among(saved: readonly SavedFile[]): readonly string[];
}

export interface ProjectFilesSettings {
  readonly isLoaded: (file: string) => boolean;
  /** A command of Holdfast has written it: a report, a bundle, a case. */
  readonly isReport: (file: string) => boolean;
  /** The code was being loaded then. */
  readonly wasLoading: (at: number) => boolean;
  /** Tools, hooks or checks ran then. */
  readonly ranCode: (at: number) => boolean;
  /** The same, for a moment. */
  readonly ranBriefly: (at: number) => boolean;
  /** Hears of each output once. */
  readonly output: (file: string) => void;
}

const TIMES_MAX = 3;
const TIMES_MAX_BRIEF = 1;
const REMEMBERED_MAX = 5_000;
const SOURCE = /\.[cm]?[jt]sx?$/;
const CONTENT_BYTES_MAX = 1024 * 1024;

export function projectFiles(settings: ProjectFilesSettings): ProjectFiles {
  const { isLoaded, isReport, wasLoading, ranCode, ranBriefly, output } = settings;
  /** What loads wrote last. */
  const contents = new Map<string, string>();
  /** How often a file, or a new one of its kind in its folder, was written at work, without another time between. */
  const times = new Map<string, number>();
  const told = new Set<string>();

  function count(name: string): number {
    const next = (times.get(name) ?? 0) + 1;
    remember(times, name, next);
    return next;
  }

  function isAsBefore(file: string): boolean {
    const content = contentOf(file);
    const before = contents.get(file);
    if (content !== undefined) remember(contents, file, content);
    return content !== undefined && content === before;
  }

  function tell(name: string): void {
    if (told.has(name) || told.size >= REMEMBERED_MAX) return;
    told.add(name);
    output(name);
  }

  function isCode({ file, at, isNew }: SavedFile): boolean {
    if (wasLoading(at) && isAsBefore(file)) return false;
    if (isLoaded(file)) return true;
    if (isReport(file)) return false;
    const kind = join(dirname(file), `*${extname(file)}`);
    const isAtWork = wasLoading(at) || (!SOURCE.test(file) && ranCode(at));
    if (!isAtWork) {
      times.delete(file);
      if (isNew) times.delete(kind);
      return true;
    }
    const timesMax = !wasLoading(at) && ranBriefly(at) ? TIMES_MAX_BRIEF : TIMES_MAX;
    if (isNew && count(kind) > timesMax) {
      // Also when it is written further.
      times.set(file, TIMES_MAX);
      tell(kind);
      return false;
    }
    if (count(file) <= timesMax) return true;
    // One of a kind that has been told.
    if (!told.has(kind)) tell(file);
    return false;
  }

  return { among: (saved) => saved.filter(isCode).map(({ file }) => file) };
}

/** The oldest is forgotten. */
function remember<T>(all: Map<string, T>, name: string, value: T): void {
  all.delete(name);
  all.set(name, value);
  if (all.size > REMEMBERED_MAX) all.delete(all.keys().next().value ?? name);
}

/** Its digest; undefined: it is gone, or large. */
function contentOf(file: string): string | undefined {
  try {
    if (statSync(file).size > CONTENT_BYTES_MAX) return undefined;
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}
