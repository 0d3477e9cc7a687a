/**
 * A store whose calls share syncs: whoever is told of something is told after a sync that began later. What the disk has at
 * each moment is what lay in the files when the last sync that is over began.
 */
import fs, { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobOf } from '../../store/blobs.js';
import { openStore, openStoreAt, type Store, type StoreCalls } from '../../store/store.js';
import { saySeed, SEED } from '../seed.js';

const TENANT = 'acme';
let folder: string;
let file: string;
const opened: Store[] = [];
let free: (() => void) | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-sync-'));
  file = join(folder, 'store.db');
});

afterEach(async () => {
  free?.();
  jest.restoreAllMocks();
  for (const store of opened.splice(0)) await store.close();
  await rm(folder, { recursive: true });
});

type Ended = (error: NodeJS.ErrnoException | null) => void;

/** Syncs that end when they are told to. */
interface Syncs {
  /** How many began. */
  count(): number;
  /** Ends the oldest of those that are under way. */
  end(error?: Error): void;
  /** From now on each ends at once. */
  free(): void;
}

/** On Linux and elsewhere another call of the system syncs. */
function heldSyncs(): Syncs {
  const waiting: Ended[] = [];
  let count = 0;
  let isFree = false;
  const held = ((_: number, ended: Ended) => {
    count += 1;
    if (isFree) setImmediate(ended, null);
    else waiting.push(ended);
  }) as typeof fs.fsync;
  jest.spyOn(fs, 'fdatasync').mockImplementation(held);
  jest.spyOn(fs, 'fsync').mockImplementation(held);
  free = () => {
    isFree = true;
    for (const ended of waiting.splice(0)) ended(null);
  };
  return {
    count: () => count,
    end: (error) => waiting.shift()?.(error ?? null),
    free,
  };
}

async function open(sync: 'each' | 'shared' = 'shared'): Promise<Store> {
  const store = await openStore({ file, sync });
  opened.push(store);
  return store;
}

/** One that has nothing left to sync. */
async function settledStore(): Promise<Store> {
  const store = await open();
  await put(store, 'first');
  return store;
}

async function put(store: Pick<StoreCalls, 'putBlob'>, text: string): Promise<string> {
  return (await store.putBlob(TENANT, text)).$blob;
}

async function isPending(call: Promise<unknown>): Promise<boolean> {
  const late = Symbol('late');
  // Whatever is ready by now comes before.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([call, Promise.resolve(late)])) === late;
}

test('a call is over when a sync that began after its commit is', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  expect(syncs.count()).toBe(1);
  syncs.end();
  await write;
});

test('a sync that was under way does not count for what is committed meanwhile', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const early = put(store, 'early');
  expect(await isPending(early)).toBe(true);
  const late = put(store, 'late');
  expect(await isPending(late)).toBe(true);
  syncs.end();
  await early;
  expect(await isPending(late)).toBe(true);
  syncs.end();
  await late;
});

test('the calls of a moment share one sync', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const first = put(store, 'first of all');
  expect(await isPending(first)).toBe(true);
  const others = Array.from({ length: 20 }, (_, at) =>
    store.together((calls) => calls.putBlob(TENANT, `other ${at}`)),
  );
  expect(await isPending(Promise.race(others))).toBe(true);
  syncs.free();
  await Promise.all([first, ...others]);
  expect(syncs.count()).toBe(2);
});

test('a sync that begins while a transaction is open does not count for its commit', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  const claim = store.together(async (calls) => {
    await put(calls, 'claim');
    // The sync of the other call begins in here.
    for (let look = 0; look < 10; look += 1) await put(calls, 'claim');
  });
  expect(await isPending(Promise.race([write, claim]))).toBe(true);
  expect(syncs.count()).toBe(1);
  syncs.end();
  expect(await isPending(claim)).toBe(true);
  syncs.free();
  await Promise.all([write, claim]);
  expect(syncs.count()).toBe(2);
});

test('a read waits for what it may have seen, and one that sees nothing new for nothing', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  await store.listAsks(TENANT, { pendingOnly: true, limit: 1 });
  expect(syncs.count()).toBe(0);
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const read = store.listAsks(TENANT, { pendingOnly: true, limit: 1 });
  expect(await isPending(read)).toBe(true);
  expect(syncs.count()).toBe(1);
  syncs.end();
  await Promise.all([write, read]);
});

test('a read of what another process may have written has it synced', async () => {
  const [reader, writer] = [await settledStore(), await open()];
  await reader.health();
  const syncs = heldSyncs();
  const write = put(writer, 'second');
  expect(await isPending(write)).toBe(true);
  const read = reader.listAsks(TENANT, { pendingOnly: true, limit: 1 });
  expect(await isPending(read)).toBe(true);
  expect(syncs.count()).toBe(2);
  syncs.free();
  await Promise.all([write, read]);
});

test.each([
  ['a transaction', (store: Store) => store.together(() => Promise.reject(new Error('not now')))],
  ['a call', (store: Store) => store.getText(TENANT, { $blob: 'gone', bytes: 4, preview: '' })],
])('what %s refuses is told after a sync as well', async (_, ask) => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const refused = ask(store).then(
    () => 'told',
    () => 'refused',
  );
  expect(await isPending(refused)).toBe(true);
  syncs.free();
  await write;
  expect(await refused).toBe('refused');
});

