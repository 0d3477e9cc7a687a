/**
 * Temporal enters the sandbox of a workflow several times for one activation. Under a time limit of its own each entry
 * starts a thread, which would be most of what a decision costs.
 */
import { Script } from 'node:vm';
import { readBundle } from '../../replay/read-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { keptBundles } from '../replay/recordings.js';

afterEach(() => jest.restoreAllMocks());

interface Entry {
  readonly called: string;
  readonly limitMs: number | undefined;
}

/** What Temporal calls in sandboxes, in order, from now on. */
function entriesIntoSandboxes(): readonly Entry[] {
  const entries: Entry[] = [];
  const enter = Script.prototype.runInContext;
  jest.spyOn(Script.prototype, 'runInContext').mockImplementation(function (
    this: Script,
    context,
    options,
  ) {
    const { __temporal_args: called } = context as { readonly __temporal_args?: unknown[] };
    const limitMs = typeof options === 'object' ? options.timeout : undefined;
    if (called !== undefined) entries.push({ called: String(called[1]), limitMs });
    return enter.call(this, context, options) as unknown;
  });
  return entries;
}

test('what came is decided on while Temporal asks the condition for it, so that it asks once an activation', async () => {
  const file = keptBundles().find((one) => one.includes('completed'))!;
  const entries = entriesIntoSandboxes();
  expect((await replayRun(await readBundle(file))).equal).toBe(true);
  const count = (name: string): number => entries.filter(({ called }) => called === name).length;
  expect(count('activate')).toBeGreaterThan(4);
  // Once more at the end, when the condition is settled.
  expect(count('tryUnblockConditions')).toBe(count('activate') + 1);
  expect(entries.filter(({ limitMs }) => limitMs !== undefined)).toEqual([]);
});
