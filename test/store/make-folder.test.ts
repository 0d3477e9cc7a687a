import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../store/make-folder.js';
import { openStoreAt } from '../../store/store.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-folders-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder is made with those above it, which are named, and again makes nothing', () => {
  const wanted = join(folder, 'a', 'b');
  expect(makeFolder(wanted, 0o700)).toEqual([join(folder, 'a'), wanted]);
  expect(statSync(wanted).mode & 0o777).toBe(0o700);
  expect(makeFolder(wanted)).toEqual([]);
});

test('a data folder beside a project is nothing that git takes, and no other folder is touched', () => {
  const data = join(folder, 'project', '.holdfast');
  makeFolder(join(data, 'inner'));
  expect(readFileSync(join(data, '.gitignore'), 'utf8')).toBe('*\n');
  expect(existsSync(join(data, 'inner', '.gitignore'))).toBe(false);
  rmSync(join(data, '.gitignore'));
  makeFolder(data);
  expect(existsSync(join(data, '.gitignore'))).toBe(false);
});

test('below a file there is none', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file', 'b'))).toThrow('ENOTDIR');
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'a file system that takes no folders ends the attempt, and is no place for a store',
  async () => {
    expect(() => makeFolder('/proc/holdfast/store')).toThrow('ENOENT');
    await expect(openStoreAt('/proc/holdfast/store/store.db')).rejects.toMatchObject({
      code: 'StoreUnavailable',
    });
  },
);
