/**
 * Runs a tool that changes something: claim, run, record (design §8).
 * Invariants:
 *  X1 Nothing starts without a claim that this execution made.
 *  X2 After the claim only a ToolError says that nothing happened, and only if no earlier start under the
 *     same key is in doubt; everything else is ambiguous.
 *  X3 What the tool returned is in the ledger before anybody hears of it.
 *  X4 Nothing starts, and nothing runs on, after the claim is taken for dead. A process that is frozen
 *     between this check and the tool's own request is the one that no check reaches.
 */
import { isToolError, RETRYABLE } from '../authoring/tool-error.js';
import type { ToolOutcome } from '../core/effect.js';
import { claimCall, type Claim } from './claim-call.js';
import { graceOf, now, type ActivityDeps } from './deps.js';
import type { Executed, Execution } from './execute-read.js';
import { failure } from './failure.js';
import { keepLateWord, recordResult } from './record-result.js';
import { recordedOutcome } from './result-check.js';
import { runCode } from './run-code.js';
import type { Scope } from './scope.js';
import { noteStart, startsBefore, type Starts } from './starts.js';
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
  if (!claim.claimed) {
    return { outcome: claim.outcome, attempts: await startsBefore(deps, scope, execution) };
  }
  const starts = await noteStart(deps, scope, { ...execution, renewed: claim.renewed });
  const claimed = { ...execution, starts, claim };
  const timeoutMs = timeLeft(deps, claimed);
  if (scope.signal.aborted || timeoutMs <= 0) {
    return { outcome: await notBegun(deps, scope, claimed), attempts: starts.attempt - 1 };
  }
  const outcome = await runClaimed(deps, scope, { ...claimed, timeoutMs });
  return { outcome, attempts: starts.attempt };
}

interface Claimed extends Execution {
  readonly starts: Starts;
  readonly claim: Claim;
}

/** What the claim leaves of the tool's time: a start may come late on a busy disk or a frozen machine. */
function timeLeft(deps: ActivityDeps, { input: { timeoutMs }, claim }: Claimed): number {
  return Math.min(timeoutMs, claim.until - graceOf(deps, timeoutMs) - now(deps));
}

/** The claim of a start that never came goes back: by it nothing happened. */
async function notBegun(
  deps: ActivityDeps,
  scope: Scope,
  { input, starts, claim }: Claimed,
): Promise<ToolOutcome> {
  await starts.finish('lost');
  if (claim.renewed) return { kind: 'ambiguous', message: 'An earlier start is in doubt.' };
  await giveBack(deps, input);
  return notStarted(scope);
}

/** False: the claim was taken away meanwhile. */
function giveBack({ store }: ActivityDeps, { run, call }: Execution['input']): Promise<boolean> {
  return store.voidClaim({ tenant: run.tenant, key: call.key, attempt: call.attempt });
}

async function runClaimed(
  deps: ActivityDeps,
  scope: Scope,
  claimed: Claimed & { readonly timeoutMs: number },
): Promise<ToolOutcome> {
  const { input, runnable, starts, timeoutMs } = claimed;
  const ended = await runCode(
    (signal) =>
      runnable.tool.run(
        runnable.input,
        toolContext({ ...input, attempt: input.call.attempt - 1 + starts.attempt }, signal),
      ),
    {
      timeoutMs,
      graceMs: graceOf(deps, input.timeoutMs),
      timers: timersOf(deps),
      stop: scope.signal,
      isDefinite: isToolError,
    },
  );
  switch (ended.kind) {
    case 'returned':
      return recorded(deps, scope, { ...claimed, value: ended.value });
    case 'threw':
      return isToolError(ended.error)
        ? definite(deps, scope, { ...claimed, error: ended.error })
        : doubtful(claimed, messageOf(ended.error));
    case 'timed_out':
      return doubtful(claimed, `The tool did not answer within ${input.timeoutMs} ms.`);
    case 'stopped':
      return stopped(scope, claimed);
  }
}

async function recorded(
  deps: ActivityDeps,
  scope: Scope,
  { value, ...claimed }: Claimed & { readonly value: unknown },
): Promise<ToolOutcome> {
  const recording = await recordResult(deps, claimed, value);
  await claimed.starts.finish(recording.kind === 'kept' ? 'ok' : 'doubt');
  if (recording.kind === 'kept') return recordedOutcome(recording.result, false);
  if (recording.kind === 'late') {
    await keepLateWord(deps, scope, { ...claimed, result: recording.result });
  }
  return {
    kind: 'ambiguous',
    message: 'The tool returned, but its claim was gone and its result could not be kept.',
  };
}

/** X2. The tool says that nothing happened; that it knows only of this start. */
async function definite(
  deps: ActivityDeps,
  scope: Scope,
  { input, starts, error }: Claimed & { readonly error: { readonly code: string } },
): Promise<ToolOutcome> {
  const message = messageOf(error);
  const retryable = error.code === RETRYABLE;
  await starts.finish('definite');
  if (retryable && starts.mayRetry) throw again(input.call.tool, message);
  if (starts.inDoubt) return { kind: 'ambiguous', message };
  if (!(await giveBack(deps, input))) {
    await keepLateWord(deps, scope, { input, result: { text: `Nothing happened: ${message}` } });
    return { kind: 'ambiguous', message };
  }
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
