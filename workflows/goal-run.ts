/**
 * The workflow `goalRun`: the loop of a goal (loop.ts), which may last for months.
 * Invariants: those of agent-run.ts. Cycles are runs of their own, which outlive each execution of the goal.
 */
import { ApplicationFailure, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { advance, receive } from '../core/goal/engine.js';
import { nextGoalSegment, openGoal, upgradeGoal } from '../core/goal/open.js';
import { parseGoalStart } from '../core/messages/parse-goal-start.js';
import { newerVersion } from '../core/messages/parse-start.js';
import { isReachable } from '../core/messages/run-id.js';
import type { Goal, GoalFinal } from '../core/state/goal/goal.js';
import type { RunResult } from '../core/state/result.js';
import { listenToGoal } from './listen-to-goal.js';
import { decideUntilFinal } from './loop.js';
import { isUndecodable, undecodable } from './payload-converter.js';

/** First segment: a GoalStart. Later ones: the goal as the segment before left it. */
export interface ContinuedGoal {
  readonly continuedGoal: Goal;
  /** Temporal run id of the segment before. */
  readonly previousExecution: string;
}

export async function goalRun(input: unknown): Promise<RunResult> {
  const first = firstGoal(input);
  const { final, state } = await decideUntilFinal(first, {
    advance,
    receive,
    listen: listenToGoal,
    finalOf: ({ final: ended }) => ended,
    shown: { agent: first.agent, tenant: first.tenant },
  });
  return end(final, state);
}

function firstGoal(input: unknown): Goal {
  const { workflowId, runStartTime, continuedFromExecutionRunId } = workflowInfo();
  // Only Temporal knows that this is a continuation; the argument alone may come from anybody.
  if (continuedFromExecutionRunId !== undefined) {
    if (isUndecodable(input)) throw undecodable('state', input);
    if (isContinued(input)) {
      const { continuedGoal, previousExecution } = input;
      return nextGoalSegment(upgradeGoal(continuedGoal), { at: Date.now(), previousExecution });
    }
  }
  const newer = newerVersion(input);
  if (newer !== undefined) throw new Error(newer);
  if (!isReachable(workflowId)) {
    const message = `The goal id ${JSON.stringify(workflowId)} cannot be used: it stands for another place in a path.`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidTask');
  }
  const start = parseGoalStart(input);
  if (!start.ok) throw ApplicationFailure.nonRetryable(start.reason, 'InvalidTask');
  return openGoal(start.value, { goalId: workflowId, at: runStartTime.getTime() });
}

function isContinued(input: unknown): input is ContinuedGoal {
  return typeof input === 'object' && input !== null && 'continuedGoal' in input;
}

function end(final: GoalFinal, goal: Goal): Promise<RunResult> | RunResult {
  if (final.kind === 'refused') throw ApplicationFailure.nonRetryable(final.message, final.code);
  if (final.kind === 'result') return final.result;
  const { final: _, ...carried } = goal;
  const next: ContinuedGoal = {
    continuedGoal: carried,
    previousExecution: workflowInfo().runId,
  };
  return continueAsNew<typeof goalRun>(next);
}
