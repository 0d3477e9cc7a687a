/**
 * Sees that files of a project were saved, by looking: notices of file systems are lost in containers, over networks and
 * where too many folders are watched.
 * Invariants: a change is told once, when two looks in a row have seen the same; looks never overlap; a folder that is
 * looked at for the first time has no news.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const EVERY_MS = 250;
const FILES_MAX = 5_000;
/** Sources, and what they read. */
const WATCHED = /^[^.].*\.(?:[cm]?[jt]sx?|json|ya?ml|md|txt)$/;

export interface WatchSettings {
  /** Asked at each look; what lies in folders below them is not looked at. */
  readonly folders: () => readonly string[];
  /** Gets the files that were written, made or removed. */
  readonly changed: (files: readonly string[]) => void;
  /** Between two looks, ms. */
  readonly everyMs?: number;
}

export interface Watcher {
  stop(): void;
}

/** What tells two versions of a file apart, by its path. */
type Marks = ReadonlyMap<string, string>;

export async function watchFiles(settings: WatchSettings): Promise<Watcher> {
  const { folders, changed, everyMs = EVERY_MS } = settings;
  const told = new Map<string, Marks>();
  const last = new Map<string, Marks>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const look = async (): Promise<void> => {
    const files: string[] = [];
    for (const folder of folders()) {
      const now = await marksIn(folder);
      const isSettled = differences(last.get(folder) ?? now, now).length === 0;
      last.set(folder, now);
      if (!isSettled) continue;
      files.push(...differences(told.get(folder) ?? now, now));
      told.set(folder, now);
    }
    if (files.length > 0 && !isOver) changed(files);
  };
  const later = (): void => {
    if (!isOver) timer = setTimeout(() => void look().then(later, later), everyMs);
  };

  await look();
  later();
  return {
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** A folder that cannot be read has none. */
async function marksIn(folder: string): Promise<Marks> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((one) => !one.isDirectory() && WATCHED.test(one.name));
  const marks = new Map<string, string>();
  for (const { name } of names.slice(0, FILES_MAX)) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined) marks.set(file, `${found.mtimeMs} ${found.size} ${found.ino}`);
  }
  return marks;
}

function differences(before: Marks, now: Marks): readonly string[] {
  const written = [...now].filter(([file, mark]) => before.get(file) !== mark);
  const gone = [...before.keys()].filter((file) => !now.has(file));
  return [...written.map(([file]) => file), ...gone];
}
