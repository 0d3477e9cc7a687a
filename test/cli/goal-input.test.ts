/** What `holdfast goal start` makes of a definition and of the limits beside it. */
import { Readable } from 'node:stream';
import { readGoal, startBudget } from '../../cli/commands/goal/goal-input.js';
import type { Session } from '../../cli/session.js';

const reading = (budget: string, ...options: readonly string[]) =>
  readGoal({} as Session, {
    named: '-',
    folder: '/',
    input: Readable.from([
      `objective: All matched.\nagent: matcher\ndone: {all: [{plan: complete}]}\nbudget: ${budget}\n`,
    ]),
    budget: startBudget(options),
  });

test('a limit of the command takes the place of that of the file, in whichever unit that says it', async () => {
  const file = '{maxCostUsd: 2, hardMaxCostUsd: 3}';
  const goal = await reading(file, 'maxCostUsd=5', 'hardMaxCostUsd=9');
  expect(goal.budget).toMatchObject({ maxCostMicroUsd: 5e6, hardMaxCostMicroUsd: 9e6 });
  const other = await reading('{maxCostMicroUsd: 2000000}', 'maxCostUsd=5', 'maxCycles=7');
  expect(other.budget).toMatchObject({ maxCostMicroUsd: 5e6, maxCycles: 7 });
  expect((await reading(file, 'maxCycles=7')).budget).toMatchObject({
    maxCostMicroUsd: 2e6,
    hardMaxCostMicroUsd: 3e6,
  });
});

test('an amount that can only be micro-USD by another name is refused', async () => {
  expect(() => startBudget(['maxCostUsd=500000'])).toThrow('look like micro-USD');
  await expect(reading('{maxCostUsd: 2000000}')).rejects.toThrow('budget.maxCostUsd');
});
