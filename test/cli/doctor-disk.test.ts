/** What doctor says of the disk under a store: a full one lets the store be read. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { roomAt, syncsAt } from '../../cli/doctor/disk.js';

const disk =
  (bavail: number, blocks = 1_000) =>
  async () => ({ bavail, bsize: 4_096, blocks });

test('a disk without room is broken, with what frees the runs', async () => {
  expect(await roomAt('/data/store.db', disk(3))).toEqual([
    {
      name: 'disk',
      status: 'broken',
      found: '12 KiB are left where the store lies',
      mend: 'Free disk space there. Runs wait meanwhile, and go on by themselves.',
    },
  ]);
});

test.each([
  ['room', disk(256)],
  ['a file system that tells no size', disk(0, 0)],
  ['a database elsewhere', () => Promise.reject(new Error('ENOENT'))],
])('of %s nothing is said', async (_, look) => {
  expect(await roomAt('postgres://db/holdfast', look)).toEqual([]);
});

const takes = (ms: number) => async () => ms;

test('a disk whose syncs take milliseconds is a warning, with the setting for it', async () => {
  expect(await syncsAt('/data/store.db', undefined, takes(6.04))).toEqual([
    {
      name: 'disk',
      status: 'warning',
      found:
        'a sync takes 6.0 ms where the store lies, and a worker without HOLDFAST_STORE_SYNC=shared stands still for it',
      mend: 'Set HOLDFAST_STORE_SYNC=shared for all processes that use the store.',
    },
  ]);
});

test.each([
  ['is quick', '/data/store.db', 'each', takes(0.4)],
  ['is told to share its syncs', '/data/store.db', 'shared', takes(9)],
  ['cannot be written', '/data/store.db', 'each', () => Promise.reject(new Error('EROFS'))],
  ['is elsewhere', 'postgres://db/holdfast', 'each', takes(9)],
] as const)('of the syncs of a disk that %s nothing is said', async (_, place, sync, measure) => {
  expect(await syncsAt(place, sync, measure)).toEqual([]);
});

test('looking at the syncs of a disk leaves nothing beside the store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-disk-'));
  try {
    const found = await syncsAt(join(folder, 'store.db'));
    expect(found.length).toBeLessThanOrEqual(1);
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
