/** What a person is told to do after a run that was cancelled: a session is named only where there is one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../store/store.js';
import { call, calls } from '../core/script.js';
import { createShell, finish, send, settle } from '../core/shell.js';
import { holdfastAt } from '../integration/support/cli-at.js';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-next-'));
  const shell = settle(
    createShell({
      policy: [{ tool: 'send_email', decision: 'allow' }],
      model: [calls(call('a', 'send_email', { text: 'hi' }))],
      outcomes: { send_email: [{ ambiguous: 'reset' }] },
    }),
  );
  send(shell, { type: 'interrupt' });
  finish(shell);
  const store = await openStore({ file: join(folder, 'store.db') });
  const source = { tenant: 'default', runId: 'run_1', execution: 'e' };
  await store.appendEvents(source, shell.events);
  await store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const holdfast = (...argv: readonly string[]) =>
  holdfastAt({ folder, address: '127.0.0.1:1' }, argv);

const NEXT =
  /Next:? +A person must find out first whether send_email with key case:0 took effect\. The run keeps no session: start a new run with `[^`]*holdfast start .*case 'TASK'`\./;

test.each([
  ['show', []],
  ['show', ['--events', '1']],
  ['explain', []],
])('%s %j says to look first, and to start a new run', async (command, more) => {
  const { out } = await holdfast(command, 'run_1', ...more);
  expect(out).toMatch(NEXT);
  expect(out).not.toContain('Resume');
});

test('the record of the run keeps the words of its result', async () => {
  const { out } = await holdfast('show', 'run_1', '--json');
  const { run } = JSON.parse(out) as { run: { result: unknown } };
  expect(run.result).toMatchObject({ nextSafeAction: 'Start a new run.' });
});
