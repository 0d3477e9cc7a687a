/**
 * What a cycle proposes to its goal, by the tools `goal_*`: kept in the store as rows `(goal, cycle, k)`, and applied
 * by the goal in their order when the cycle is closed.
 */
import type { Json } from '../../json/json.js';
import type { StepStatus } from './memory.js';

export const BLOCK_KINDS = ['authority', 'external', 'repeated'] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

export interface ProposedStep {
  readonly id: string;
  readonly title: string;
  readonly status: StepStatus;
  readonly note?: string;
  readonly evidence?: readonly string[];
}

export type Proposal =
  | { readonly kind: 'plan'; readonly steps: readonly ProposedStep[] }
  | { readonly kind: 'note'; readonly text: string; readonly evidence?: readonly string[] }
  | { readonly kind: 'publish'; readonly path: string; readonly value: Json }
  | { readonly kind: 'done'; readonly because: string; readonly evidence?: readonly string[] }
  | { readonly kind: 'handoff'; readonly to: string; readonly because: string }
  | {
      readonly kind: 'pause';
      readonly because: string;
      /** ms since epoch. */
      readonly until: number;
    }
  | {
      readonly kind: 'block';
      readonly block: BlockKind;
      readonly because: string;
      readonly step?: string;
    }
  /** Nothing is proposed: the cycle named evidence that does not exist. Told by the goal when the cycle is closed. */
  | { readonly kind: 'warning'; readonly evidence: readonly string[] };

/** Names of the goal tools; reserved in agents that work cycles. */
export const GOAL_TOOLS = [
  'goal_plan',
  'goal_note',
  'goal_publish',
  'goal_propose_done',
  'goal_propose_handoff',
  'goal_ask_pause',
  'goal_block',
] as const;
export type GoalToolName = (typeof GOAL_TOOLS)[number];
