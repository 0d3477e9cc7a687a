/**
 * Circuit breakers: the same tool ending badly again and again stops the run (C9–C11, G20).
 * Invariants: counts are consecutive per tool, a success resets them; the table is bounded, names that
 * the model invents share one entry.
 */
import { reached, type Limit } from '../state/budget-fields.js';
import { ownValue } from '../json/json.js';
import type { BreakerCount, OpenRun } from '../state/run.js';
import type { StopReason } from '../state/result.js';
import {
  DENIED_CODES,
  INFRASTRUCTURE_CODES,
  INTERRUPTED_CODES,
  INVALID_CODES,
  type ToolResult,
} from '../state/tool-result.js';

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
