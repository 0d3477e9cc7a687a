import { defineGoal, normalGoal } from '../../../authoring/index.js';
import {
  checkGoal,
  checkGoalId,
  definitionDigest,
  type GoalRequest,
} from '../../../client/goals/check-goal.js';

const definition = {
  objective: 'All invoices of March are matched.',
  agent: 'matcher',
  done: { all: [{ plan: 'complete' as const }] },
  budget: { maxCostMicroUsd: 1_000_000 },
};

describe('the start of a goal', () => {
  it('has every default, whether the goal was defined or is plain JSON', () => {
    const defined = checkGoal({ goal: defineGoal({ name: 'march', ...definition }) });
    expect(defined).toEqual(checkGoal({ definition }));
    expect(defined.goal.budget.maxCycles).toBe(100);
  });

  it.each<[GoalRequest, string]>([
    [{}, 'goal cannot be used: it must be made with defineGoal'],
    [{ definition, goal: defineGoal({ name: 'm', ...definition }) }, 'give one of the two'],
    [{ definition: { ...definition, objective: '' } }, 'objective cannot be used'],
    [{ definition, tenant: 'a/b' }, 'tenant cannot be used'],
    [{ definition, tenant: null as never }, 'tenant cannot be used'],
    [{ definition, from: null as never }, 'from cannot be used'],
    [
      { definition: { ...definition, judges: { fair: new Map() as never } } },
      'judges.fair cannot be used: it must be an object of fields',
    ],
    [{ definition: { ...definition, cycle: new Map() as never } }, 'cycle cannot be used'],
    [{ definition: { ...definition, budget: new Date() as never } }, 'budget.maxCost'],
    [{ definition, caller: ' ' }, 'caller cannot be used'],
    [{ definition, from: { goalId: 'x'.repeat(97) } }, 'The goal id "xxx'],
    [{ definition, from: { goalId: 'x', checkpoint: 'y' } }, 'from.checkpoint cannot be used'],
  ])('is refused with the name of the field: %#', (request, said) => {
    expect(() => checkGoal(request)).toThrow(said);
  });

  it('takes ids of at most 96 characters, so that those of cycles are run ids', () => {
    expect(checkGoalId('x'.repeat(96))).toHaveLength(96);
    expect(checkGoalId(undefined)).toMatch(/^goal_[0-9A-HJKMNP-TV-Z]{26}$/);
    for (const bad of ['', '..', 'a b', 'x'.repeat(97), 7]) {
      expect(() => checkGoalId(bad)).toThrow('cannot be used');
    }
  });

  it('is the same goal when the definitions say the same', () => {
    const one = definitionDigest(normalGoal(definition), undefined);
    const turned = Object.fromEntries(Object.entries(definition).toReversed());
    expect(definitionDigest(normalGoal({ ...turned, pace: 'continuous' }), undefined)).toBe(one);
    expect(definitionDigest(normalGoal({ ...definition, pace: 'when_woken' }), undefined)).not.toBe(
      one,
    );
    expect(definitionDigest(normalGoal(definition), { goalId: 'g' })).not.toBe(one);
  });
});
