/** The words of questions, for whoever checks what others have written. */
import type { AskKind, AskOutcome, DecisionKind } from '../core/state/ask-kinds.js';
import { words } from './options.js';

/** A list that lacks none of the words. */
type All<Word extends string, List extends readonly string[]> = [
  Exclude<Word, List[number]>,
] extends [never]
  ? readonly Word[]
  : never;

const KINDS = words('approval outcome budget input user_message');
const OUTCOMES = words(
  'pending approved rejected modified replaced expired withdrawn happened not_happened stopped answered',
);
const DECISIONS = words('approve reject modify replace happened not_happened stop');

export const ASK_KINDS: All<AskKind, typeof KINDS> = KINDS;
export const ASK_OUTCOMES: All<AskOutcome, typeof OUTCOMES> = OUTCOMES;
export const DECISION_KINDS: All<DecisionKind, typeof DECISIONS> = DECISIONS;
