/** A part of a brief that is data: where it comes from, and what it says. */
export type BriefOrigin = 'plan' | 'state' | 'note' | 'review' | 'check';

export interface BriefPart {
  readonly origin: BriefOrigin;
  /** Cycle that it comes from; of what comes from several, the newest. */
  readonly cycle: number;
  /** Agent, reviewer, person or check that it comes from; 'goal': the goal's own record. */
  readonly by: string;
  readonly text: string;
}
