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
import { appendEvents } from './append-events.js';
import { claimCall, type Claim } from './claim-call.js';
import { graceOf, now, type ActivityDeps, type InTransaction } from './deps.js';
import type { Executed, Execution, Performed } from './execute-read.js';
import { failure } from './failure.js';
import { keepLateWord, recordResult } from './record-result.js';
import { recordedOutcome } from './result-check.js';
import { runCode } from './run-code.js';
import type { Scope } from './scope.js';
import { noteEnd, noteStart, startsBefore, type Start } from './starts.js';
import { timersOf } from './timers.js';
import { toolContext } from './tool-call.js';
import { messageOf } from './tool-message.js';

export async function executeEffect(
  deps: ActivityDeps,
  scope: Scope,
  execution: Execution,
): Promise<Performed> {
  const { store } = deps;
  const { input } = execution;
  if (scope.signal.aborted) {
    const eventsUpTo = await appendEvents(store, scope, input);
    return { outcome: notStarted(scope), attempts: 0, eventsUpTo };
  }
  // One commit: what a person may see of the call, the claim, and that it starts.
  const begun = await store.together(
    (calls) => begin({ ...deps, store: calls }, scope, execution),
    {
      step: 'claim',
      runId: input.run.runId,
      key: input.call.key,
    },
  );
  const { eventsUpTo } = begun;
  if (!begun.claimed) return { outcome: begun.outcome, attempts: begun.attempts, eventsUpTo };
  const claimed = { ...execution, start: begun.start, claim: begun.claim };
  const timeoutMs = timeLeft(deps, claimed);
  if (scope.signal.aborted || timeoutMs <= 0) {
    const outcome = await notBegun(deps, scope, claimed);
    return { outcome, attempts: begun.start.attempt - 1, eventsUpTo };
  }
  const outcome = await runClaimed(deps, scope, { ...claimed, timeoutMs });
  return { outcome, attempts: begun.start.attempt, eventsUpTo };
}

type Begun =
  | { readonly claimed: true; readonly claim: Claim; readonly start: Start }
  | ({ readonly claimed: false } & Executed);

async function begin(
  deps: InTransaction,
  scope: Scope,
  execution: Execution,
): Promise<Begun & { readonly eventsUpTo: number }> {
  const eventsUpTo = await appendEvents(deps.store, scope, execution.input);
  const claim = await claimCall(deps, execution);
  if (!claim.claimed) {
    const attempts = await startsBefore(deps, scope, execution);
    return { claimed: false, outcome: claim.outcome, attempts, eventsUpTo };
  }
  const start = await noteStart(deps, scope, { ...execution, renewed: claim.renewed });
  return { claimed: true, claim, start, eventsUpTo };
}

interface Claimed extends Execution {
  readonly start: Start;
  readonly claim: Claim;
}

/** What the claim leaves of the tool's time: a start may come late on a busy disk or a frozen machine. */
function timeLeft(deps: ActivityDeps, { input: { timeoutMs }, claim }: Claimed): number {
  return Math.min(timeoutMs, claim.until - graceOf(deps, timeoutMs) - now(deps));
}

/** The claim of a start that never came goes back: by it nothing happened. */
async function notBegun(deps: ActivityDeps, scope: Scope, claimed: Claimed): Promise<ToolOutcome> {
  const { input, claim } = claimed;
  await noteEnd(deps, scope, { ...claimed, end: 'lost' });
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
  const { input, runnable, start, timeoutMs } = claimed;
  const end = await runCode(
    (signal) =>
      runnable.tool.run(
        runnable.input,
        toolContext({ ...input, attempt: input.call.attempt - 1 + start.attempt }, signal),
      ),
    {
      timeoutMs,
      graceMs: graceOf(deps, input.timeoutMs),
      timers: timersOf(deps),
      stop: scope.signal,
      isDefinite: isToolError,
    },
  );
  switch (end.kind) {
    case 'returned':
      return recorded(deps, scope, { ...claimed, value: end.value });
    case 'threw':
      return isToolError(end.error)
        ? definite(deps, scope, { ...claimed, error: end.error })
        : doubtful(deps, scope, { ...claimed, message: messageOf(end.error) });
    case 'timed_out':
      return doubtful(deps, scope, {
        ...claimed,
        message: `The tool did not answer within ${input.timeoutMs} ms.`,
      });
    case 'stopped':
      return stopped(deps, scope, claimed);
  }
}

async function recorded(
  deps: ActivityDeps,
  scope: Scope,
  { value, ...claimed }: Claimed & { readonly value: unknown },
): Promise<ToolOutcome> {
  const recording = await recordResult(deps, claimed, value);
  await noteEnd(deps, scope, { ...claimed, end: recording.kind === 'kept' ? 'ok' : 'doubt' });
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
  { error, ...claimed }: Claimed & { readonly error: { readonly code: string } },
): Promise<ToolOutcome> {
  const { input, start } = claimed;
  const message = messageOf(error);
  const retryable = error.code === RETRYABLE;
  await noteEnd(deps, scope, { input, start, end: 'definite' });
  if (retryable && start.mayRetry) throw again(input.call.tool, message);
  if (start.inDoubt) return { kind: 'ambiguous', message };
  if (!(await giveBack(deps, input))) {
    await keepLateWord(deps, scope, { input, result: { text: `Nothing happened: ${message}` } });
    return { kind: 'ambiguous', message };
  }
  return { kind: 'error', code: retryable ? 'retryable_error' : 'execution_error', message };
}

async function doubtful(
  deps: ActivityDeps,
  scope: Scope,
  { input, start, message }: Claimed & { readonly message: string },
): Promise<ToolOutcome> {
  await noteEnd(deps, scope, { input, start, end: 'doubt' });
  if (start.mayRetry) throw again(input.call.tool, message);
  return { kind: 'ambiguous', message };
}

async function stopped(
  deps: ActivityDeps,
  scope: Scope,
  { input, start }: Claimed,
): Promise<ToolOutcome> {
  if (scope.stopRequested()) {
    await noteEnd(deps, scope, { input, start, end: 'doubt' });
    return { kind: 'ambiguous', message: 'Interrupted mid-execution', aborted: true };
  }
  await noteEnd(deps, scope, { input, start, end: 'lost' });
  const message = 'The worker shut down while the tool ran.';
  if (start.sameKey) throw again(input.call.tool, message);
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
