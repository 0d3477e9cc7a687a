/**
 * Runs a tool that changes something: claim, run, record.
 * Invariants:
 *  X1 Nothing starts without a claim that this execution made.
 *  X2 After the claim only a ToolError says that nothing happened, and only if no earlier start under the
 *     same key is in doubt; everything else is ambiguous.
 *  X3 What the tool returned is in the ledger before anybody hears of it.
 *  X4 Nothing starts, and nothing runs on, after the claim is taken for dead. A process that is frozen
 *     between this check and the tool's own request is the one that no check reaches.
 *  X5 After the claim no failure is retried by Temporal, unless the tool recognises its key (G121).
 */
import { CancelledFailure, type ApplicationFailure } from '@temporalio/common';
import { isToolError, RETRYABLE, type ToolError } from '../../authoring/tool-error.js';
import { isInputRequired } from '../../connectors/index.js';
import type { ToolOutcome } from '../../core/state/effect.js';
import { appendEvents } from '../run/append-events.js';
import { auditEnd, auditStart, isAudited } from './audit-effect.js';
import { claimCall, standingOutcome, type Claim } from './claim-call.js';
import { controlledBy, giveClaimBack, type ControlledExecution } from './controls.js';
import { graceOf, now, type ActivityDeps, type InTransaction } from '../deps.js';
import { usedUp, type Executed, type Execution, type Performed } from './execute-read.js';
import { detailsOf, failure, toFailure, withFacts } from '../failure.js';
import { isUsedUp } from '../progress.js';
import { keepLateWord, recordResult } from './record-result.js';
import { recordedOutcome } from './result-check.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { askedByServer, nothingBy } from './server-question.js';
import { noteEnd, noteStart, startsBefore, type Start, type StartEnd } from './starts.js';
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
    return { outcome: stoppedBefore(scope), attempts: 0, eventsUpTo };
  }
  const controls = controlledBy(execution);
  if (!controls.ok) {
    const eventsUpTo = await appendEvents(store, scope, input);
    // Another version of its code may have begun it.
    const standing = await standingOutcome(deps, input);
    return { outcome: standing ?? controls.outcome, attempts: 0, eventsUpTo };
  }
  const { controlled } = controls;
  // One commit: what a person may see of the call, the claim, and that it starts.
  const begun = await store.together(
    (calls) => begin({ ...deps, store: calls }, scope, { ...execution, controlled }),
    { step: 'claim', runId: input.run.runId },
  );
  const { eventsUpTo } = begun;
  if (!begun.claimed) return { outcome: begun.outcome, attempts: begun.attempts, eventsUpTo };
  const claimed = { ...execution, start: begun.start, claim: begun.claim };
  scope.work.claim(input.call.attempt);
  return { ...(await afterClaim(deps, scope, claimed)), eventsUpTo };
}

/** X5. The claim stands: what fails now is for reconcile, unless the tool recognises its key. */
async function afterClaim(deps: ActivityDeps, scope: Scope, claimed: Claimed): Promise<Executed> {
  const { input, start } = claimed;
  try {
    if (isUsedUp(scope.work, input)) {
      await noteEnd(deps, scope, { ...claimed, end: 'lost' });
      throw usedUp(input, scope);
    }
    const timeoutMs = timeLeft(deps, claimed);
    if (scope.signal.aborted || timeoutMs <= 0) {
      const outcome = await notBegun(deps, scope, claimed);
      return { outcome, attempts: start.attempt - 1 };
    }
    const outcome = await runClaimed(deps, scope, { ...claimed, timeoutMs });
    return { outcome: withClaim(outcome, input), attempts: start.attempt };
  } catch (error) {
    throw start.sameKey ? error : final(error);
  }
}

/** Whoever finds out what became of it knows that there was a claim, whatever store is then in its place. */
function withClaim(outcome: ToolOutcome, { call }: Execution['input']): ToolOutcome {
  return outcome.kind === 'ambiguous' ? { ...outcome, claimed: call.attempt } : outcome;
}

function final(error: unknown): ApplicationFailure | CancelledFailure {
  const failed = toFailure(error);
  if (failed instanceof CancelledFailure) return failed;
  return withFacts(failed, { retryable: false, details: detailsOf(failed) });
}

type Begun =
  | { readonly claimed: true; readonly claim: Claim; readonly start: Start }
  | ({ readonly claimed: false } & Executed);

async function begin(
  deps: InTransaction,
  scope: Scope,
  execution: ControlledExecution,
): Promise<Begun & { readonly eventsUpTo: number }> {
  const eventsUpTo = await appendEvents(deps.store, scope, execution.input);
  const claim = await claimCall(deps, scope, execution);
  if (!claim.claimed) {
    const attempts = await startsBefore(deps, scope, execution);
    return { claimed: false, outcome: claim.outcome, attempts, eventsUpTo };
  }
  await auditStart(deps, execution.input);
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
  if (claim.renewed) {
    const message = 'An earlier start is in doubt.';
    return closeStart(deps, scope, { ...claimed, end: 'lost', outcome: unclear(message) });
  }
  await noteEnd(deps, scope, { ...claimed, end: 'lost' });
  await giveClaimBack(deps, input, NOT_BEGUN);
  return notStarted(scope);
}

