/** A key of the desk on a disk without room. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeskKey, readDeskKey } from '../../../client/index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-desk-key-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a disk without room is named, and the empty file is no hindrance afterwards', async () => {
  const file = join(folder, 'desk-key.json');
  const full = Object.assign(new Error('ENOSPC: no space left'), {
    code: 'ENOSPC',
    syscall: 'write',
  });
  jest.spyOn(promises, 'writeFile').mockImplementationOnce(() => {
    writeFileSync(file, '');
    return Promise.reject(full);
  });
  await expect(createDeskKey(file)).rejects.toMatchObject({
    code: 'FileUnusable',
    message: expect.stringContaining('no room left'),
    hint: expect.stringMatching(/^Free disk space/),
  });
  expect(existsSync(file)).toBe(false);
  const { key } = await createDeskKey(file);
  expect((await readDeskKey(file)).key).toEqual(key);
});

test('a key that is there already is left as it is, and what can be done about it is said', async () => {
  const file = join(folder, 'desk-key.json');
  const { key } = await createDeskKey(file);
  await expect(createDeskKey(file)).rejects.toMatchObject({
    code: 'InvalidConfig',
    message: expect.stringContaining('There is a key in'),
    hint: expect.stringMatching(/holdfast keys rotate.*name another file/),
  });
  expect((await readDeskKey(file)).key).toEqual(key);
});

test('another file that is there already is called no key', async () => {
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'Notes.');
  await expect(createDeskKey(file)).rejects.toMatchObject({
    code: 'InvalidConfig',
    hint: expect.stringMatching(/^Name a file that does not exist yet/),
  });
  expect(readFileSync(file, 'utf8')).toBe('Notes.');
});
