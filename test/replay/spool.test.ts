/** Texts that wait on a disk: read back as they were, and an error of the disk names the folder and what to do. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSpool, type Spool, type Stretch } from '../../replay/stream/spool.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function textOf(spool: Spool, stretch: Stretch): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of spool.read(stretch)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** More than is held before it is written. */
const LONG = 'ä'.repeat(300 * 1024);

test('what was put is read back in any order, and the file has no name', async () => {
  const spool = await openSpool(folder);
  try {
    const texts = ['one', LONG, '', 'the last'];
    const places: Stretch[] = [];
    for (const text of texts) places.push(await spool.put([text]));
    expect(readdirSync(folder)).toEqual([]);
    for (const index of [3, 0, 2, 1]) {
      expect(await textOf(spool, places[index]!)).toBe(texts[index]);
    }
  } finally {
    await spool.close();
  }
});

test('a folder that cannot be used is named, with the code of the system and what to do', async () => {
  const missing = join(folder, 'missing');
  await expect(openSpool(missing)).rejects.toMatchObject({
    code: 'FileUnusable',
    message: `The folder ${missing} cannot keep the parts of a run that are read (ENOENT).`,
    hint: expect.stringMatching(/-o for an export, TMPDIR for other commands/) as string,
    details: { code: 'ENOENT', folder: missing },
  });
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(openSpool(file)).rejects.toMatchObject({ details: { code: 'ENOTDIR' } });
});

test('a disk that takes or gives nothing any more is a FileUnusable as well', async () => {
  const spool = await openSpool(folder);
  const written = await spool.put([LONG]);
  // As good as a disk that is gone: the system refuses every use of the handle.
  await spool.close();
  const unusable = { code: 'FileUnusable', details: { code: 'EBADF', folder } };
  await expect(spool.put([LONG])).rejects.toMatchObject(unusable);
  await expect(textOf(spool, written)).rejects.toMatchObject(unusable);
});
