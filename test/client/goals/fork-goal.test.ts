/** What a fork of a goal refuses before anything is written or started. */
import { forkGoal, type GoalForkOptions } from '../../../client/goals/fork-goal.js';
import type { Link } from '../../../client/link.js';

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
