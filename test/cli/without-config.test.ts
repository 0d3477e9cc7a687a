/** Commands that need of the configuration the connection alone, where it cannot be loaded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-broken-'));
  writeFileSync(join(folder, 'holdfast.config.js'), 'throw new Error("secrets are not here");');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function said(
  words: readonly string[],
  variables: Record<string, string> = {},
): Promise<string> {
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const environment = {
    variables: { HOLDFAST_ADDRESS: '127.0.0.1:1', ...variables },
    folder,
    colour: false,
    interactive: false,
  };
  expect(await runCli(words, { environment, streams })).not.toBe(0);
  return err;
}

test('the error says how to do without it, and HOLDFAST_CONFIG=none does', async () => {
  const broken = await said(['watch', 'run_1']);
  expect(broken).toContain('secrets are not here');
  expect(broken).toContain('HOLDFAST_CONFIG=none leaves the configuration out');
  const without = await said(['watch', 'run_1'], { HOLDFAST_CONFIG: 'none' });
  expect(without).not.toContain('secrets are not here');
  expect(without).toContain('No Temporal server answers at 127.0.0.1:1');
});

test('a decision asks the configuration all the same, and a worker needs one', async () => {
  const words = { HOLDFAST_CONFIG: 'none' };
  expect(await said(['approve', 'run_1:0', '--as', 'mia'], words)).toContain(
    'secrets are not here',
  );
  expect(await said(['worker'], words)).toContain(
    'HOLDFAST_CONFIG=none is for commands that serve nothing',
  );
});
