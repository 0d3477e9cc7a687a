/** What the calls of a goal's handle take. */
import {
  AMOUNT,
  ANYTHING,
  COUNT,
  each,
  FIELDS,
  FLAG,
  TEXT,
  TEXTS,
  type OptionRules,
} from '../../pure/options.js';
import { ID } from '../checked-calls.js';
import { WAITING_CALLS, WATCH } from '../runs/run-rules.js';
import type { Speaker } from './tell-goal.js';

const SPEAKER: OptionRules<Speaker> = { ...each(TEXT, 'by id'), roles: TEXTS };
const WHO = { who: SPEAKER };

export const GOAL_CALLS = {
  ...WAITING_CALLS,
  watch: WATCH,
  brief: { n: COUNT },
  say: { said: ANYTHING, ...WHO },
  steer: { text: ANYTHING, options: { ...SPEAKER, wake: FLAG } },
  pause: WHO,
  resume: WHO,
  wake: WHO,
  review: { options: { ...SPEAKER, objectiveValid: FLAG, because: TEXT } },
  setBudget: { budget: ANYTHING, ...WHO },
  setPlan: { steps: ANYTHING, options: { ...SPEAKER, revision: AMOUNT } },
  setPace: { pace: ANYTHING, ...WHO },
  restartGoal: { options: FIELDS },
  handoffGoal: { goalId: ID, ...WHO },
  stop: WHO,
  cancel: WHO,
};
