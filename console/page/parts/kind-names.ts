/** Kinds of questions, as people call them. */
import type { Ask } from '../data/api-types.js';

export const KIND_NAMES: { readonly [kind in Ask['kind']]: string } = {
  approval: 'Approval',
  outcome: 'Unknown outcome',
  budget: 'Budget',
  input: 'Question',
  user_message: 'Conversation',
};
