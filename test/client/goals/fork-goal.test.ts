/** What a fork of a goal refuses before anything is written or started. */
import { forkGoal, type GoalForkOptions } from '../../../client/goals/fork-goal.js';
import type { Link } from '../../../client/link.js';
import { HoldfastError } from '../../../core/state/errors.js';
import { openMemoryStore } from '../../../store/store.js';
import { GOAL_RUN } from '../../../workflows/messages.js';

test.each(['', 'x'.repeat(4_001)])(
  'words that no goal takes start no fork: neither a row nor a goal is left behind',
  async (message) => {
    const asked: string[] = [];
    const store = new Proxy({}, { get: (_, name) => () => void asked.push(String(name)) });
    const options = { goalId: 'march', step: 4, store, message } as unknown as GoalForkOptions;
    await expect(forkGoal({ tenant: 'default' } as Link, options)).rejects.toMatchObject({
      code: 'InvalidTask',
      message: expect.stringContaining('at most 4000 characters'),
    });
    expect(asked).toEqual([]);
  },
);

test('a misspelt option starts no fork, and is named', async () => {
  const options = { goalId: 'march', step: 4, mesage: 'Leave.' } as unknown as GoalForkOptions;
  await expect(forkGoal({ tenant: 'default' } as Link, options)).rejects.toMatchObject({
    code: 'InvalidTask',
    details: { path: 'mesage' },
    hint: expect.stringContaining('message'),
  });
});

const DEFINITION = {
  objective: 'Collect.',
  agent: 'collector',
  done: { all: [{ plan: 'complete' }] },
  pace: 'continuous',
  budget: { maxCostMicroUsd: 1_000_000 },
};

interface Started {
  readonly memo: object;
}
interface Said {
  readonly args: readonly [{ readonly id: string; readonly text: string }];
  readonly updateId?: string;
}

const lost = () => new HoldfastError('ServerUnavailable', 'The answer was lost.');

const busy = () => ({ accepted: false, reason: 'busy', message: 'too much waits' });

/** A server that fails so at the first message; to an Update it has answered it answers the same. */
function losing(failure: () => Error | ReturnType<typeof busy> = lost) {
  const said: (readonly [string, string])[] = [];
  const answers = new Map<string, unknown>();
  let goal: object | undefined;
  const handle = {
    describe: async () => {
      if (goal === undefined) throw new HoldfastError('RunNotFound', 'There is no goal.');
      return goal;
    },
    executeUpdate: async (_: unknown, { args: [{ id, text }], updateId = '' }: Said) => {
      said.push([id, text]);
      const failed = said.length === 1 ? failure() : undefined;
      if (failed instanceof Error) throw failed;
      const answer = answers.get(updateId) ?? failed ?? { accepted: true };
      if (updateId !== '') answers.set(updateId, answer);
      return answer;
    },
    signal: async () => {
      throw failure();
    },
    result: async () => ({}),
  };
  const start = async (_: string, { memo }: Started) => {
    const typedSearchAttributes = { get: () => 'default' };
    // One that has ended is waited for by nobody.
    const status = { name: 'COMPLETED' };
    goal = { type: GOAL_RUN, memo, typedSearchAttributes, status, raw: {}, runId: 'e' };
  };
  const connection = { withDeadline: (_: number, work: () => unknown) => work() };
  const workflow = { getHandle: () => handle, start };
  const place = { namespace: 'default', taskQueue: 'holdfast', tenant: 'default' };
  return { said, link: { ...place, connection, temporal: { workflow } } as unknown as Link };
}

async function forks({ link }: { readonly link: Link }) {
  const store = await openMemoryStore();
  const { $blob: definition } = await store.putBlob('default', JSON.stringify(DEFINITION));
  const options = {
    goalId: 'march',
    step: 3,
    checkpoint: 'c'.repeat(64),
    forkId: 'march-2',
    definition,
    agent: DEFINITION.agent,
    budget: DEFINITION.budget,
    pace: 'continuous' as const,
    store,
  };
  return { store, fork: (message: string) => forkGoal(link, { ...options, message }) };
}

test('a fork that is asked for again says its message under the same name, and takes no other one', async () => {
  const server = losing();
  const { store, fork } = await forks(server);
  try {
    await expect(fork('Pay Adler.')).rejects.toThrow('The answer was lost.');
    expect(await fork('Pay Adler.')).toBe('march-2');
    await expect(fork('Pay Beck.')).rejects.toMatchObject({ code: 'RunExists' });
    const [[first] = []] = server.said;
    expect(server.said).toEqual([
      [first, 'Pay Adler.'],
      [first, 'Pay Adler.'],
    ]);
  } finally {
    await store.close();
  }
});

test('a message that found the goal busy is heard when the fork is asked for again', async () => {
  const { store, fork } = await forks(losing(busy));
  try {
    await expect(fork('Pay Adler.')).rejects.toMatchObject({ details: { reason: 'busy' } });
    expect(await fork('Pay Adler.')).toBe('march-2');
  } finally {
    await store.close();
  }
});

test('a fork that has ended when its message comes says so', async () => {
  const server = losing(() => new HoldfastError('RunNotFound', 'It has ended.'));
  const { store, fork } = await forks(server);
  try {
    await expect(fork('Leave.')).rejects.toMatchObject({
      code: 'MessageRefused',
      message: 'The goal march-2 was started and has ended, so the message did not reach it now.',
      details: { reason: 'goal_ended', runId: 'march-2' },
    });
  } finally {
    await store.close();
  }
});
