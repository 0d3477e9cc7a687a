/**
 * Results that say that going on leads nowhere (G20, G21, G106): a tool that ends badly again and again (C9–C11), the
 * same call with the same result without anything new in between, a tool that is gone and that the task needs.
 * Invariants: a breaker counts consecutive endings of one tool, and a success starts its count again; an action that the
 * run has not seen is progress and starts all counts again, so that `a b a b` is noticed and `a b a c a d` is not; first
 * the model gets a notice, the next time a person is needed. The tables are bounded; names that the model invents share
 * one entry.
 */
import { reached } from '../step/clock.js';
import { holds } from '../json/condition.js';
import { ownValue, sha256Hex, type StoredText } from '../json/json.js';
import { type Limit } from '../state/budget-fields.js';
import type { Call } from '../state/call.js';
import type { StopReason } from '../state/result.js';
import type { Evidence } from '../state/task.js';
import type { BreakerCount, OpenRun, Repetition, Turn } from '../state/run.js';
import {
  DENIED_CODES,
  INFRASTRUCTURE_CODES,
  INTERRUPTED_CODES,
  INVALID_CODES,
  type ToolResult,
} from '../state/tool-result.js';
import { wireNameOf } from '../state/tool.js';
import { follows } from '../step/changes.js';

const CLOSED: BreakerCount = { failures: 0, errors: 0, denied: 0, invalid: 0 };
const UNKNOWN_TOOL = '(unknown)';

type Table = { readonly [tool: string]: BreakerCount };

export function countResult(table: Table, tool: string, result: ToolResult): Table {
  const name = result.code === 'unknown_tool' ? UNKNOWN_TOOL : tool;
  const before = ownValue(table, name) ?? CLOSED;
  const after = counted(before, result);
  return after === before ? table : { ...table, [name]: after };
}

function counted(count: BreakerCount, result: ToolResult): BreakerCount {
  const { code } = result;
  if (result.status === 'ok') return CLOSED;
  if (code === undefined || result.status === 'skipped') return count;
  if (INTERRUPTED_CODES.includes(code)) return count;
  if (DENIED_CODES.includes(code)) return { ...count, denied: count.denied + 1 };
  if (INVALID_CODES.includes(code)) return { ...count, invalid: count.invalid + 1 };
  if (INFRASTRUCTURE_CODES.includes(code))
    return { ...count, failures: count.failures + Math.max(1, result.attempts) };
  return result.started ? { ...count, errors: count.errors + 1 } : count;
}

/** Limits refused it before it was handed over: to a model that goes on with it, that is what its claim would have said. */
export function countRefusedByLimits(run: OpenRun, call: Call, result: ToolResult): OpenRun {
  const asExecuted = { ...result, started: true };
  const breakers = countResult(run.breakers, call.tool, asExecuted);
  return noteAction({ ...run, breakers }, call, asExecuted);
}

export interface BreakerTrip {
  readonly reason: StopReason;
  readonly detail?: string;
  readonly nextSafeAction: string;
}

/** The first breaker that is open. */
export function breakerTrip(run: OpenRun): BreakerTrip | undefined {
  const { budget, settings } = run.frozen;
  const strict = settings.onToolFailure;
  for (const [tool, count] of Object.entries(run.breakers)) {
    if (strict.mode === 'stop' && count.failures + count.errors >= strict.threshold) {
      return strict.outcome === 'tool_failure'
        ? { reason: 'tool_failure', detail: tool, nextSafeAction: `Look at the tool ${tool}.` }
        : repeatedFailure(tool);
    }
    if (
      isOpen(count.failures, budget.maxConsecutiveToolFailures) ||
      isOpen(count.errors, budget.maxConsecutiveToolErrors)
    ) {
      return repeatedFailure(tool);
    }
    if (isOpen(count.denied, budget.maxDeniedProposals)) {
      return {
        reason: 'refused',
        detail: 'unsafe_proposals',
        nextSafeAction: `The model insists on ${tool}; review the task and the policy.`,
      };
    }
    if (isOpen(count.invalid, budget.maxInvalidProposals)) {
      return {
        reason: 'needs_human',
        detail: 'repeated_invalid',
        nextSafeAction: `The model cannot call ${tool} correctly; look at its schema and description.`,
      };
    }
  }
  return undefined;
}

/** A limit of 0 bears none, which is not the same as stopping without any. */
function isOpen(count: number, limit: Limit): boolean {
  return count > 0 && reached(count, limit);
}

