/**
 * Temporal enters the sandbox of a workflow several times for one activation, each time under a time limit of its own,
 * which is most of what a decision costs.
 */
import { Script } from 'node:vm';
import { readBundle } from '../../replay/read-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { keptBundles } from '../replay/recordings.js';

afterEach(() => jest.restoreAllMocks());

/** Names of what Temporal calls in sandboxes, in order, from now on. */
function callsIntoSandboxes(): readonly string[] {
  const calls: string[] = [];
  const enter = Script.prototype.runInContext;
  jest.spyOn(Script.prototype, 'runInContext').mockImplementation(function (
    this: Script,
    context,
    options,
  ) {
    const { __temporal_args: called } = context as { readonly __temporal_args?: unknown[] };
    if (called !== undefined) calls.push(String(called[1]));
    return enter.call(this, context, options) as unknown;
  });
  return calls;
}

test('what came is decided on while Temporal asks the condition for it, so that it asks once an activation', async () => {
  const file = keptBundles().find((one) => one.includes('completed'))!;
  const calls = callsIntoSandboxes();
  expect((await replayRun(await readBundle(file))).equal).toBe(true);
  const count = (name: string): number => calls.filter((one) => one === name).length;
  expect(count('activate')).toBeGreaterThan(4);
  // Once more at the end, when the condition is settled.
  expect(count('tryUnblockConditions')).toBe(count('activate') + 1);
});
