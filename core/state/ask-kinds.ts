/** What is asked, how questions end, and what people say to them. */

export type AskKind = 'approval' | 'outcome' | 'budget' | 'input' | 'user_message';

/** The outcomes of an approval (G93), and the answers to an unknown outcome (G82). */
export type AskOutcome =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'modified'
  | 'replaced'
  | 'expired'
  | 'withdrawn'
  | 'happened'
  | 'not_happened'
  | 'stopped'
  | 'answered';

export type DecisionKind =
  'approve' | 'reject' | 'modify' | 'replace' | 'happened' | 'not_happened' | 'stop';
