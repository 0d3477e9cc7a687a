/**
 * Sees that files of a project were saved, by looking: notices of file systems are lost in containers, over networks and
 * where too many folders are watched.
 * Invariants: a change is told once, when two looks in a row have seen the same file, whatever others do meanwhile; looks
 * never overlap; the first look at a folder has no news, but for one that was made below a folder that is looked at; what
 * is written without a rest is told when it rests.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SavedFile } from './project-files.js';

const EVERY_MS = 250;
/** A look takes a fifth of the time at most. */
const PAUSE_OF_LOOK = 4;
const FOLDERS_MAX = 256;
const FILES_MAX = 5_000;
/** Told so often within `OFTEN_MS`, a file has to rest so long. */
const OFTEN = 5;
const OFTEN_MS = 30_000;
const REST_MS = 2_000;
/** Sources, and what they read. */
const WATCHED = /^[^.].*\.(?:[cm]?[jt]sx?|json|ya?ml|md|txt)$/;
/** What compilers and test runners write; a folder that code is loaded from is looked at whatever its name is. */
const UNWATCHED_FOLDER = /^\.|^(?:node_modules|build|dist|out|coverage)$/;

export interface WatchSettings {
  /** With all folders below it, but hidden ones, packages, and what is built. */
  readonly root?: string;
  /** Asked at each look; what lies in folders below them is not looked at. */
  readonly folders: () => readonly string[];
  /** Gets the files that were written, made or removed. */
  readonly changed: (files: readonly SavedFile[]) => void;
  /** Told once, where not all of it is looked at: `256 folders`. */
  readonly beyond?: (what: string) => void;
  /** Between two looks, ms. */
  readonly everyMs?: number;
  /** A file that is written without a rest has to rest so long, ms. */
  readonly restMs?: number;
}

export interface Watcher {
  stop(): void;
}

/** What tells two versions of a file apart; GONE: there is none. */
type Mark = string;
const GONE: Mark = 'gone';

interface Known {
  /** What was told last, or was there at first. */
  told: Mark;
  /** What the last look saw, and since when it is so. */
  seen: Mark;
  since: number;
  /** Of its last writing, ms since epoch. */
  at: number;
  /** When it was told, the last few times. */
  times: readonly number[];
}

export async function watchFiles(settings: WatchSettings): Promise<Watcher> {
  const { changed, beyond, everyMs = EVERY_MS, restMs = REST_MS } = settings;
  const known = new Map<string, Known>();
  let folders: ReadonlySet<string> = new Set();
  let isTold = false;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const look = async (): Promise<void> => {
    const seen = await lookAt(settings, folders);
    const now = Date.now();
    const saved: SavedFile[] = [];
    for (const { file, mark, at, isNews } of seen.files) {
      const before = known.get(file);
      if (before === undefined) {
        const told = isNews ? GONE : mark;
        known.set(file, { told, seen: mark, since: now, at, times: [] });
      } else if (before.seen !== mark) Object.assign(before, { seen: mark, since: now, at });
    }
    const present = new Set(seen.files.map(({ file }) => file));
    for (const [file, one] of known) {
      if (!present.has(file) && one.seen !== GONE) {
        Object.assign(one, { seen: GONE, since: now, at: now });
        continue;
      }
      if (one.since === now || one.seen === one.told) {
        if (one.seen === GONE && one.told === GONE) known.delete(file);
        continue;
      }
      const times = one.times.filter((time) => now - time < OFTEN_MS);
      if (times.length >= OFTEN && now - one.since < restMs) continue;
      saved.push({ file, at: one.at, isNew: one.told === GONE });
      Object.assign(one, { told: one.seen, times: [...times, now].slice(-OFTEN) });
    }
    folders = seen.folders;
    if (seen.beyond !== undefined && !isTold) beyond?.(seen.beyond);
    isTold ||= seen.beyond !== undefined;
    if (saved.length > 0 && !isOver) changed(saved);
  };
  const later = (tookMs: number): void => {
    const pauseMs = Math.max(everyMs, PAUSE_OF_LOOK * tookMs);
    if (!isOver) timer = setTimeout(() => void timed(look).then(later), pauseMs);
  };

  later(await timed(look));
  return {
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** A look that fails is followed by another one. */
async function timed(look: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await look().catch(() => undefined);
  return performance.now() - from;
}

interface Seen {
  readonly files: readonly SeenFile[];
  readonly folders: ReadonlySet<string>;
  /** What there are more of. */
  readonly beyond?: string;
}

interface SeenFile {
  readonly file: string;
  readonly mark: Mark;
  readonly at: number;
  /** Its folder was looked at before, or made below one that was. */
  readonly isNews: boolean;
}

async function lookAt(
  { root, folders }: Pick<WatchSettings, 'root' | 'folders'>,
  before: ReadonlySet<string>,
): Promise<Seen> {
  const isBelow = new Map<string, boolean>(folders().map((folder) => [folder, false]));
  if (root !== undefined) isBelow.set(root, true);
  const news = new Set([...isBelow.keys()].filter((folder) => before.has(folder)));
  const files: SeenFile[] = [];
  let beyond: string | undefined;
  // A map gives what is set while it is gone through.
  for (const [folder, isDeep] of isBelow) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const isNews = news.has(folder);
    const names = entries.filter((one) => !one.isDirectory() && WATCHED.test(one.name));
    const found = await Promise.all(names.map(({ name }) => fileSeen(join(folder, name))));
    const all = found.flatMap((one) => (one === undefined ? [] : [{ ...one, isNews }]));
    if (files.length + all.length > FILES_MAX) beyond = `${FILES_MAX} files`;
    files.push(...all.slice(0, FILES_MAX - files.length));
    for (const entry of isDeep ? entries : []) {
      if (!entry.isDirectory() || UNWATCHED_FOLDER.test(entry.name)) continue;
      const inner = join(folder, entry.name);
      if (isBelow.size >= FOLDERS_MAX && !isBelow.has(inner)) beyond ??= `${FOLDERS_MAX} folders`;
      else isBelow.set(inner, true);
      if (isNews) news.add(inner);
    }
  }
  const looked = new Set(isBelow.keys());
  return { files, folders: looked, ...(beyond !== undefined && { beyond }) };
}

async function fileSeen(file: string): Promise<Omit<SeenFile, 'isNews'> | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  const { mtimeMs, size, ino } = found;
  return { file, mark: `${mtimeMs} ${size} ${ino}`, at: mtimeMs };
}
