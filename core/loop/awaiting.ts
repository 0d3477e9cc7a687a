/** What a run that waits is called, by the kind of its question. When several are open the first names it. */
import type { AskKind } from '../state/ask-kinds.js';

export type AwaitingStatus =
  'awaiting_outcome' | 'awaiting_approval' | 'awaiting_budget' | 'awaiting_input' | 'awaiting_user';

export const AWAITING: readonly (readonly [kind: AskKind, status: AwaitingStatus])[] = [
  ['outcome', 'awaiting_outcome'],
  ['approval', 'awaiting_approval'],
  ['budget', 'awaiting_budget'],
  ['input', 'awaiting_input'],
  ['user_message', 'awaiting_user'],
];
