/** What happens to a goal; every fact carries its time. */
import type { Decision } from '../ask.js';
import type { EffectInput } from '../input.js';
import type { GoalMessage } from './message.js';

interface Occurred {
  /** ms since epoch, workflow time. */
  readonly at: number;
}

export type GoalOutsideInput =
  | (Occurred & {
      readonly type: 'decision';
      readonly decision: Decision;
      readonly ticket?: string;
    })
  | (Occurred & {
      readonly type: 'goal_message';
      readonly message: GoalMessage;
      readonly ticket?: string;
    })
  /** A hint: the outcome is in the store. */
  | (Occurred & { readonly type: 'child_ended'; readonly child: string })
  | (Occurred & { readonly type: 'cancel_requested' })
  | (Occurred & {
      readonly type: 'input_rejected';
      readonly message: 'goalMessage' | 'resolveApproval' | 'signal';
      readonly reason: string;
    });

export type GoalInput =
  EffectInput | GoalOutsideInput | (Occurred & { readonly type: 'segment_full' });
