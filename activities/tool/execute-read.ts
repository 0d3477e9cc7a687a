/**
 * Runs a tool that changes nothing: repeated on failure as often as the budget says.
 * Invariants: a worker's death is no failure of the tool; a ToolError that asks for no retry is an answer.
 */
import { isToolError, isToolFailure, RETRYABLE, UNAVAILABLE } from '../../authoring/tool-error.js';
import { isInputRequired } from '../../connectors/index.js';
import type { ExecuteToolInput, ExecuteToolOutput, ToolOutcome } from '../../core/state/effect.js';
import type { StoredText } from '../../core/json/json.js';
import { retryFor } from '../../core/state/tool.js';
import type { ToolResultCode } from '../../core/state/tool-result.js';
import { graceOf, now, type ActivityDeps, type InTransaction } from '../deps.js';
import { failure } from '../failure.js';
import { outputDefect } from './result-check.js';
import { askedByServer, nothingBy } from './server-question.js';
import { isUsedUp, usedUpText } from '../progress.js';
import { resultText } from './result-text.js';
import { filesOf, keepFiles } from './returned-files.js';
import type { CodeOutcome } from './run-code.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { writePatiently } from '../store-away.js';
import { storeValue } from './store-result.js';
import type { Meter } from './tool-cost.js';
import { toolContext, type RunnableCall } from './tool-call.js';
import { messageOf } from './tool-message.js';

export interface Execution {
  readonly input: ExecuteToolInput;
  readonly runnable: RunnableCall;
  readonly meter: Meter;
}

export interface Executed {
  readonly outcome: ToolOutcome;
  /** How often the tool's code was started for this effect. */
  readonly attempts: number;
}

/** With the number below which all events of the run are stored. */
export interface Performed extends Executed, Pick<ExecuteToolOutput, 'warnings' | 'notes'> {
  readonly eventsUpTo: number;
}

/**
 * A start leaves a row only when it fails: nothing else of a read is ever counted, and a row for each would
 * cost every read a commit.
 */
export async function executeRead(
  deps: ActivityDeps,
  scope: Scope,
  { input, runnable, meter }: Execution,
): Promise<Executed> {
  const { attempt } = scope;
  if (scope.signal.aborted) return { outcome: stoppedOutcome(scope, input), attempts: attempt - 1 };
  if (isUsedUp(scope.work, input)) throw usedUp(input, scope);
  const ended = await runOutside(deps, scope, {
    run: (signal) => {
      meter.began();
      return runnable.tool.run(
        runnable.input,
        toolContext({ ...deps, ...input, attempt, meter }, signal),
      );
    },
    timeoutMs: input.timeoutMs,
    graceMs: graceOf(deps, input.timeoutMs),
    isDefinite: isToolError,
    workMs: input.workMs,
  });
  const end = await writePatiently(deps, scope, () =>
    endOf(deps, { input, runnable, meter }, ended),
  );
  if (end.kind === 'done') return { outcome: end.outcome, attempts: attempt };
  if (end.kind === 'stopped') return { outcome: stoppedOutcome(scope, input), attempts: attempt };
  const { code, message } = end;
  const failures = await deps.store.together((store) =>
    noteFailure({ ...deps, store }, scope, { input, code, meter }),
  );
  if (retryFor(runnable.tool.record) !== 'repeatable' || failures > input.maxRetries) {
    return { outcome: { kind: 'error', code, message }, attempts: attempt };
  }
  throw failure('ToolRetryable', { message: `${input.call.tool}: ${message}` });
}

interface FailedStart extends Pick<Execution, 'input' | 'meter'> {
  readonly code: ToolResultCode;
}

/** Writes the row of a failed start; gives how many have failed so far. */
async function noteFailure(
  deps: InTransaction,
  scope: Scope,
  { input, code, meter }: FailedStart,
): Promise<number> {
  const { tenant, runId } = input.run;
  const site = { tenant, runId, effectId: scope.effectId };
  const at = now(deps);
  const attempt = await deps.store.startAttempt({
    ...site,
    kind: 'tool',
    boundCostMicroUsd: input.cost?.each ?? 0,
    boundInputTokens: 0,
    boundOutputTokens: 0,
    startedAt: at,
  });
  const costMicroUsd = meter.charge(code !== 'timeout');
  const end = { outcome: 'failed', code, costMicroUsd, estimated: false, finishedAt: at } as const;
  await deps.store.finishAttempt({ ...site, attempt, ...end });
  const rows = await deps.store.listAttempts(tenant, runId, site.effectId);
  return rows.filter((row) => row.end?.outcome === 'failed').length;
}

