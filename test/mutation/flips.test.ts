/** The rules that are broken on purpose: each is still where it is broken, in a copy that runs. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLIPS } from '../../lab/mutation/flips.js';
import { copySources } from '../../lab/mutation/judge.js';

const ROOT = join(__dirname, '..', '..');

test.each(FLIPS)('there is one place for: $name', ({ file, find, replace }) => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});

test('the copy that they are broken in has everything that plays a fixture', () => {
  const copy = copySources(ROOT);
  try {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'cli/main.ts', 'eval', 'test/scenarios/A', '--json', 'report.json'],
      { cwd: copy.folder, encoding: 'utf8' },
    );
    expect({ status, stderr }).toMatchObject({ status: 0 });
  } finally {
    copy.remove();
  }
});
