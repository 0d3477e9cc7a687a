/** One goal, as its users reach it. */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Pace } from '../../core/state/goal/definition.js';
import type { MessageBody } from '../../core/state/goal/message.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';
import type { GoalBudgetField } from '../../core/state/goal/terms.js';
import type { GoalView } from '../../core/state/goal/view.js';
import type { OpenAsk } from '../../core/state/view.js';
import {
  briefOfGoal,
  recordOfGoal,
  withRecord,
  type GoalBrief,
  type GoalRecord,
  type GoalResult,
} from './goal-record.js';
import { goalOutcome, type GoalOutcomeNow } from './goal-outcome.js';
import { readGoalState } from './goal-state.js';
import { restartGoal, type RestartOptions } from './start-goal.js';
import { tellGoal, type Speaker, type Told } from './tell-goal.js';
import type { EventsOptions } from '../read/event-stream.js';
import type { Execution } from '../runs/execution.js';
import { checkedCalls, GOAL_CALLS } from '../checked-calls.js';
import type { Link } from '../link.js';
import type { WaitOptions } from '../runs/outcome.js';
import { runHandle, type RunHandle } from '../runs/run-handle.js';

/** Errors of everything that is said to a goal: InvalidTask, MessageRefused with the goal's reason, RunNotFound. */
export interface GoalHandle extends Pick<
  RunHandle,
  'decide' | 'decideOn' | 'approve' | 'reject' | 'answer'
> {
  readonly goalId: string;
  readonly tenant: string;
  /**
   * Waits for the result, which may take months: over continue-as-new and short outages of the server. A goal that ended
   * without being done has a result too. With a store the result has plan, measurements, reviews and cycles, also when
   * Temporal has forgotten the goal. Errors: what kept it from being opened; NetworkTimeout after `timeoutMs`.
   */
  result(options?: WaitOptions): Promise<GoalResult>;
  /** Waits for the result, or until the goal or its open cycle waits for a person. */
  outcome(options?: WaitOptions): Promise<GoalOutcomeNow>;
  /** The goal's events as they happen; ends after `goal_result`. Those of its cycles are under their own run ids. */
  watch(options?: EventsOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Needs a worker, and waits for one up to `limitMs` (default: that of the connection, 5,000). */
  state(limitMs?: number): Promise<GoalView>;
  /** Plan, published state, measurements, reviews, log and last cycles. Needs a store. */
  record(): Promise<GoalRecord>;
  /** What the agent of a cycle was told; default: of the newest. Needs a store. */
  brief(n?: number): Promise<GoalBrief>;
  /** What Temporal knows of it; needs no worker. */
  execution(): Promise<Execution>;
  /** Every question of the goal itself that is open now. Needs a worker. */
  pendingApprovals(): Promise<readonly OpenAsk[]>;
  /** Any of the messages below, as it is. */
  say(said: MessageBody, who?: Speaker): Promise<Told>;
  /** Stands in the brief of the next cycle. `wake` ends a sleep as well. */
  steer(text: string, options?: Speaker & { readonly wake?: boolean }): Promise<Told>;
  /** The open cycle and its pass end; no other begins until `resume`. */
  pause(who?: Speaker): Promise<Told>;
  resume(who?: Speaker): Promise<Told>;
  /** Ends the sleep, or the next one when it does not sleep. */
  wake(who?: Speaker): Promise<Told>;
  /** A review in the next pass; with `objectiveValid` a person's word on the objective, which stands. */
  review(
    options?: Speaker & { readonly objectiveValid?: boolean; readonly because?: string },
  ): Promise<Told>;
  /** New limits, each in all; what is left out stays. Money is `maxCostUsd`, or `maxCostMicroUsd`. */
  setBudget(
    budget: { readonly [field in GoalBudgetField | 'maxCostUsd']?: number },
    who?: Speaker,
  ): Promise<Told>;
  /** With `revision`, that of the plan which was looked at: StalePlan when it has changed since. */
  setPlan(
    steps: readonly ProposedStep[],
    options?: Speaker & { readonly revision?: number },
  ): Promise<Told>;
  setPace(pace: Pace, who?: Speaker): Promise<Told>;
  /** A new goal with what this one remembers. Errors: as `startGoal`. */
  restartGoal(options?: RestartOptions): Promise<GoalHandle>;
  /** This goal ends as handed off to an existing one, which has its own budget. */
  handoffGoal(goalId: string, who?: Speaker): Promise<Told>;
  /** Ends as `interrupted`: the open cycle is waited for, unless it waits itself. */
  stop(who?: Speaker): Promise<Told>;
  /** Ends as `aborted`: the open cycle is cancelled. */
  cancel(who?: Speaker): Promise<Told>;
}

/** A handle; nothing is asked of the server yet. */
export function goalHandle(link: Link, goalId: string): GoalHandle {
  const run = runHandle(link, goalId);
  const tell = (said: MessageBody, who?: Speaker): Promise<Told> =>
    tellGoal(link, { goalId, said, who: speakerIn(who) });
  const { decide, decideOn, approve, reject, answer, execution, pendingApprovals } = run;
  const calls: GoalHandle = {
    goalId,
    tenant: link.tenant,
    decide,
    decideOn,
    approve,
    reject,
    answer,
    execution,
    pendingApprovals,
    result: (options) => resultOfGoal(link, goalId, options),
    outcome: (options) => goalOutcome(link, goalId, options),
    watch: (options) => run.events(options),
    state: (limitMs) => readGoalState(link, goalId, limitMs),
    record: () => recordOfGoal(link, goalId),
    brief: (n) => briefOfGoal(link, goalId, n),
    say: tell,
    steer: (text, { wake, ...who } = {}) =>
      tell({ type: 'steer', text, ...(wake !== undefined && { wake }) }, who),
    pause: (who) => tell({ type: 'pause' }, who),
    resume: (who) => tell({ type: 'resume' }, who),
    wake: (who) => tell({ type: 'wake' }, who),
    review: ({ objectiveValid, because, ...who } = {}) =>
      tell(
        {
          type: 'review',
          ...(objectiveValid !== undefined && { objectiveValid }),
          ...(because !== undefined && { because }),
        },
        who,
      ),
    setBudget: (budget, who) => tell({ type: 'setBudget', budget }, who),
    setPlan: (steps, { revision, ...who } = {}) =>
      tell({ type: 'setPlan', steps, ...(revision !== undefined && { revision }) }, who),
    setPace: (pace, who) => tell({ type: 'setPace', pace }, who),
    restartGoal: async (options) => goalHandle(link, await restartGoal(link, goalId, options)),
    handoffGoal: (other, who) => tell({ type: 'handoffGoal', goalId: other }, who),
    stop: (who) => tell({ type: 'stop' }, who),
    cancel: (who) => tell({ type: 'cancel' }, who),
  };
  return checkedCalls(calls, GOAL_CALLS);
}

/** Options of other kinds are none of a speaker's. */
function speakerIn({ by, roles, id }: Speaker = {}): Speaker {
  return {
    ...(by !== undefined && { by }),
    ...(roles !== undefined && { roles }),
    ...(id !== undefined && { id }),
  };
}

/** The store remembers what Temporal has forgotten. */
async function resultOfGoal(
  link: Link,
  goalId: string,
  options?: WaitOptions,
): Promise<GoalResult> {
  try {
    return await withRecord(link, await runHandle(link, goalId).result(options));
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') throw error;
    const result = (await link.store?.getRun(link.tenant, goalId))?.result;
    if (result === undefined) throw error;
    return withRecord(link, result);
  }
}