export type End =
  | { readonly kind: 'done'; readonly outcome: ToolOutcome }
  | { readonly kind: 'failed'; readonly code: ToolResultCode; readonly message: string }
  | { readonly kind: 'stopped' };

/** What the end of the code means; a result of more than a few bytes is in the store then. */
export async function endOf(
  deps: InTransaction,
  { input, runnable }: Execution,
  ended: CodeOutcome,
): Promise<End> {
  if (ended.kind === 'stopped') return { kind: 'stopped' };
  if (ended.kind === 'timed_out') {
    const message = `The tool did not answer within ${input.timeoutMs} ms.`;
    return { kind: 'failed', code: 'timeout', message };
  }
  if (ended.kind === 'threw') return ofError(deps, input, ended.error);
  if (isToolFailure(ended.value)) {
    const { message } = ended.value;
    return { kind: 'done', outcome: { kind: 'error', code: 'execution_error', message } };
  }
  const { value, prepared, defect: unusable } = filesOf(ended.value);
  if (unusable !== undefined) return malformed(`The tool's result is unusable: ${unusable}`);
  const result = resultText(value);
  if (!result.ok) return malformed(`The tool's result is not JSON: ${result.reason}.`);
  const bytes = Buffer.byteLength(result.text);
  const { maxResultBytes } = runnable.tool.record;
  if (bytes > maxResultBytes) {
    return malformed(`The tool's result has ${bytes} bytes; ${maxResultBytes} are allowed.`);
  }
  const place = { store: deps.store, tenant: input.run.tenant, ...input };
  const content = await storeValue(place, result);
  const defect = outputDefect(runnable.tool, result);
  if (defect !== undefined) return malformed(`The tool's result is unusable: ${defect}`, content);
  const attachments = await keepFiles(deps.store, input.run.tenant, prepared);
  const outcome = {
    kind: 'ok',
    content,
    ...(attachments !== undefined && { attachments }),
  } as const;
  return { kind: 'done', outcome };
}

async function ofError(
  { store }: InTransaction,
  { run: { tenant } }: ExecuteToolInput,
  error: unknown,
): Promise<End> {
  if (isInputRequired(error)) {
    return { kind: 'done', outcome: await askedByServer(store, tenant, error) };
  }
  const message = messageOf(error);
  const retryable =
    isToolError(error) && error.code === RETRYABLE
      ? true
      : (error as { retryable?: unknown } | null)?.retryable === true;
  if (retryable) {
    const isGone = isToolError(error) && error.code === UNAVAILABLE;
    return { kind: 'failed', code: isGone ? UNAVAILABLE : 'retryable_error', message };
  }
  if (isToolError(error)) {
    return { kind: 'done', outcome: nothingBy(error) };
  }
  return { kind: 'failed', code: 'execution_error', message };
}

function malformed(message: string, returned?: StoredText): End {
  const outcome = { kind: 'error', code: 'malformed_result', message } as const;
  return { kind: 'done', outcome: { ...outcome, ...(returned !== undefined && { returned }) } };
}

/** The attempts so far have worked for as long as the run had left. */
export function usedUp(input: ExecuteToolInput, { work }: Scope) {
  const message = usedUpText(input.call.tool, work, input);
  return failure('ToolRetryable', { message, retryable: false, details: { timedOut: true } });
}

/** The run wants it to end, or only this worker has to: then another one reads again. */
function stoppedOutcome(scope: Scope, { call }: ExecuteToolInput): ToolOutcome {
  if (!scope.stopRequested()) {
    const message = `The worker of ${call.tool} is shutting down.`;
    throw failure('Aborted', { message, retryable: true });
  }
  return {
    kind: 'error',
    code: 'interrupted_mid_execution',
    message: 'Interrupted mid-execution',
  };
}
