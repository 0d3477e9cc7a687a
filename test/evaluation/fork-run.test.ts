/** Options of a fork from code: what cannot be used is refused by name before anything is read. */
import type { HoldfastClient } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { forkRun, type ForkRunOptions } from '../../evaluation/fork/fork-run.js';
import { defineAgent } from '../../index.js';
import type { Store } from '../../store/store.js';

/** Whoever asks it for anything has gone too far. */
const CLIENT = {} as HoldfastClient;
const RUN = { store: { putFork: () => 'digest' } as unknown as Store, runId: 'run_1', at: 3 };

const AGENT = { name: 'desk', model: 'scripted/x', instructions: 'Work.' };

function refusal(options: unknown): Promise<unknown> {
  return forkRun(CLIENT, options as ForkRunOptions).then(
    () => 'started',
    (error: unknown) => (error instanceof HoldfastError ? [error.code, error.message] : error),
  );
}

test.each<[object, string]>([
  [
    { store: undefined },
    'The option store of forkRun is missing: it must be what openStore gives.',
  ],
  [{ store: {} }, 'The option store of forkRun cannot be used'],
  [{ runId: ' ' }, 'The option runId of forkRun cannot be used'],
  [{ at: undefined }, 'The option at of forkRun is missing'],
  [{ at: 'first' }, "it must be the number of a step, or 'last'"],
  [{ at: 0 }, 'The option at of forkRun cannot be used'],
  [{ messsage: 'Go on.' }, 'forkRun has no option messsage.'],
  [{ step: 3 }, 'forkRun has no option step.'],
  [{ message: '' }, 'The option message of forkRun cannot be used'],
  [{ model: 7 }, 'The option model of forkRun cannot be used'],
  [{ policy: 'policy.json' }, 'The option policy of forkRun cannot be used'],
  [{ results: ['paid'] }, 'The option results of forkRun cannot be used'],
  [{ results: { call_1: 1 } }, 'The option results of forkRun cannot be used'],
  [{ budget: { maxTurn: 5 } }, 'forkRun: budget'],
  [{ budget: { maxTurns: -1 } }, 'forkRun: budget.maxTurns is not allowed'],
  [{ config: { agent: [] } }, 'The option config of forkRun cannot be used'],
  [{ config: { agents: [{}] } }, 'it must be what defineConfig gives'],
  [
    { config: defineAgent({ ...AGENT, agents: { a: { description: 'A.', prompt: 'B.' } } }) },
    'it must be what defineConfig gives',
  ],
  [{ tool: 'pay@2' }, 'forkRun has a tool without a configuration.'],
  [{ policy: { rules: [{ tool: 'x', decision: 'no' }] } }, 'forkRun: policy.rules.0.decision'],
  [{ policy: {} }, 'forkRun: policy.rules is not allowed'],
  [{ forkId: 'no blanks' }, 'The option forkId of forkRun cannot be used'],
  [{ forkId: 'parent:c1' }, 'The option forkId of forkRun cannot be used'],
  [{ rules: 'oldest' }, 'The option rules of forkRun cannot be used: it must be one of newest.'],
  [{ wait: 'no' }, 'The option wait of forkRun cannot be used'],
])('%p', async (given, message) => {
  expect(await refusal({ ...RUN, ...given })).toEqual([
    'InvalidConfig',
    expect.stringContaining(message),
  ]);
});

test('no options at all, and a model that nobody knows', async () => {
  expect(await refusal(undefined)).toEqual([
    'InvalidConfig',
    'forkRun takes an object of options, and got nothing.',
  ]);
  expect(await refusal({ ...RUN, model: 'nobody/nothing' })).toEqual([
    'UnknownModel',
    expect.stringContaining('nobody/nothing'),
  ]);
});
