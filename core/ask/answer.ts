/**
 * The answer to a clarifying question (G15). Unlike a decision it authorises nothing, so it names no hash
 * and needs no role: the first answer to an open question is its result.
 */
import { warn } from '../outbox.js';
import type { Json } from '../json.js';
import type { Run } from '../run.js';
import { outcomeOf } from './decide.js';
import { askById, replaceAsk } from './pending.js';

export interface Answer {
  readonly askId: string;
  readonly value: Json;
  readonly by: string;
}

export function recordAnswer(run: Run, { askId, value, by }: Answer): Run {
  const ask = askById(run, askId);
  if (ask === undefined || ask.kind !== 'input') {
    return ignored(run, `no question ${askId} is open for an answer by ${by}`);
  }
  const outcome = outcomeOf(ask);
  // The timer only ends the waiting: until the question is closed an answer is welcome.
  if (ask.outcome !== 'pending' || (outcome !== 'pending' && outcome !== 'expired')) {
    return ignored(run, `${askId} is ${outcome}; the answer by ${by} came later`);
  }
  const vote = { by, roles: [], decision: 'answer', decidedAt: run.now, value } as const;
  return replaceAsk(run, { ...ask, votes: [vote] });
}

function ignored(run: Run, message: string): Run {
  return warn(run, 'input_ignored', message);
}