const NOT_BEGUN: ToolOutcome = { kind: 'error', code: 'not_executed', message: 'Not begun.' };

interface Closing<Outcome> extends Claimed {
  readonly end: StartEnd;
  readonly outcome: Outcome;
}

/** How a start ended while its claim stays: for the next one, and for the audit trail. Gives the outcome. */
async function closeStart<Outcome extends ToolOutcome>(
  deps: ActivityDeps,
  scope: Scope,
  { input, meter, start, end, outcome }: Closing<Outcome>,
): Promise<Outcome> {
  if (!isAudited(deps, input)) {
    await noteEnd(deps, scope, { input, meter, start, end });
    return outcome;
  }
  await deps.store.together(async (calls) => {
    const inside = { ...deps, store: calls };
    await noteEnd(inside, scope, { input, meter, start, end });
    await auditEnd(inside, input, outcome);
  });
  return outcome;
}

function unclear(message: string): Extract<ToolOutcome, { kind: 'ambiguous' }> {
  return { kind: 'ambiguous', message };
}

async function runClaimed(
  deps: ActivityDeps,
  scope: Scope,
  claimed: Claimed & { readonly timeoutMs: number },
): Promise<ToolOutcome> {
  const { input, runnable, start, timeoutMs, meter } = claimed;
  const attempt = input.call.attempt - 1 + start.attempt;
  const end = await runOutside(deps, scope, {
    run: (signal) => {
      meter.began();
      return runnable.tool.run(
        runnable.input,
        toolContext({ ...deps, ...input, attempt, meter }, signal),
      );
    },
    timeoutMs,
    graceMs: graceOf(deps, input.timeoutMs),
    isDefinite: isToolError,
    workMs: input.workMs,
  });
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
  claimed: Claimed & { readonly value: unknown },
): Promise<ToolOutcome> {
  const recording = await recordResult(deps, claimed);
  if (recording.kind === 'kept') {
    await noteEnd(deps, scope, { ...claimed, end: 'ok' });
    return recordedOutcome(recording.result, false);
  }
  // Who has taken the claim away, or does so when the store can be written again, says how it ended.
  await noteEnd(deps, scope, { ...claimed, end: 'doubt' });
  if (recording.kind === 'late') {
    await keepLateWord(deps, scope, { ...claimed, result: recording.result });
  }
  return unclear('The tool returned, but its claim was gone and its result could not be kept.');
}

/** X2. The tool says that nothing happened; that it knows only of this start. */
async function definite(
  deps: ActivityDeps,
  scope: Scope,
  { error, ...claimed }: Claimed & { readonly error: ToolError },
): Promise<ToolOutcome> {
  const { input, start, meter } = claimed;
  const message = messageOf(error);
  const retryable = error.code === RETRYABLE;
  const nothing: ToolOutcome = isInputRequired(error)
    ? await askedByServer(deps.store, input.run.tenant, error)
    : nothingBy(error);
  const isAgain = retryable && start.mayRetry;
  if (isAgain || start.inDoubt) {
    const outcome = start.inDoubt ? unclear(message) : nothing;
    await closeStart(deps, scope, { ...claimed, end: 'definite', outcome });
    if (isAgain) throw again(input.call.tool, message);
    return outcome;
  }
  await noteEnd(deps, scope, { input, meter, start, end: 'definite' });
  if (await giveClaimBack(deps, input, nothing)) return nothing;
  await keepLateWord(deps, scope, { input, result: { text: `Nothing happened: ${message}` } });
  return unclear(message);
}

async function doubtful(
  deps: ActivityDeps,
  scope: Scope,
  { message, ...claimed }: Claimed & { readonly message: string },
): Promise<ToolOutcome> {
  const outcome = unclear(message);
  await closeStart(deps, scope, { ...claimed, end: 'doubt', outcome });
  if (claimed.start.mayRetry) throw again(claimed.input.call.tool, message);
  return outcome;
}

async function stopped(deps: ActivityDeps, scope: Scope, claimed: Claimed): Promise<ToolOutcome> {
  if (scope.stopRequested()) {
    const outcome = { ...unclear('Interrupted mid-execution'), aborted: true };
    return closeStart(deps, scope, { ...claimed, end: 'doubt', outcome });
  }
  const message = 'The worker shut down while the tool ran.';
  const outcome = unclear(message);
  await closeStart(deps, scope, { ...claimed, end: 'lost', outcome });
  if (claimed.start.sameKey) throw again(claimed.input.call.tool, message);
  return outcome;
}

function again(tool: string, message: string) {
  return failure('ToolRetryable', { message: `${tool}: ${message}` });
}

/** Stopped before anything was claimed: nothing happened, and another worker may do it where only this one has to end. */
function stoppedBefore(scope: Scope): ToolOutcome {
  if (scope.stopRequested()) return INTERRUPTED;
  throw failure('Aborted', { message: 'The worker is shutting down.', retryable: true });
}

/** Nothing happened under a claim that was given back; the attempt itself is over. */
function notStarted(scope: Scope): ToolOutcome {
  return scope.stopRequested() ? INTERRUPTED : unclear('The worker is shutting down.');
}

const INTERRUPTED: ToolOutcome = {
  kind: 'error',
  code: 'interrupted',
  message: 'Interrupted by user',
};
