/** The way of one call through the core stays short enough to be walked by a reader. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

test('one approved refund enters at most thirty files of the core, none above 250 lines', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'lab/walk/main.ts')],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/rules that fired: dispatch(, dispatch)*, calls settled/);
});
