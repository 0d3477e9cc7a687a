/**
 * The workflow `agentRun`: the loop. It receives facts, lets the core decide, and performs.
 * Invariants:
 *  W1 Effects are started, never awaited inline.
 *  W2 All facts of an activation are received before anything is decided.
 *  W3 Bad input from outside never fails a workflow task; a bug in the core does, and waits for a fix, and so does a
 *     start that a newer release made, which waits for a worker of that release.
 *  W4 It returns only when nobody waits for an answer.
 */
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  getExternalWorkflowHandle,
  workflowInfo,
} from '@temporalio/workflow';
import { follows } from '../core/step/changes.js';
import { rulesOfCode } from '../core/step/code-id.js';
import { advance, receive } from '../core/loop/engine.js';
import { nextSegment, open, upgradeRun } from '../core/loop/open.js';
import { isWellFormed } from '../core/json/shape.js';
import { newerVersion, parseStart } from '../core/messages/parse-start.js';
import { isReachable } from '../core/messages/run-id.js';
import type { RunResult } from '../core/state/result.js';
import type { Final, Run } from '../core/state/run.js';
import { shownBy } from './showing.js';
import { listen } from './listen.js';
import { decideUntilFinal } from './loop.js';
import { childEnded } from './messages.js';
import { isUndecodable, undecodable } from './payload-converter.js';
import { isGone } from './children.js';

/** First segment: a StartInput. Later ones: the run as the segment before left it. */
export interface Continued {
  readonly continued: Run;
  /** Temporal run id of the segment before. */
  readonly previousExecution: string;
}

export async function agentRun(input: unknown): Promise<RunResult> {
  const first = firstRun(input);
  const { final, state: run } = await decideUntilFinal(first, {
    advance,
    receive,
    listen,
    finalOf: ({ final: ended }) => ended,
    shown: { agent: first.start.agent, tenant: first.tenant },
  });
  await tellParent(run, final);
  return end(final, run);
}

/** A hint: the outcome is in the store. A parent that is gone, that Temporal tells, or that handed its task over needs none. */
async function tellParent({ start, tellsEnd }: Run, final: Final): Promise<void> {
  if (start.parent === undefined || final.kind === 'continue_as_new') return;
  if (start.parent.hears && !tellsEnd) return;
  if (start.parent.kind === 'handoff') return;
  const { workflowId } = workflowInfo();
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(start.parent!.id)
      .signal(childEnded, workflowId)
      .catch((error: unknown) => {
        if (!isGone(error)) throw error;
      }),
  );
}

function firstRun(input: unknown): Run {
  const info = workflowInfo();
  const { workflowId, runStartTime, continuedFromExecutionRunId, currentBuildId } = info;
  // Only Temporal knows that this is a continuation; the argument alone may come from anybody.
  if (continuedFromExecutionRunId !== undefined && isUndecodable(input))
    throw undecodable('state', input);
  if (continuedFromExecutionRunId !== undefined && isContinued(input)) {
    const { continued, previousExecution } = input;
    return nextSegment(upgradeRun(continued), { at: Date.now(), previousExecution });
  }
  const rules = rulesOfCode(currentBuildId);
  // Code before rules 8 refused such a start, and its histories say so.
  const newer = rules === undefined ? undefined : newerVersion(input);
  if (newer !== undefined) throw new Error(newer);
  if (rules !== undefined && follows({ rules }, 'reachableIds') && !isReachable(workflowId)) {
    const message = `The run id ${JSON.stringify(workflowId)} cannot be used: it stands for another place in a path.`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidTask');
  }
  const start = parseStart(input);
  if (!start.ok) throw ApplicationFailure.nonRetryable(start.reason, 'InvalidTask');
  if (rules !== undefined && follows({ rules }, 'wellFormedInputs') && !isWellFormed(start.value)) {
    const message = 'A text of the start has half of a surrogate pair.';
    throw ApplicationFailure.nonRetryable(message, 'InvalidTask');
  }
  return open(start.value, {
    runId: workflowId,
    at: runStartTime.getTime(),
    rules,
    takenAt: info.startTime.getTime(),
    taskMs: info.taskTimeoutMs,
    shown: shownBy(info.typedSearchAttributes),
  });
}

function isContinued(input: unknown): input is Continued {
  return typeof input === 'object' && input !== null && 'continued' in input;
}

function end(final: Final, run: Run): Promise<RunResult> | RunResult {
  if (final.kind === 'refused') {
    throw ApplicationFailure.nonRetryable(final.message, final.code);
  }
  if (final.kind === 'continue_as_new') {
    const { final: _, ...carried } = run;
    const next: Continued = { continued: carried, previousExecution: workflowInfo().runId };
    return continueAsNew<typeof agentRun>(next);
  }
  if (final.cancelled && run.frozen?.settings.propagateCancellation) {
    throw new CancelledFailure('the run was cancelled');
  }
  return final.result;
}
