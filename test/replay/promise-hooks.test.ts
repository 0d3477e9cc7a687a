/** What a replay leaves behind in its process. */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import { readBundle } from '../../replay/read-bundle.js';
import { replayRun, replayRunsOf } from '../../replay/strict-replay.js';
import { keptBundles } from './recordings.js';

test('promises are as cheap after replays as before them, also when two ran at once', async () => {
  const [one, other] = await Promise.all(keptBundles().slice(0, 2).map(readBundle));
  const slow = replayRunsOf([one!, other!]);
  await slow.next();
  await replayRun(other!);
  expect(globalHandlers.installed).toBe(true);
  await slow.next();
  await slow.return();
  expect(globalHandlers.installed).toBe(false);
  expect((await replayRun(one!)).equal).toBe(true);
  expect(globalHandlers.installed).toBe(false);
});
