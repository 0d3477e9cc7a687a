/** Reports that take the place of earlier ones. */
import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../cli/new-file.js';
import { compiledPath } from '../compiled.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-report-'));
  file = join(folder, 'report.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = compiledPath(join(__dirname, '..', '..', 'cli', 'new-file.ts'));

test('a report takes the place and the mode of an earlier one, and no file is left beside it', async () => {
  await replaceFile(file, 'first');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, 'second', { mode: 0o644 });
  await replaceFile(file, 'third');
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['third', ['report.json']]);
});

test('a link stays one, and what is no plain file is written to', async () => {
  symlinkSync('report.json', join(folder, 'link.json'));
  writeFileSync(file, 'first');
  await replaceFile(join(folder, 'link.json'), 'second');
  expect(lstatSync(join(folder, 'link.json')).isSymbolicLink()).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('second');
  await replaceFile('/dev/null', 'nothing');
  expect(statSync('/dev/null').isFile()).toBe(false);
});

test('an earlier report is whole where the new one finds no room', () => {
  writeFileSync(file, 'earlier');
  // No process below this shell can make a file longer than nothing.
  const shell = `trap '' XFSZ; ulimit -f 0; exec "$0" -e "$1" "$2" "$3"`;
  const program = `require(process.argv[1]).replaceFile(process.argv[2], 'new').catch(({ code }) => process.stdout.write(code))`;
  const argv = ['-c', shell, process.execPath, program, SOURCE, file];
  const { stdout, stderr } = spawnSync('bash', argv, { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['EFBIG', '']);
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['earlier', ['report.json']]);
});
