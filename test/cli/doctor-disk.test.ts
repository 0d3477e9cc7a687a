/** What doctor says of the disk under a store: a full one lets the store be read. */
import { roomAt } from '../../cli/doctor/store.js';

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