test('after a sync that failed nothing is told any more, and no other is tried', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const waiting = put(store, 'third');
  const both = Promise.allSettled([write, waiting]);
  expect(await isPending(both)).toBe(true);
  syncs.end(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
  for (const { status, ...rest } of await both) {
    expect(status).toBe('rejected');
    expect(rest).toMatchObject({ reason: { code: 'StoreUnavailable' } });
  }
  await expect(store.listAsks(TENANT, { pendingOnly: true, limit: 1 })).rejects.toMatchObject({
    code: 'StoreUnavailable',
    hint: 'Look after the disk, end all processes that use the store, then start them again.',
  });
  await expect(store.health()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  expect(syncs.count()).toBe(1);
});

test('after a sync that failed nothing more is written', async () => {
  const [store, other] = [await settledStore(), await open('each')];
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const failed = expect(write).rejects.toMatchObject({ code: 'StoreUnavailable' });
  syncs.end(new Error('EIO'));
  await failed;
  await expect(put(store, 'third')).rejects.toMatchObject({ code: 'StoreUnavailable' });
  const late = store.together((calls) => put(calls, 'fourth'));
  await expect(late).rejects.toMatchObject({ code: 'StoreUnavailable' });
  const found = await Promise.all(
    ['second', 'third', 'fourth'].map((text) => other.getBlob(TENANT, blobOf(text).ref.$blob)),
  );
  expect(found).toEqual(['second', undefined, undefined]);
});

test('a log that cannot be opened refuses the store at once, and leaves no connection', async () => {
  await settledStore();
  const { openSync } = fs;
  jest.spyOn(fs, 'openSync').mockImplementation((path, ...how) => {
    if (!String(path).endsWith('-wal')) return openSync(path, ...how);
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  });
  await expect(open()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  jest.restoreAllMocks();
  await put(await open(), 'after it');
});

test('a store that is closed waits for the syncs that others wait for', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const late = put(store, 'third');
  expect(await isPending(late)).toBe(true);
  const closed = opened.pop()?.close();
  syncs.end();
  await write;
  expect(await isPending(Promise.resolve(closed))).toBe(true);
  syncs.end();
  await Promise.all([late, closed]);
});

test('a store whose sync failed is closed at once', async () => {
  const store = await settledStore();
  const syncs = heldSyncs();
  const write = put(store, 'second');
  expect(await isPending(write)).toBe(true);
  const both = Promise.allSettled([write, put(store, 'third')]);
  expect(await isPending(both)).toBe(true);
  syncs.end(new Error('EIO'));
  await both;
  await opened.pop()?.close();
  await expect(put(store, 'fourth')).rejects.toMatchObject({ code: 'StoreUnavailable' });
});

test('by default each commit syncs itself, and no call waits for another sync', async () => {
  const syncs = heldSyncs();
  await put(await open('each'), 'first');
  expect(syncs.count()).toBe(0);
});

test('for a database of PostgreSQL shared syncs are refused, with what to unset', async () => {
  await expect(openStoreAt('postgres://127.0.0.1:1/none', 'shared')).rejects.toMatchObject({
    code: 'InvalidConfig',
    hint: 'Unset HOLDFAST_STORE_SYNC, or leave the option out: PostgreSQL shares the syncs of a moment by itself.',
  });
});

test.each(['nonsense', true, null])('a store whose syncs are to be %j is refused', async (sync) => {
  const options = { file, sync } as unknown as Parameters<typeof openStore>[0];
  await expect(openStore(options)).rejects.toMatchObject({
    code: 'InvalidConfig',
    message: `The syncs of a store cannot be ${sync}.`,
  });
});

const CUTS = 20;
const WRITERS = 8;
/** The log is copied into the file, and begun anew, a few times. */
const ROUNDS = 40;
const PAYLOAD_BYTES = 20_000;

test('a power cut at any moment leaves everything that somebody was told of', async () => {
  saySeed(`${CUTS} power cuts`);
  const store = await settledStore();
  const onDisk = diskOf();
  const told: string[] = [];
  const cuts: { readonly image: string; readonly told: readonly string[] }[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const text = `${writer}.${round}.`.padEnd(PAYLOAD_BYTES, 'x');
      const hash =
        round % 2 === 0
          ? await put(store, text)
          : await store.together((calls) => put(calls, text));
      told.push(hash);
      if ((writer * ROUNDS + round + SEED) % ((WRITERS * ROUNDS) / CUTS) === 0) {
        cuts.push({ image: onDisk.kept(), told: [...told] });
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  expect(cuts).toHaveLength(CUTS);
  for (const { image, told: known } of cuts) {
    const after = await openStore({ file: image, sync: 'shared' });
    const lost = await Promise.all(
      known.map(async (hash) => (await after.getBlob(TENANT, hash)) === undefined),
    );
    await after.close();
    expect(lost.filter(Boolean)).toHaveLength(0);
  }
});

/** What the disk has: what lay in the files when the last sync that is over began. */
function diskOf(): { kept(): string } {
  let images = 0;
  let current = '';
  const image = (): string => {
    const place = join(folder, `image-${(images += 1)}.db`);
    copyFileSync(file, place);
    copyFileSync(`${file}-wal`, `${place}-wal`);
    return place;
  };
  current = image();
  const slow = ((_: number, ended: Ended) => {
    const taken = image();
    setTimeout(() => {
      current = taken;
      ended(null);
    }, 1);
  }) as typeof fs.fsync;
  jest.spyOn(fs, 'fdatasync').mockImplementation(slow);
  jest.spyOn(fs, 'fsync').mockImplementation(slow);
  return { kept: () => current };
}
