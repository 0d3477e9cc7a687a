/**
 * Runs a tool that changes something: claim, run, record (design §8).
 * Invariants:
 *  X1 Nothing starts without a claim that this execution made.
 *  X2 After the claim only a ToolError says that nothing happened, and only if no earlier start under the
 *     same key is in doubt; everything else is ambiguous.
 *  X3 What the tool returned is in the ledger before anybody hears of it.
 */
import { isToolError, RETRYABLE } from '../authoring/tool-error.js';
import type { ToolOutcome } from '../core/effect.js';
import { claimCall } from './claim-call.js';
import { graceOf, type ActivityDeps } from './deps.js';
import type { Executed, Execution } from './execute-read.js';
import { failure } from './failure.js';
import { recordResult } from './record-result.js';
import { recordedOutcome } from './result-check.js';
import { runCode } from './run-code.js';
import type { Scope } from './scope.js';
import { noteStart, type Starts } from './starts.js';
import { timersOf } from './timers.js';
import { toolContext } from './tool-call.js';
import { messageOf } from './tool-message.js';

export async function executeEffect(
  deps: ActivityDeps,
  scope: Scope,
  execution: Execution,
): Promise<Executed> {
  if (scope.signal.aborted) return { outcome: notStarted(scope), attempts: 0 };
  const claim = await claimCall(deps, execution);
  if (!claim.claimed) return { outcome: claim.outcome, attempts: 0 };
  const starts = await noteStart(deps, scope, { ...execution, renewed: claim.renewed });
  const outcome = await runClaimed(deps, scope, { ...execution, starts });
  return { outcome, attempts: starts.attempt };
}

interface Claimed extends Execution {
  readonly starts: Starts;
}

async function runClaimed(
  deps: ActivityDeps,
  scope: Scope,
  claimed: Claimed,
): Promise<ToolOutcome> {
  const { input, runnable, starts } = claimed;
  const ended = await runCode(
    (signal) =>
      runnable.tool.run(
        runnable.input,
        toolContext({ ...input, attempt: input.call.attempt - 1 + starts.attempt }, signal),
      ),
    {
      timeoutMs: input.timeoutMs,
      graceMs: graceOf(deps, input.timeoutMs),
      timers: timersOf(deps),
      stop: scope.signal,
      isDefinite: isToolError,
    },
  );
  switch (ended.kind) {
    case 'returned':
      return recorded(deps, claimed, ended.value);
    case 'threw':
      return isToolError(ended.error)
        ? definite(deps, claimed, ended.error)
        : doubtful(claimed, messageOf(ended.error));
    case 'timed_out':
      return doubtful(claimed, `The tool did not answer within ${input.timeoutMs} ms.`);
    case 'stopped':
      return stopped(scope, claimed);
  }
}

async function recorded(
  deps: ActivityDeps,
  claimed: Claimed,
  value: unknown,
): Promise<ToolOutcome> {
  const result = await recordResult(deps, claimed, value);
  await claimed.starts.finish(result === undefined ? 'doubt' : 'ok');
  if (result !== undefined) return recordedOutcome(result, false);
  return {
    kind: 'ambiguous',
    message: 'The tool returned, but its claim was gone and its result could not be kept.',
  };
}

/** X2. The tool says that nothing happened; that it knows only of this start. */
async function definite(
  deps: ActivityDeps,
  claimed: Claimed,
  error: { readonly code: string },
): Promise<ToolOutcome> {
  const { input, starts } = claimed;
  const message = messageOf(error);
  const retryable = error.code === RETRYABLE;
  await starts.finish('definite');
  if (retryable && starts.mayRetry) throw again(input.call.tool, message);
  if (starts.inDoubt) return { kind: 'ambiguous', message };
  await deps.store.voidClaim({
    tenant: input.run.tenant,
    key: input.call.key,
    attempt: input.call.attempt,
  });
  return { kind: 'error', code: retryable ? 'retryable_error' : 'execution_error', message };
}

async function doubtful({ input, starts }: Claimed, message: string): Promise<ToolOutcome> {
  await starts.finish('doubt');
  if (starts.mayRetry) throw again(input.call.tool, message);
  return { kind: 'ambiguous', message };
}

async function stopped(scope: Scope, { input, starts }: Claimed): Promise<ToolOutcome> {
  if (scope.stopRequested()) {
    await starts.finish('doubt');
    return { kind: 'ambiguous', message: 'Interrupted mid-execution', aborted: true };
  }
  await starts.finish('lost');
  const message = 'The worker shut down while the tool ran.';
  if (starts.sameKey) throw again(input.call.tool, message);
  return { kind: 'ambiguous', message };
}

function again(tool: string, message: string) {
  return failure('ToolRetryable', { message: `${tool}: ${message}` });
}

/** Stopped before anything was claimed: nothing happened. */
function notStarted(scope: Scope): ToolOutcome {
  if (!scope.stopRequested()) return { kind: 'ambiguous', message: 'The worker is shutting down.' };
  return { kind: 'error', code: 'interrupted', message: 'Interrupted by user' };
}