function repeatedFailure(tool: string): BreakerTrip {
  return {
    reason: 'needs_human',
    detail: 'repeated_tool_failure',
    nextSafeAction: `The tool ${tool} keeps failing; look at it before the run is started again.`,
  };
}

export const REPETITION_NOTICE =
  'You have made the same call several times and got the same result. Do something else, or give your answer.';
/** Different actions that are remembered; a longer cycle is left to the budgets. */
const ACTIONS_MAX = 16;
const HASH_CHARS = 12;

const NOTHING: Repetition = { counts: {}, noticed: false };

/** Notes an executed call. */
export function noteAction(run: OpenRun, call: Call, result: ToolResult): OpenRun {
  if (!result.started || run.frozen.budget.maxRepeatedActions === 'unlimited') return run;
  const { counts, noticed } = run.repetition ?? NOTHING;
  const action = actionOf(call, result);
  const before = counts[action];
  if (before !== undefined) {
    return { ...run, repetition: { counts: { ...counts, [action]: before + 1 }, noticed } };
  }
  const known = Object.keys(counts).slice(1 - ACTIONS_MAX);
  const fresh = Object.fromEntries([...known, action].map((one) => [one, 1]));
  return { ...run, repetition: { counts: fresh, noticed: false } };
}

/** Not integer-like, so that the table keeps the order of its entries. */
function actionOf({ digest }: Call, { status, content }: ToolResult): string {
  return `a${sha256Hex(`${digest}:${status}:${hashOf(content)}`).slice(0, HASH_CHARS)}`;
}

export type RepetitionStep = 'none' | 'notice' | 'stop';

export function repetitionStep(run: OpenRun): RepetitionStep {
  const { counts, noticed } = run.repetition ?? NOTHING;
  const limit = run.frozen.budget.maxRepeatedActions;
  if (!Object.values(counts).some((count) => reached(count, limit))) return 'none';
  return noticed ? 'stop' : 'notice';
}

/** The notice is out: one more of the same is too much; a turn that executes nothing is not one more. */
export function afterNotice(run: OpenRun): OpenRun {
  const { repetition } = run;
  const { maxRepeatedActions: limit } = run.frozen.budget;
  if (repetition === undefined || limit === 'unlimited') return run;
  const counts = Object.fromEntries(
    Object.entries(repetition.counts).map(([action, count]) => [
      action,
      Math.min(count, limit - 1),
    ]),
  );
  return { ...run, repetition: { counts, noticed: true } };
}

function hashOf(content: StoredText): string {
  return 'text' in content ? sha256Hex(content.text) : content.$blob;
}

export function requiredToolGone(run: OpenRun, turn: Turn): BreakerTrip | undefined {
  const gone = turn.calls.find(
    (call) =>
      call.stage === 'settled' &&
      call.result.code === 'tool_unavailable' &&
      isNeeded(run, call.tool),
  );
  return (
    gone && {
      reason: 'tool_unavailable',
      detail: gone.tool,
      nextSafeAction: `Restore the tool ${gone.tool}, then start again: the task needs it.`,
    }
  );
}

function isNeeded(run: OpenRun, tool: string): boolean {
  const { requiredEvidence = [] } = run.start.task;
  if (requiredEvidence.some((one) => one.satisfiedBy === tool && isMissing(run, one))) return true;
  return follows(run, 'waitForCode') && (isRequired(run, tool) || isCriterion(run, tool));
}

/** No other tool takes the place of the one that evidence names; a place of the state may be filled by any. */
function isMissing(run: OpenRun, { id, satisfiedBy, predicate }: Evidence): boolean {
  if (predicate === undefined || !follows(run, 'unmetEvidence'))
    return !run.evidence.includes(satisfiedBy);
  return !(run.proven ?? []).includes(id);
}

function isRequired(run: OpenRun, name: string): boolean {
  return run.frozen.tools.some((tool) => tool.name === name && tool.required === true);
}

/** A criterion that only a success of the tool can still meet. */
function isCriterion(run: OpenRun, tool: string): boolean {
  const { successCriteria = [] } = run.start.task;
  const succeeded = Object.fromEntries(run.evidence.map((name) => [wireNameOf(name), true]));
  const wanted = wireNameOf(tool);
  if (ownValue(succeeded, wanted) === true) return false;
  return successCriteria.some(
    ({ when }) =>
      when.path.startsWith('tools.') &&
      !holds(when, { tools: succeeded }) &&
      holds(when, { tools: { ...succeeded, [wanted]: true } }),
  );
}
