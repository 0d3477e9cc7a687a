/**
 * Which saved files are code of a project: all that are watched but outputs, which are written again and again while the
 * project's own code is at work.
 * Invariants: a file that was loaded is no output; a file counts rather than not where nobody can tell, so each counts three
 * times before it is one, and one that is saved at another time is none any more; what is an output is told.
 */
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
  /** Tools, hooks or checks ran then, or the code was being loaded. */
  readonly wasAtWork: (at: number) => boolean;
  /** Hears of each output once. */
  readonly output: (file: string) => void;
}

const TIMES_MAX = 3;
const REMEMBERED_MAX = 5_000;

export function projectFiles({ isLoaded, wasAtWork, output }: ProjectFilesSettings): ProjectFiles {
  /** How often a file, or a new one of its kind in its folder, was written at work, without another time between. */
  const times = new Map<string, number>();
  const told = new Set<string>();

  function count(name: string): number {
    const next = (times.get(name) ?? 0) + 1;
    times.delete(name);
    times.set(name, next);
    if (times.size > REMEMBERED_MAX) times.delete(times.keys().next().value ?? name);
    return next;
  }

  function tell(name: string): void {
    if (told.has(name) || told.size >= REMEMBERED_MAX) return;
    told.add(name);
    output(name);
  }

  function isCode({ file, at, isNew }: SavedFile): boolean {
    if (isLoaded(file)) return true;
    const kind = join(dirname(file), `*${extname(file)}`);
    if (!wasAtWork(at)) {
      times.delete(file);
      if (isNew) times.delete(kind);
      return true;
    }
    if (isNew && count(kind) > TIMES_MAX) {
      // Also when it is written further.
      times.set(file, TIMES_MAX);
      tell(kind);
      return false;
    }
    if (count(file) <= TIMES_MAX) return true;
    // One of a kind that has been told.
    if (!told.has(kind)) tell(file);
    return false;
  }

  return { among: (saved) => saved.filter(isCode).map(({ file }) => file) };
}
