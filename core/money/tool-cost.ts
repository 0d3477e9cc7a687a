/**
 * Money of calls whose tool says what they cost.
 * Invariants: no call starts unless spent + reserved + the most that it may cost once ≤ limit (B1); the reservation is for
 * all attempts that the limit allows, and ends with the effect (B2); an attempt that is lost is charged with its bound.
 */
import { isCount } from '../json/count.js';
import type { ExecuteToolInput, ExecuteToolOutput } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { OpenRun } from '../state/run.js';
import { retryFor, type ToolRecord } from '../state/tool.js';
import { left } from '../step/clock.js';
import { warn } from '../step/outbox.js';
import { committedMicroUsd, settleReservation } from './budget.js';

export type CallBound = NonNullable<ExecuteToolInput['cost']>;

/** 'wait': it may fit when what is reserved for other work has come back. */
export function fitCall(run: OpenRun, tool: ToolRecord): CallBound | 'wait' | 'misfit' {
  const { maxCostMicroUsd, maxRetriesPerToolCall } = run.frozen.budget;
  const { maxCostMicroUsd: each = 0 } = tool;
  const room = left(committedMicroUsd(run), maxCostMicroUsd);
  if (each > room) return Object.keys(run.money.reserved).length > 0 ? 'wait' : 'misfit';
  const attempts = retryFor(tool) === 'single' ? 1 : 1 + maxRetriesPerToolCall;
  return { each, most: Math.min(each * attempts, room, Number.MAX_SAFE_INTEGER) };
}

export interface Billed {
  readonly run: OpenRun;
  readonly costMicroUsd: number;
}

/** Of a call that came back. A worker of an earlier release does not say what it cost. */
export function billCall(
  run: OpenRun,
  effectId: string,
  { costMicroUsd: said, costUnreadable }: ExecuteToolOutput,
): Billed {
  const costMicroUsd = isCount(said) ? said : (run.money.reserved[effectId] ?? 0);
  const billed = settleReservation(run, effectId, {
    billed: costMicroUsd,
    lost: 0,
    by: 'the tool call',
  });
  const words = 'the bound counts instead of what the tool says that its call costs';
  return { run: costUnreadable ? warn(billed, 'usage_unreadable', words) : billed, costMicroUsd };
}

/** Failures that say by themselves that no tool was called. */
const BEFORE_ANY_CALL: readonly Failure['code'][] = ['GrantInvalid', 'ToolUnavailable'];

/** Of a call of whose end nobody heard: each attempt may have cost its bound. */
export function billLostCall(run: OpenRun, effectId: string, failure: Failure): Billed {
  const isUnbegun = failure.attempts === 0 || BEFORE_ANY_CALL.includes(failure.code);
  const costMicroUsd = isUnbegun ? 0 : (run.money.reserved[effectId] ?? 0);
  const lost = { billed: 0, lost: costMicroUsd };
  return { run: settleReservation(run, effectId, lost), costMicroUsd };
}
