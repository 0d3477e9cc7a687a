/** What a fork of a goal may spend. */
import { join } from 'node:path';
import { foldOf, type GoalFold } from '../../recording/fold.js';
import { goalForkAt } from '../../recording/goal-fork.js';
import { readBundle } from '../../replay/read-bundle.js';

const KEPT = join(__dirname, '../../histories/rules-12/goal-changes-other-goal.json.gz');

test('a limit that is named below what was spent is refused, the hard one as well', async () => {
  const fold = foldOf(await readBundle(KEPT)) as GoalFold;
  const step = 8;
  const { spentMicroUsd, budget } = goalForkAt(fold, step);
  expect(spentMicroUsd).toBeGreaterThan(1);
  expect(budget.hardMaxCostMicroUsd).toBeGreaterThan(0);
  for (const field of ['maxCostMicroUsd', 'hardMaxCostMicroUsd'] as const) {
    expect(() => goalForkAt(fold, step, { [field]: 1 })).toThrow(
      expect.objectContaining({
        code: 'ForkRefused',
        message: `Of ${field} (1) nothing was left at this step.`,
        hint: `Name a limit above ${spentMicroUsd} with --budget ${field}=…, or an earlier step.`,
      }),
    );
  }
});
