/** Events of a goal, beside those of asks, warnings and the stop, which it shares with runs. */
import type { ProgressItem } from './facts.js';
import type { Json, StoredText } from '../../json/json.js';
import type { HandoffFilter } from '../handoff.js';
import type { RunResult, StopReason } from '../result.js';
import type { Pace } from './definition.js';
import type { ReviewAnswers } from './memory.js';
import type { Slice } from './terms.js';

/** What a run has become by a handoff. */
export interface HandedRun {
  readonly n: number;
  readonly callId: string;
  readonly from: string;
  readonly filter: HandoffFilter;
  readonly model: string;
  readonly tools: readonly string[];
  readonly versions: { readonly [name: string]: string };
}

/** The run that goes on with the task of another one. */
export interface StartedRun {
  readonly runId: string;
  readonly n: number;
  readonly callId: string;
  readonly filter: HandoffFilter;
  /** What it may cost at most, micro-USD; absent: no limit. */
  readonly maxCostMicroUsd?: number;
}

export type GoalEventBody =
  | {
      readonly type: 'goal_started';
      readonly agent: string;
      readonly objective: StoredText;
      /** Hash of the definition in the store. */
      readonly definition: string;
      readonly maxCostMicroUsd: number;
      readonly pace: Pace;
      readonly caller?: string;
      readonly requireProof?: true;
      readonly versions: { readonly [name: string]: string };
    }
  | {
      readonly type: 'cycle_started';
      readonly n: number;
      readonly runId: string;
      readonly agent: string;
      readonly budget: Slice;
      /** Hash of the brief in the store, and its estimated tokens. */
      readonly brief: string;
      readonly briefTokens: number;
    }
  | {
      readonly type: 'cycle_ended';
      readonly n: number;
      readonly runId: string;
      readonly stopReason: StopReason;
      readonly detail?: string;
      readonly costMicroUsd: number;
      readonly progress: readonly ProgressItem[];
      readonly unconfirmed?: true;
    }
  | {
      readonly type: 'check_finished';
      readonly name: string;
      readonly n: number;
      readonly known: boolean;
      readonly value?: number;
      readonly best?: number;
      /** sha256 of the whole result in the store: the receipt of `check/<name>/<n>`. */
      readonly digest?: string;
      readonly because?: string;
    }
  | {
      readonly type: 'plan_changed';
      readonly by: string;
      readonly revision: number;
      /** Hash of the memory that has the plan. */
      readonly memory: string;
      readonly steps: { readonly open: number; readonly done: number; readonly all: number };
    }
  | {
      readonly type: 'progress_noted';
      readonly n: number;
      readonly progress: readonly ProgressItem[];
    }
  | {
      readonly type: 'goal_review';
      readonly n: number;
      readonly cycle: number;
      readonly answers: ReviewAnswers;
      readonly decision: string;
      readonly costMicroUsd?: number;
    }
  | { readonly type: 'checkpoint_saved'; readonly id: string; readonly n: number }
  | {
      readonly type: 'goal_sleeping';
      /** ms since epoch; absent: until somebody wakes it. */
      readonly until?: number;
      readonly because: string;
    }
  | { readonly type: 'goal_woken'; readonly by: string; readonly sleptMs: number }
  | {
      readonly type: 'goal_steered';
      readonly by: string;
      readonly proven: boolean;
      readonly text: StoredText;
      /** What else was said: pause, resume, setBudget, setPlan, setPace, review. */
      readonly control?: string;
      readonly value?: Json;
    }
  | {
      readonly type: 'handoff';
      readonly to: string;
      readonly by: string;
      readonly because: string;
      /** Of a run, which goes on under this agent; absent: a goal, or another run has the task. */
      readonly run?: HandedRun;
      /** Of a run that ends: the other run, which has the task from now on. */
      readonly started?: StartedRun;
    }
  | { readonly type: 'goal_result'; readonly result: RunResult };
