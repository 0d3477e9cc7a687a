/**
 * What the business controls say of a call before anybody is asked about it: for the card of its question.
 * Invariant: it informs people and binds nothing; what binds is looked at again when the call is claimed.
 */
import type { LimitRule, LimitScope, Total } from './limits-across-runs.js';
import { unseenRepeats, type Repeats } from './repeats.js';

export interface Outlook {
  /** What was done before for the same business object. */
  readonly repeats?: Repeats;
  readonly limits?: LimitsOutlook;
  /** When the limits were looked at, ms since epoch; absent: a worker before this field. */
  readonly at?: number;
}

/** The limits of its tool, and what is used up of them. */
export interface LimitsOutlook {
  /** What the call would take. */
  readonly amount: number;
  readonly customer?: string;
  readonly limits: readonly LimitStanding[];
  /** It does not fit any more. */
  readonly exceeded?: true;
}

export interface LimitStanding extends LimitRule {
  readonly scope: LimitScope;
  readonly used: Total;
}

/** Something was done before that is not among what these people were shown. */
export function showsNews(
  shown: Repeats | undefined,
  { repeats }: { readonly repeats?: Repeats },
): boolean {
  const seen = shown?.earlier.map(({ key }) => key) ?? [];
  return repeats !== undefined && unseenRepeats(repeats, seen) !== undefined;
}
