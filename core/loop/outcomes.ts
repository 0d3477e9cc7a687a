/**
 * What becomes of the end of an activity of an open run, by its kind.
 * Invariant:
 *  F4 What ends an activity is one row of `ENDS`, its outcome and its failure.
 */
import { keysFetched, keysNotFetched } from '../ask/keys-told.js';
import { callChecked, callNotChecked } from '../call/argument-check.js';
import {
  childClosed,
  childNotClosed,
  childNotPrepared,
  childPrepared,
} from '../call/child-facts.js';
import { handedOverFailed, toolReturned } from '../call/execution.js';
import { outcomeRecorded, toolReconciled } from '../call/found-out.js';
import { compacted, notCompacted } from '../context/summary-outcome.js';
import { hooksFailed, hooksRan } from '../hooks/ran.js';
import { callAccounted, callNotAccounted } from '../money/unheard-cost.js';
import { sessionSaved } from '../session/carry.js';
import type {
  ActivityKind,
  CloseRunOutput,
  FlushOutput,
  GoalActivityKind,
  OutputOf,
} from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { OpenRun, Run } from '../state/run.js';
import { mailNotRead, mailRead } from '../turn/mail.js';
import { recordModelFailure } from '../turn/model-failure.js';
import { recordReply } from '../turn/reply.js';
import { supervisorAnswered, supervisorFailed } from './supervise.js';
import { messagesNotStored, messagesStored } from '../turn/store-messages.js';
import { handedRunNotPrepared, handedRunPrepared } from './handed-run.js';
import { modelNotResolved, modelResolved } from './model-and-mode.js';
import { closedResult, closedWith } from './run-result.js';

interface Ends<Kind extends ActivityKind> {
  readonly succeeded: (run: OpenRun, effectId: string, output: OutputOf<Kind>) => Run;
  readonly failed: (run: OpenRun, effectId: string, failure: Failure) => Run;
}

/** `open_run` makes a run an open one, and is received before all else (receive.ts). */
type KindWhileOpen = Exclude<ActivityKind, GoalActivityKind | 'open_run'>;

export const ENDS: { readonly [Kind in KindWhileOpen]: Ends<Kind> } = {
  call_model: { succeeded: recordReply, failed: recordModelFailure },
  execute_tool: { succeeded: toolReturned, failed: handedOverFailed },
  reconcile_tool: { succeeded: toolReconciled, failed: handedOverFailed },
  record_outcome: { succeeded: outcomeRecorded, failed: handedOverFailed },
  check_call: { succeeded: callChecked, failed: callNotChecked },
  run_hooks: { succeeded: hooksRan, failed: hooksFailed },
  compact: { succeeded: compacted, failed: notCompacted },
  resolve_model: { succeeded: modelResolved, failed: modelNotResolved },
  account_call: { succeeded: callAccounted, failed: callNotAccounted },
  fetch_keys: { succeeded: keysFetched, failed: keysNotFetched },
  read_mail: { succeeded: mailRead, failed: mailNotRead },
  ask_supervisor: { succeeded: supervisorAnswered, failed: supervisorFailed },
  prepare_child: { succeeded: childPrepared, failed: childNotPrepared },
  close_child: { succeeded: childClosed, failed: childNotClosed },
  prepare_handoff: { succeeded: handedRunPrepared, failed: handedRunNotPrepared },
  flush: { succeeded: flushed, failed: messagesNotStored },
  close_run: { succeeded: runClosed, failed: runNotClosed },
};

/** Events alone are acknowledged before (outbox.ts). */
function flushed(run: OpenRun, effectId: string, output: FlushOutput): OpenRun {
  return run.storing === undefined ? run : messagesStored(run, effectId, output);
}

function runClosed(run: OpenRun, _: string, output: CloseRunOutput): OpenRun {
  const { head, session } = output;
  const { stopping } = run;
  const told = stopping && { stopping: { ...stopping, ...closedWith(run, output) } };
  return ended(sessionSaved({ ...run, ...told, head, pending: [] }, session));
}

/** What a cancelled close did not store is stored by the next one. */
function runNotClosed(run: OpenRun, _: string, failure: Failure): OpenRun {
  return failure.cancelled ? run : ended(run);
}

function ended(run: OpenRun): OpenRun {
  const { stopping } = run;
  if (stopping?.result === undefined) return run;
  const cancelled = stopping.reason === 'aborted';
  const result = closedResult(run, stopping.result);
  return { ...run, final: { kind: 'result', result, cancelled } };
}
