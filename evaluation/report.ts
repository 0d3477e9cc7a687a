/** The report of an evaluation as data: what `--json` writes. */
import type { Difference } from './compare.js';
import type { CaseOutcome } from './evaluate.js';
import type { WhyEnded } from './why-ended.js';
import { metricsOf, type Metrics } from './metrics.js';
import type { RunResult } from '../core/state/result.js';

export interface Report {
  readonly summary: Summary;
  readonly cases: readonly ReportedCase[];
}

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly completion_rate: number | null;
  readonly correct_stop_reason: number | null;
  readonly invalid_action_rate: number | null;
  readonly repeated_action_rate: number | null;
  readonly escalation_accuracy: number | null;
  readonly token_and_tool_cost: {
    readonly usage: {
      readonly in: number;
      readonly out: number;
      readonly cacheR: number;
      readonly cacheW: number;
    };
    readonly cost_micro_usd: number;
    readonly tool_calls: number;
    readonly tool_attempts: number;
  };
  readonly latency_ms: Metrics['latencyMs'];
  readonly replay_success: number | null;
}

/** One case in one engine. */
export interface ReportedCase {
  readonly case_id: string;
  readonly engine: string;
  readonly outcome: CaseOutcome['outcome'];
  /** Why it was skipped. */
  readonly why?: string;
  readonly differences: readonly Difference[];
  /** Of a case that failed: how its run stopped, the rule that decided last, the last word against a call. */
  readonly why_ended?: WhyEnded;
  readonly result: RunResult | null;
}

export function reportOf(outcomes: readonly CaseOutcome[]): Report {
  return { summary: summaryOf(outcomes), cases: outcomes.map(reported) };
}

export function summaryOf(outcomes: readonly CaseOutcome[]): Summary {
  const count = (outcome: CaseOutcome['outcome']): number =>
    outcomes.filter((one) => one.outcome === outcome).length;
  const metrics = metricsOf(outcomes.flatMap((one) => one.measure ?? []));
  const { input, output, cacheRead, cacheWrite } = metrics.tokens;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    completion_rate: metrics.completionRate,
    correct_stop_reason: metrics.correctStopReason,
    invalid_action_rate: metrics.invalidActionRate,
    repeated_action_rate: metrics.repeatedActionRate,
    escalation_accuracy: metrics.escalationAccuracy,
    token_and_tool_cost: {
      usage: { in: input, out: output, cacheR: cacheRead, cacheW: cacheWrite },
      cost_micro_usd: metrics.costMicroUsd,
      tool_calls: metrics.toolCalls,
      tool_attempts: metrics.toolAttempts,
    },
    latency_ms: metrics.latencyMs,
    replay_success: metrics.replaySuccess,
  };
}

function reported(outcome: CaseOutcome): ReportedCase {
  const { fixture, engine, why, differences, result, whyEnded } = outcome;
  return {
    case_id: fixture.caseId,
    engine,
    outcome: outcome.outcome,
    ...(why !== undefined && { why }),
    differences,
    ...(whyEnded !== undefined && { why_ended: whyEnded }),
    result: result ?? null,
  };
}

/** Every case that ran has passed, and at least one ran: skipping everything proves nothing. */
export function isSuccess({ passed, failed }: Pick<Summary, 'passed' | 'failed'>): boolean {
  return failed === 0 && passed > 0;
}
