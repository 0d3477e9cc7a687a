/** What people do at the desk. */
export const ACCESSES = [
  /** One's own questions. */
  'answer',
  'read',
  'message',
  'interrupt',
  /** Says something to goals, such as more money. */
  'steer',
  'freeze',
  'audit',
  /** Starts runs and goals of the configuration. */
  'start',
  /** Sees what servers of connectors offer, and approves tools of them. */
  'connectors',
] as const;
export type Access = (typeof ACCESSES)[number];
