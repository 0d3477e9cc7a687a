/**
 * Quick reads: a call of a tool that is declared quick is tried within the task that decides, as a local activity. While
 * one runs, nothing else reaches the run, and whoever stops, decides or asks waits for its end.
 * Invariants:
 *  Q1 Nothing but timers is in flight beside a quick attempt; the other calls of its turn stand still until it ends.
 *  Q2 A row of quick attempts without a fact from outside of the task between them is of at most ROW_MAX, and takes at
 *     most ROW_MS together; the next call is an ordinary activity, for which the task ends.
 *  Q3 One attempt: without an answer the same call goes on as an ordinary activity, and is announced and counted once.
 *  Q4 A row begins only where the run knows that its task has not been tried before: a task whose worker died is tried
 *     again without end, by the same facts and at a later time.
 */
import { ownValue } from '../json/json.js';
import type { Call, GrantedStage, ReturnedStage } from '../state/call.js';
import type { InFlight } from '../state/carrier.js';
import type {
  EffectLimits,
  ElsewhereReason,
  ExecuteToolOutput,
  ToolOutcome,
} from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { Input } from '../state/input.js';
import type { OpenRun, Run } from '../state/run.js';
import { retryFor, type ToolRecord } from '../state/tool.js';
import { follows } from '../step/changes.js';
import { remainingMs } from '../step/clock.js';
import { baseOf, go, type StationResult } from '../step/open-work.js';

/** All attempts of a row together, ms: so long whoever reaches for the run may wait. */
const ROW_MS = 1_000;
const ROW_MAX = 3;
/** Less than this is not worth an attempt, ms. */
const ATTEMPT_MS_MIN = 250;
/** Attempts that ran out of time; from then on the tool is an ordinary one in this run. */
const TIMEOUTS_MAX = 2;
/** From the end of an effect to the task that it begins, ms; a task is given up, and tried again, after twice that. */
const IN_TIME_MS = 5_000;

/** How the next execution of the call is tried within the task; undefined: as an ordinary activity. */
export function quickAttempt(
  run: OpenRun,
  call: GrantedStage,
  tool: ToolRecord,
): { readonly ms: number; readonly limits: EffectLimits } | undefined {
  if (!follows(run, 'quickReads') || call.elsewhere !== undefined) return undefined;
  if (!isRead(tool) || call.grant.sandbox || call.answered !== undefined) return undefined;
  const { row, timeouts = {}, inTimeAt } = run.quick ?? {};
  if (row === undefined && follows(run, 'quickInTime') && inTimeAt !== run.now) return undefined;
  const { count = 0, usedMs = 0 } = row ?? {};
  const timedOut = ownValue(timeouts, call.tool) ?? 0;
  const ms = ROW_MS - usedMs;
  if (count >= ROW_MAX || ms < ATTEMPT_MS_MIN || timedOut >= TIMEOUTS_MAX) return undefined;
  // Whatever the run has left less of than this is an ordinary call's to measure.
  if (remainingMs(run) <= ms || isWorkedFor(run)) return undefined;
  return { ms, limits: { attemptMs: ms, maximumAttempts: 1 } };
}

/** What a run of another release may have frozen counts as well: nothing else is ever tried quickly. */
function isRead(tool: ToolRecord): boolean {
  return (
    tool.quick === true &&
    tool.kind === 'tool' &&
    retryFor(tool) === 'repeatable' &&
    tool.queue === undefined &&
    tool.maxCostMicroUsd === undefined &&
    tool.mcp === undefined
  );
}

/** Something other than a timer is in flight (Q1). */
function isWorkedFor({ inflight }: OpenRun): boolean {
  return Object.values(inflight).some(({ kind }) => kind !== 'timer');
}

/** A quick attempt is under way. */
export function isTrying({ quick, inflight }: Pick<Run, 'quick' | 'inflight'>): boolean {
  return quick?.row !== undefined && ownValue(inflight, quick.row.effectId) !== undefined;
}

/** The run with the attempt in its row. */
export function begun(run: OpenRun, effectId: string): OpenRun {
  const { count = 0, usedMs = 0 } = run.quick?.row ?? {};
  return { ...run, quick: { ...run.quick, row: { count: count + 1, usedMs, effectId } } };
}

/** Notes that an effect has ended just now, as far as its work tells: what waited for a worker ended before. */
export function endedInTime(run: Run, { since }: InFlight, workedMs: number): Run {
  const isLate = since === undefined || run.now - since - workedMs > IN_TIME_MS;
  const matters = run.frozen?.tools.some(isRead) && follows(run, 'quickInTime');
  return isLate || !matters ? run : { ...run, quick: { ...run.quick, inTimeAt: run.now } };
}

/** A fact from outside of the task ends the row: the task of the row is over. */
export function inRow(run: Run, input: Input): Run {
  if ('id' in input && input.id === run.quick?.row?.effectId) return run;
  const { row: _, ...quick } = run.quick ?? {};
  return { ...run, quick };
}

/** What a quick attempt came to that ended without a word of its own; undefined: the effect is none. */
export function unheardOutcome(
  run: OpenRun,
  effectId: string,
  { timedOut, cancelled }: Failure,
): ToolOutcome | undefined {
  if (run.quick?.row?.effectId !== effectId || cancelled === true) return undefined;
  return { kind: 'elsewhere', reason: timedOut === true ? 'timeout' : 'unserved' };
}

/** Notes how long a quick attempt took, and whether its time ran out; other effects change nothing. */
export function ranQuickly(
  run: OpenRun,
  effectId: string,
  { outcome, durationMs }: Pick<ExecuteToolOutput, 'outcome' | 'durationMs'>,
): OpenRun {
  const { row, timeouts = {} } = run.quick ?? {};
  if (row?.effectId !== effectId) return run;
  if (outcome.kind !== 'elsewhere' || outcome.reason !== 'timeout') {
    return { ...run, quick: { ...run.quick, row: { ...row, usedMs: row.usedMs + durationMs } } };
  }
  const tool = run.turn?.calls.find((call) => isExecuting(call, effectId))?.tool ?? '';
  const counted = { ...timeouts, [tool]: (ownValue(timeouts, tool) ?? 0) + 1 };
  return { ...run, quick: { row: { ...row, usedMs: ROW_MS }, timeouts: counted } };
}

function isExecuting(call: Call, effectId: string): boolean {
  return call.stage === 'executing' && call.effectId === effectId;
}

/** The same call, as an ordinary activity. */
export function goElsewhere(
  run: OpenRun,
  call: ReturnedStage,
  reason: ElsewhereReason,
): StationResult {
  const elsewhere = {
    startedAt: call.startedAt,
    ...(reason === 'failed' && { failed: true as const }),
  };
  return go(run, { ...baseOf(call), elsewhere, stage: 'granted', grant: call.grant });
}

/** Failures of the tool that are still retried. */
export function retriesLeft(run: OpenRun, call: Call): number {
  const { maxRetriesPerToolCall } = run.frozen.budget;
  return call.elsewhere?.failed ? Math.max(0, maxRetriesPerToolCall - 1) : maxRetriesPerToolCall;
}
