/** A sub-agent of a run, from the grant of the call that starts it to its outcome. */
import type { WatchedChild } from './child.js';
import type { ChildEnd } from './payloads/child-payloads.js';
import type { PermissionMode } from './permission-mode.js';
import type { StartInput } from './task.js';

export interface WantedMoney {
  /** Number of its question, from 1. */
  readonly n: number;
  /** In micro-USD. */
  readonly amount: number;
  /** A person is asked. */
  readonly askId?: string;
  /** The run above is asked. */
  readonly above?: true;
}

export interface RunChild extends WatchedChild {
  /** Which of the sub-agents of its parent it is, from 1. */
  readonly n: number;
  /** Name by which the model knows it. */
  readonly name: string;
  /** Index of its call in the turn. */
  readonly index: number;
  /** Effect of the stages 'preparing' and 'closing'. */
  readonly effectId?: string;
  /** Most that it may cost, in micro-USD; absent: its parent has no limit. */
  readonly sliceMicroUsd?: number;
  /** Tokens that it may use; absent: no limit. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly startedAt: number;
  /** Of its workflow, until it is started. */
  readonly input?: StartInput;
  /** Why it was not started, if there turns out to be nothing of it. */
  readonly notStarted?: {
    readonly code: 'execution_error' | 'interrupted_mid_execution';
    readonly message: string;
  };
  /** Modes of its parent and those above, as it was told them last, the nearest first (toldBelow). */
  readonly modes?: readonly PermissionMode[];
  /** How many messages of its parent's queue it was told, or came before it (toldBelow). */
  readonly heard?: number;
  /** Segment that hears of its end from Temporal, none below 0; absent: it says so itself (heardEnds). */
  readonly heardIn?: number;
  /** How it ended, as its workflow returned it (heardEnds). */
  readonly done?: ChildEnd;
  /** It has used up its slice and wants more (moneyAbove). */
  readonly wants?: WantedMoney;
  /** Number of its newest question that was answered (moneyAbove). */
  readonly answered?: number;
  /** What that answer gave, in micro-USD. */
  readonly given?: number;
  /** It was told to stop. */
  readonly told?: true;
  /** It goes on as if it were open when nothing of it can be waited for any more. */
  readonly last?: true;
}
