/**
 * The measures of an evaluation. Every rate is a share between 0 and 1, or null when nothing could be counted.
 *
 * - completion rate: runs that completed, of all runs
 * - correct stop reason: runs that stopped as expected, of those whose case expects a stop reason or a refused start
 * - invalid-action rate: calls refused as invalid or denied, of all proposed calls
 * - repeated-action rate: calls with the tool and arguments of an earlier call of their run, of all proposed calls
 * - escalation accuracy: runs that ended with a person exactly when their case says so, of those where either holds
 * - tokens, tool cost: sums over all runs
 * - latency: wall time of a case in its engine, ms
 * - replay success: histories that replayed, of those that were exported
 */
import { addUsage } from '../core/money/budget.js';
import { canonicalJson } from '../core/json/json.js';
import { NO_USAGE, type Usage } from '../core/state/model.js';
import { hasStopReason } from './compare/stop-reason.js';
import { judgeStartError } from './compare/result.js';
import { seen } from './compare/seen.js';
import type { Observation } from './engine.js';
import type { Fixture } from './fixture.js';

export interface Metrics {
  readonly completionRate: number | null;
  readonly correctStopReason: number | null;
  readonly invalidActionRate: number | null;
  readonly repeatedActionRate: number | null;
  readonly escalationAccuracy: number | null;
  readonly tokens: Usage;
  readonly costMicroUsd: number;
  readonly toolCalls: number;
  readonly toolAttempts: number;
  readonly latencyMs: { readonly median: number; readonly p95: number; readonly max: number };
  readonly replaySuccess: number | null;
}

/** What one case adds; small, so that thousands of cases need not be remembered whole. */
export interface Measure {
  readonly completed: boolean;
  readonly stoppedAsExpected?: boolean;
  readonly escalatedAsExpected?: boolean;
  readonly proposedCalls: number;
  readonly invalidCalls: number;
  readonly repeatedCalls: number;
  readonly toolCalls: number;
  readonly toolAttempts: number;
  readonly usage: Usage;
  readonly costMicroUsd: number;
  readonly tookMs: number;
  readonly replayed?: boolean;
}

export function measure(fixture: Fixture, observation: Observation): Measure {
  const { result, tookMs, replayed } = observation;
  const counters = result?.counters;
  const stopped = stopsAsExpected(fixture, observation);
  const escalated = escalatesAsExpected(fixture, observation);
  return {
    completed: result?.completed ?? false,
    ...(stopped !== undefined && { stoppedAsExpected: stopped }),
    ...(escalated !== undefined && { escalatedAsExpected: escalated }),
    proposedCalls: counters?.proposedCalls ?? 0,
    invalidCalls: (counters?.invalidCalls ?? 0) + (counters?.deniedCalls ?? 0),
    repeatedCalls: repeatedCallsOf(observation),
    toolCalls: counters?.toolCalls ?? 0,
    toolAttempts: counters?.toolAttempts ?? 0,
    usage: result?.usage ?? NO_USAGE,
    costMicroUsd: result?.costMicroUsd ?? 0,
    tookMs,
    ...(replayed !== undefined && { replayed }),
  };
}

export function metricsOf(measures: readonly Measure[]): Metrics {
  const total = (read: (one: Measure) => number): number =>
    measures.reduce((sum, one) => sum + read(one), 0);
  const proposed = total((one) => one.proposedCalls);
  return {
    completionRate: shareOf(measures.map((one) => one.completed)),
    correctStopReason: shareOf(measures.map((one) => one.stoppedAsExpected)),
    invalidActionRate: rate(
      total((one) => one.invalidCalls),
      proposed,
    ),
    repeatedActionRate: rate(
      total((one) => one.repeatedCalls),
      proposed,
    ),
    escalationAccuracy: shareOf(measures.map((one) => one.escalatedAsExpected)),
    tokens: measures.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    costMicroUsd: total((one) => one.costMicroUsd),
    toolCalls: total((one) => one.toolCalls),
    toolAttempts: total((one) => one.toolAttempts),
    latencyMs: latencyOf(measures.map((one) => one.tookMs)),
    replaySuccess: shareOf(measures.map((one) => one.replayed)),
  };
}

function stopsAsExpected(fixture: Fixture, observation: Observation): boolean | undefined {
  const { start_error, stop_reason, dialect } = fixture.expected;
  if (start_error !== undefined) {
    return judgeStartError(start_error, seen(fixture, observation)).length === 0;
  }
  if (stop_reason === undefined) return undefined;
  const { result } = observation;
  return result !== undefined && hasStopReason(result, stop_reason, dialect);
}

const ESCALATION = 'needs_human';

/** Nothing to say of a case that neither expects a person nor ended with one, nor of one that expects no stop. */
function escalatesAsExpected(fixture: Fixture, { result }: Observation): boolean | undefined {
  const { stop_reason } = fixture.expected;
  if (stop_reason === undefined) return undefined;
  const expected = stop_reason === ESCALATION;
  const observed = result?.stopReason === ESCALATION;
  return expected || observed ? expected === observed : undefined;
}

function repeatedCallsOf({ events: own, goal }: Observation): number {
  const events = goal?.tree ?? own;
  const known = new Set<string>();
  const calls = events.flatMap((event) => (event.type === 'model_response' ? event.calls : []));
  return calls.filter(({ tool, args }) => {
    const action = canonicalJson({ tool, args });
    return known.has(action) || !known.add(action);
  }).length;
}

function latencyOf(times: readonly number[]): Metrics['latencyMs'] {
  const sorted = times.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: sorted.at(-1) ?? 0 };
}

/** The smallest time that at least this share of the cases did not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Of those that can be told at all. */
function shareOf(outcomes: readonly (boolean | undefined)[]): number | null {
  const known = outcomes.filter((outcome) => outcome !== undefined);
  return rate(known.filter(Boolean).length, known.length);
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
