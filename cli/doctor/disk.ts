/** The disk that a store in a file lies on: its room, and how long it takes to sync. */
import { randomUUID } from 'node:crypto';
import type { StatsFs } from 'node:fs';
import { open, rm, statfs, type FileHandle } from 'node:fs/promises';
import { isStoreUrl } from '../../store/place.js';
import type { StoreSync } from '../../store/store.js';
import { broken, warning, type Check } from './check.js';

/** A commit needs some pages, and the log of the database grows before it is cut back. */
const ROOM_BYTES_MIN = 1024 * 1024;
/** Longer syncs keep a worker of a dozen busy runs from much of its other work; ms. */
const SYNC_MS_MAX = 2;
const SYNCS = 5;
/** Longer ones tell all with the first; ms. */
const SLOW_MS = 100;
const PAGE = Buffer.alloc(4_096);

/** A full disk lets a store be read. Nothing is known of a database elsewhere, and of file systems that tell no size. */
export async function roomAt(
  place: string,
  look: (place: string) => Promise<Pick<StatsFs, 'bavail' | 'bsize' | 'blocks'>> = statfs,
): Promise<readonly Check[]> {
  const facts = await look(place).catch(() => undefined);
  if (facts === undefined || facts.blocks === 0) return [];
  const bytes = facts.bavail * facts.bsize;
  if (bytes >= ROOM_BYTES_MIN) return [];
  return [
    broken(
      'disk',
      `${Math.floor(bytes / 1024)} KiB are left where the store lies`,
      'Free disk space there. Runs wait meanwhile, and go on by themselves.',
    ),
  ];
}

/** Each turn of a run waits for two syncs. Nothing is told of a disk that cannot be written here. */
export async function syncsAt(
  place: string,
  sync: StoreSync = 'each',
  measure: (place: string) => Promise<number> = syncMs,
): Promise<readonly Check[]> {
  if (sync === 'shared' || isStoreUrl(place)) return [];
  const ms = await measure(place).catch(() => 0);
  if (ms <= SYNC_MS_MAX) return [];
  return [
    warning(
      'disk',
      `a sync takes ${ms.toFixed(1)} ms where the store lies, and a worker without HOLDFAST_STORE_SYNC=shared stands still for it`,
      'Set HOLDFAST_STORE_SYNC=shared for all processes that use the store.',
    ),
  ];
}

/** The least time of a few, of a file beside the store: others may use the disk as well; ms. */
async function syncMs(place: string): Promise<number> {
  const file = `${place}.${randomUUID()}.tmp`;
  const opened = await open(file, 'wx', 0o600);
  try {
    // Where a name may go before the file does, nothing is left of a command that is ended meanwhile.
    await rm(file).catch(() => undefined);
    // A log that is in use does not grow.
    await timed(opened);
    const times: number[] = [];
    while (times.length < SYNCS && (times[0] ?? 0) < SLOW_MS) times.push(await timed(opened));
    return Math.min(...times);
  } finally {
    await opened.close().catch(() => undefined);
    await rm(file, { force: true });
  }
}

async function timed(opened: FileHandle): Promise<number> {
  await opened.write(PAGE, 0, PAGE.length, 0);
  const began = performance.now();
  await opened.datasync();
  return performance.now() - began;
}
