/**
 * The activities of a worker, by the names that the workflow calls them.
 * Invariants: every activity stores its events before it does anything else, except a quick read, which
 * leaves them to the next; what leaves is a bounded payload or an ApplicationFailure with an ErrorCode as
 * its type.
 */
import type {
  Acknowledged,
  CallModelInput,
  CallModelOutput,
  CheckCallInput,
  CheckCallOutput,
  CloseRunInput,
  CloseRunOutput,
  CompactInput,
  CompactOutput,
  ExecuteToolInput,
  ExecuteToolOutput,
  FlushInput,
  OpenRunInput,
  OpenRunOutput,
  ReconcileToolInput,
  ReconcileToolOutput,
  RecordOutcomeInput,
  ResolveModelInput,
  ResolveModelOutput,
  RunHooksInput,
  RunHooksOutput,
} from '../core/effect.js';
import { PAYLOAD_BYTES_MAX } from '../core/effect.js';
import { callModel } from './call-model.js';
import { checkCall } from './check-call.js';
import { closeRun } from './close-run.js';
import { compact } from './compact.js';
import type { ActivityDeps } from './deps.js';
import { executeTool } from './execute-tool.js';
import { failure, toFailure } from './failure.js';
import { flush } from './flush.js';
import { openRun } from './open-run.js';
import { reconcileTool } from './reconcile-tool.js';
import { recordOutcome } from './record-outcome.js';
import { resolveModel } from './resolve-model.js';
import { runHooks } from './run-hooks.js';
import { inScope, type Scope } from './scope.js';

export type { ActivityDeps } from './deps.js';

export interface Activities {
  readonly open_run: (input: OpenRunInput) => Promise<OpenRunOutput>;
  readonly call_model: (input: CallModelInput) => Promise<CallModelOutput>;
  readonly execute_tool: (input: ExecuteToolInput) => Promise<ExecuteToolOutput>;
  readonly reconcile_tool: (input: ReconcileToolInput) => Promise<ReconcileToolOutput>;
  readonly record_outcome: (input: RecordOutcomeInput) => Promise<Acknowledged>;
  readonly check_call: (input: CheckCallInput) => Promise<CheckCallOutput>;
  readonly run_hooks: (input: RunHooksInput) => Promise<RunHooksOutput>;
  readonly compact: (input: CompactInput) => Promise<CompactOutput>;
  readonly resolve_model: (input: ResolveModelInput) => Promise<ResolveModelOutput>;
  readonly flush: (input: FlushInput) => Promise<Acknowledged>;
  readonly close_run: (input: CloseRunInput) => Promise<CloseRunOutput>;
}

export function createActivities(deps: ActivityDeps): Activities {
  return {
    open_run: (input) => guarded((scope) => openRun(deps, scope, input)),
    call_model: (input) => guarded((scope) => callModel(deps, scope, input)),
    execute_tool: (input) => guarded((scope) => executeTool(deps, scope, input)),
    reconcile_tool: (input) => guarded((scope) => reconcileTool(deps, scope, input)),
    record_outcome: (input) => guarded((scope) => recordOutcome(deps, scope, input)),
    check_call: (input) => guarded((scope) => checkCall(deps, scope, input)),
    run_hooks: (input) => guarded((scope) => runHooks(deps, scope, input)),
    compact: (input) => guarded((scope) => compact(deps, scope, input)),
    resolve_model: (input) => guarded((scope) => resolveModel(deps, scope, input)),
    flush: (input) => guarded((scope) => flush(deps, scope, input)),
    close_run: (input) => guarded((scope) => closeRun(deps, scope, input)),
  };
}

async function guarded<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  try {
    return bounded(await inScope(work));
  } catch (error) {
    throw toFailure(error);
  }
}

/** A payload that is too large would be retried for ever, and paid for each time. */
function bounded<T>(output: T): T {
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes <= PAYLOAD_BYTES_MAX) return output;
  const message = `The result of an activity has ${bytes} bytes, the limit is ${PAYLOAD_BYTES_MAX}.`;
  throw failure('Internal', { message, retryable: false });
}
