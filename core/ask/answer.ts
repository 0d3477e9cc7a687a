/**
 * The answer to a clarifying question (G15). Unlike a decision it authorises nothing, so it names no hash: the
 * first answer to an open question is its result, if it comes from the side of the desk that was asked.
 */
import { warn } from '../step/outbox.js';
import type { Run } from '../state/run.js';
import type { Ask, Answer } from '../state/ask.js';
import { askById, replaceAsk, outcomeOf } from '../step/open-work.js';

export function recordAnswer(run: Run, { askId, value, by, roles = [] }: Answer): Run {
  const ask = askById(run, askId);
  if (ask === undefined || ask.kind !== 'input') {
    return ignored(run, `no question ${askId} is open for an answer by ${by}`);
  }
  const outcome = outcomeOf(ask);
  // The timer only ends the waiting: until the question is closed an answer is welcome.
  if (ask.outcome !== 'pending' || (outcome !== 'pending' && outcome !== 'expired')) {
    return ignored(run, `${askId} is ${outcome}; the answer by ${by} came later`);
  }
  const objection = objectionToAnswerer(ask, { by, roles });
  if (objection !== undefined) return ignored(run, `the answer by ${by} to ${askId}: ${objection}`);
  const vote = { by, roles, decision: 'answer', decidedAt: run.now, value } as const;
  return replaceAsk(run, { ...ask, votes: [vote] });
}

/** Why this person may not answer; undefined: they may. */
export function objectionToAnswerer(
  { answeredBy, requestedBy, roles: wanted }: Pick<Ask, 'answeredBy' | 'requestedBy' | 'roles'>,
  { by, roles }: { readonly by: string; readonly roles: readonly string[] },
): string | undefined {
  if (answeredBy === undefined) return undefined;
  const isCustomer = by === requestedBy;
  if (answeredBy === 'customer') return isCustomer ? undefined : 'only the customer can tell';
  if (isCustomer) return 'it is for the staff to tell';
  return wanted.length === 0 || roles.some((role) => wanted.includes(role))
    ? undefined
    : `needs one of the roles ${wanted.join(', ')}`;
}

function ignored(run: Run, message: string): Run {
  return warn(run, 'input_ignored', message);
}
