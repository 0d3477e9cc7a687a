/** What a replay leaves behind in its process. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compiledPath } from '../compiled.js';
import { keptBundles } from './recordings.js';

const REPLAY = join(__dirname, '..', '..', 'replay', 'strict-replay.ts');
const READ = join(__dirname, '..', '..', 'replay', 'read-bundle.ts');

/** A process that does not end by itself is one that fails. */
const LIMITED = { timeout: 30_000, killSignal: 'SIGKILL', encoding: 'utf8' } as const;

test('a process that was given no history to replay ends', () => {
  const code = `
    const { replayRunsOf } = require(${JSON.stringify(compiledPath(REPLAY))});
    replayRunsOf([]).next().then(({ done }) => console.log('over', done));`;
  const { stdout, status, error } = spawnSync(process.execPath, ['-e', code], LIMITED);
  expect({ stdout, status, error }).toEqual({ stdout: 'over true\n', status: 0, error: undefined });
}, 60_000);

// In a process of its own: in this one other tests may have replayed by the SDK alone.
test('promises cost the same in a process that replays as in any other, also while two replays run', () => {
  const code = `
    const { globalHandlers } = require(${JSON.stringify(require.resolve('@temporalio/worker/lib/workflow/vm-shared'))});
    const { readBundle } = require(${JSON.stringify(compiledPath(READ))});
    const { replayRun, replayRunsOf } = require(${JSON.stringify(compiledPath(REPLAY))});
    void (async () => {
      const [one, other] = await Promise.all(${JSON.stringify(keptBundles().slice(0, 2))}.map(readBundle));
      const slow = replayRunsOf([one, other]);
      await slow.next();
      const { equal } = await replayRun(other);
      await slow.next();
      await slow.return();
      console.log(JSON.stringify({ equal, hooked: globalHandlers.installed }));
    })();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], LIMITED);
  expect({ stdout, stderr }).toEqual({ stdout: '{"equal":true,"hooked":false}\n', stderr: '' });
});
