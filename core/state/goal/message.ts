/** What people say to a goal, and what they hear. */
import type { GoalBudgetField } from './terms.js';
import type { Pace } from './definition.js';
import type { ProposedStep } from './proposal.js';

/** By signal or Update; each is signed as a decision is where the goal requires proof. */
export interface MessageBase {
  readonly v: 1;
  /** Counts once, however often it is delivered. */
  readonly id: string;
  readonly by: string;
  readonly roles: readonly string[];
  /** ms since epoch, by the clock of the desk. */
  readonly at: number;
  readonly kid?: string;
  readonly proof?: string;
}

export type MessageBody =
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'wake' }
  | { readonly type: 'steer'; readonly text: string; readonly wake?: boolean }
  | {
      readonly type: 'review';
      readonly objectiveValid?: boolean;
      readonly because?: string;
    }
  | { readonly type: 'stop' }
  | { readonly type: 'cancel' }
  | {
      readonly type: 'setBudget';
      readonly budget: { readonly [field in GoalBudgetField]?: number };
    }
  | {
      readonly type: 'setPlan';
      readonly steps: readonly ProposedStep[];
      /** Revision of the plan that was looked at; another one: `StalePlan`. */
      readonly revision?: number;
    }
  | { readonly type: 'setPace'; readonly pace: Pace }
  | { readonly type: 'handoffGoal'; readonly goalId: string };

export type GoalMessage = MessageBase & MessageBody;
export type GoalMessageType = MessageBody['type'];

export const STEER_CHARS_MAX = 4_000;
export const UNREAD_MAX = 50;

export type MessageRefusal =
  | 'malformed'
  | 'unproven'
  | 'unknown_key'
  | 'busy'
  | 'goal_ended'
  | 'role_missing'
  | 'own_request'
  | 'stale_plan'
  | 'too_many'
  | 'beyond_limits'
  | 'not_applicable';

export type MessageVerdict =
  | { readonly accepted: true; readonly message?: string }
  | { readonly accepted: false; readonly reason: MessageRefusal; readonly message: string };
