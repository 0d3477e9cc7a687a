/** Budget and settings of a goal's cycles: those of runs, without what only the goal may decide. */
import type { CycleDefinition } from '../../core/state/goal/definition.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { parseBudget, parseSettings } from '../check-limits.js';
import { wrongField } from './field.js';

/** More money is asked for the goal, never for a cycle; and a cycle that waits for its user would never end. */
const FIXED = { onBudget: 'stop', afterAnswer: 'complete', interruptMode: 'stop' } as const;
/** Words of the house, which no start may say. */
const NOT_FOR_A_START = ['budgetRoles', 'versions'];

interface Place {
  readonly subject: string;
  readonly goalMicroUsd: number;
}

/** Errors: InvalidTask that names the field. */
export function normalCycle(
  cycle: CycleDefinition | undefined,
  { subject, goalMicroUsd }: Place,
): CycleDefinition & { readonly maxCostMicroUsd: number } {
  const given = Object.entries(cycle ?? {}).filter(([, value]) => value !== undefined);
  for (const [key, value] of given) {
    const wrong = (why: string) => wrongField(subject, `cycle.${key.slice(0, 60)}`, why);
    if (!Object.hasOwn(DEFAULT_BUDGET, key) && !Object.hasOwn(DEFAULT_SETTINGS, key)) {
      throw wrong('it is neither a budget nor a setting of runs');
    }
    if (NOT_FOR_A_START.includes(key)) throw wrong('it is said by agent or configuration');
    const fixed: unknown = Object.hasOwn(FIXED, key) && FIXED[key as keyof typeof FIXED];
    if (fixed !== false && fixed !== value)
      throw wrong(`in a cycle it is ${JSON.stringify(fixed)}`);
  }
  const place = { code: 'InvalidTask', subject: `${subject}: cycle` } as const;
  const ofBudget = given.filter(([key]) => Object.hasOwn(DEFAULT_BUDGET, key));
  const ofSettings = given.filter(([key]) => !Object.hasOwn(DEFAULT_BUDGET, key));
  const budget = parseBudget(Object.fromEntries(ofBudget), place);
  const settings = parseSettings(Object.fromEntries(ofSettings), place);
  const { maxCostMicroUsd = Math.max(1, Math.floor(goalMicroUsd / 10)) } = budget;
  if (maxCostMicroUsd === 'unlimited' || maxCostMicroUsd === 0) {
    throw wrongField(subject, 'cycle.maxCostMicroUsd', 'it must be a whole number from 1');
  }
  return { ...budget, ...settings, ...FIXED, maxCostMicroUsd };
}
