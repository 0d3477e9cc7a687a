/** Why somebody may not decide on a question. */
import type { Ask, Person } from '../data/api-types.js';
import { words } from '../parts/format.js';

/** Undefined: they may, as far as can be told here. */
export function objectionTo(ask: Ask, me: Person): string | undefined {
  if (ask.outcome !== 'pending') return `This question is ${words(ask.outcome)}.`;
  const mine = ask.votes?.find(({ by }) => by === me.id);
  if (mine !== undefined) return `You have decided: ${words(mine.decision)}.`;
  if (ask.answeredBy === 'customer') {
    return ask.requestedBy === me.id ? undefined : 'Only the customer can answer this.';
  }
  if (ask.requestedBy === me.id && (ask.kind !== 'input' || ask.answeredBy === 'staff')) {
    return ask.goal === undefined
      ? 'You asked for this yourself, so somebody else has to decide.'
      : 'You started the goal, so somebody else has to decide.';
  }
  if (ask.steeredBy?.includes(me.id) === true) {
    return 'You have said something to the goal since its last cycle, so somebody else has to decide.';
  }
  const wanted = ask.rolesNow;
  if (wanted.length === 0 || me.roles.some((role) => wanted.includes(role))) return undefined;
  return `This needs one of the roles: ${wanted.join(', ')}.`;
}
