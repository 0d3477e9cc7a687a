/**
 * What the end of each activity is recorded as: one row an activity, its outcome and its failure.
 * Invariant: decides nothing; what a fact leads to is a rule's business.
 */
import { callChecked, callNotChecked } from '../call/recheck.js';
import {
  handedOverFailed,
  outcomeRecorded,
  toolReconciled,
  toolReturned,
} from '../call/returned.js';
import { compacted, notCompacted } from '../context/compacted.js';
import { modelNotResolved, modelResolved } from './control.js';
import type { ActivityKind, CloseRunOutput, OutputOf } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import { hooksFailed, hooksRan } from '../hooks/ran.js';
import { callAccounted, callNotAccounted } from '../money/failed-call.js';
import { closedResult } from './run-result.js';
import type { OpenRun, Run } from '../state/run.js';
import { sessionSaved } from '../session/carry.js';
import { recordModelFailure } from '../turn/failed-call.js';
import { recordReply } from '../turn/reply.js';
import { messagesNotStored, messagesStored } from '../turn/store-messages.js';

interface Ends<Kind extends ActivityKind> {
  readonly succeeded: (run: OpenRun, effectId: string, output: OutputOf<Kind>) => Run;
  readonly failed: (run: OpenRun, effectId: string, failure: Failure) => Run;
}

/** `open_run` makes a run an open one, and is received before all else (receive.ts). */
type KindWhileOpen = Exclude<ActivityKind, 'open_run'>;

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
  flush: { succeeded: messagesStored, failed: messagesNotStored },
  close_run: { succeeded: runClosed, failed: runNotClosed },
};

function runClosed(
  run: OpenRun,
  _: string,
  { head, session, transcript }: CloseRunOutput,
): OpenRun {
  const { stopping } = run;
  const told = stopping && transcript !== undefined && { stopping: { ...stopping, transcript } };
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
