/**
 * An older copy takes the store's place while runs are under way: what an operator does after a loss. All workers are
 * stopped for it, as docs/operate/postgres.md demands of operators, and started again on the copy.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { connect } from '../../client/index.js';
import { ROOT } from '../seal/kept-histories.js';
import { keep } from '../../store/sqlite/kept.js';
import { openStoreAt } from '../../store/store.js';
import { TASK_QUEUE, type Place } from './place.js';

export interface Restoring {
  readonly runs: number;
  readonly signal: AbortSignal;
  readonly tell: (what: string) => void;
  /** While it is set nobody else kills workers. */
  readonly held: { workers: boolean };
}

/** Of the runs, how many have paid when the store is copied, and when the copy takes its place: what is between is lost. */
const PAID = { atCopy: 0.1, atReturn: 0.5 } as const;
const POLL_MS = 200;

export async function restoreStore(
  place: Place,
  { runs, signal, tell, held }: Restoring,
): Promise<void> {
  await untilPaid(place, runs * PAID.atCopy, signal);
  const copy = join(place.folder, 'store.copy');
  await copyStore(place, copy);
  tell('the store is copied');
  await untilPaid(place, runs * PAID.atReturn, signal);
  if (signal.aborted) return;
  held.workers = true;
  await Promise.all(place.workers.map((worker) => worker.hold()));
  await place.client.close();
  await place.store.close();
  putBack(place, copy);
  tellHoldfast(place, tell);
  place.store = await openStoreAt(place.storePlace);
  const { address } = place.server;
  place.client = await connect({ address, taskQueue: TASK_QUEUE, store: place.store });
  for (const worker of place.workers) worker.release();
  held.workers = false;
  tell('the copy has taken the place of the store');
}

async function untilPaid({ service }: Place, least: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await service.payments()).length < least) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** By the database's own means: a copy of files that are written is none. */
async function copyStore({ postgres, storePlace }: Place, copy: string): Promise<void> {
  if (postgres !== undefined) return postgres.dump(copy);
  const db = keep(new Sqlite(storePlace, { readonly: true }));
  await db.backup(copy);
  db.close();
}

function putBack({ postgres, storePlace }: Place, copy: string): void {
  if (postgres !== undefined) return postgres.restore(copy);
  for (const rest of ['-wal', '-shm']) rmSync(`${storePlace}${rest}`, { force: true });
  copyFileSync(copy, storePlace);
}

/** The command that tells Holdfast that its store is an older one than Temporal's database. */
function tellHoldfast({ storePlace, server }: Place, tell: (what: string) => void): void {
  const cli = join(ROOT, 'dist', 'cli', 'main.js');
  const env = { ...process.env, HOLDFAST_STORE: storePlace, HOLDFAST_ADDRESS: server.address };
  const told = spawnSync('node', [cli, 'store', 'restored', '--as', 'chaos'], {
    env,
    encoding: 'utf8',
  });
  if (told.status === 0) return tell(told.stdout.trim());
  tell(`\`holdfast store restored\` ended with ${told.status}: ${told.stderr.trim()}`);
}
