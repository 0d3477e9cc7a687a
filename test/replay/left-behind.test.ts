/** What a replay leaves behind in its process. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import { readBundle } from '../../replay/read-bundle.js';
import { replayRun, replayRunsOf } from '../../replay/strict-replay.js';
import { compiledPath } from '../compiled.js';
import { keptBundles } from './recordings.js';

const REPLAY = join(__dirname, '..', '..', 'replay', 'strict-replay.ts');

test('a process that was given no history to replay ends', () => {
  const code = `
    const { replayRunsOf } = require(${JSON.stringify(compiledPath(REPLAY))});
    replayRunsOf([]).next().then(({ done }) => console.log('over', done));`;
  const { stdout, status, error } = spawnSync(process.execPath, ['-e', code], {
    timeout: 30_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  expect({ stdout, status, error }).toEqual({ stdout: 'over true\n', status: 0, error: undefined });
}, 60_000);

test('promises cost the same in a process that replays as in any other, also while two replays run', async () => {
  const [one, other] = await Promise.all(keptBundles().slice(0, 2).map(readBundle));
  const slow = replayRunsOf([one!, other!]);
  await slow.next();
  expect((await replayRun(other!)).equal).toBe(true);
  await slow.next();
  await slow.return();
  expect(globalHandlers.installed).toBe(false);
});
