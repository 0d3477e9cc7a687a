/**
 * What the attempts of one model call have cost, and whether another may leave (C27). Pure.
 * Invariants: an attempt whose end nobody saw counts as its bound, and never as a failure of the model.
 */
import { addUsage } from '../../core/money/budget.js';
import type { CallModelInput, RetriedAttempt } from '../../core/state/effect.js';
import type { StopReason } from '../../core/state/result.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import type { AttemptRow } from '../../store/attempts.js';

export interface ModelAccount {
  /** Every attempt, whatever became of it. */
  readonly attempts: number;
  /** Of attempts that brought no reply. */
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Usage;
  /** Failures by retry class. */
  readonly failures: { readonly serverError: number; readonly other: number };
  /** Code of the newest failure. */
  readonly lastCode?: string;
  readonly retried: readonly RetriedAttempt[];
  /** Output of an attempt that brought no reply had arrived, or may have. */
  readonly partial: boolean;
}

/** `replied` is the attempt whose reply is used: its cost is the reply's own. */
export function accountOf(rows: readonly AttemptRow[], replied?: number): ModelAccount {
  const lost = rows.filter((row) => row.attempt !== replied);
  const failed = lost.filter((row) => row.end?.outcome === 'failed');
  const serverErrors = failed.filter((row) => row.end?.code === 'ServerError').length;
  const lastCode = failed.at(-1)?.end?.code;
  return {
    attempts: rows.length,
    lostCostMicroUsd: lost.reduce((sum, row) => sum + costOf(row), 0),
    lostUsage: lost.reduce((sum, row) => addUsage(sum, usageOf(row)), NO_USAGE),
    failures: { serverError: serverErrors, other: failed.length - serverErrors },
    retried: rows.slice(0, -1).map(({ attempt, end }) => ({
      attempt: attempt + 1,
      class: end?.outcome === 'failed' ? (end.code ?? 'Internal') : 'WorkerLost',
    })),
    partial: lost.some((row) => usageOf(row).output > 0),
    ...(lastCode !== undefined && { lastCode }),
  };
}

/** One attempt, and it brought the reply. */
export const REPLIED_AT_ONCE: ModelAccount = {
  attempts: 1,
  lostCostMicroUsd: 0,
  lostUsage: NO_USAGE,
  failures: { serverError: 0, other: 0 },
  retried: [],
  partial: false,
};

function costOf({ end, boundCostMicroUsd }: AttemptRow): number {
  return end === undefined ? boundCostMicroUsd : (end.costMicroUsd ?? 0);
}

function usageOf({ end, boundInputTokens, boundOutputTokens }: AttemptRow): Usage {
  if (end !== undefined) return end.usage ?? NO_USAGE;
  return { input: boundInputTokens, output: boundOutputTokens, cacheRead: 0, cacheWrite: 0 };
}

export type TrippedBudget = Extract<
  StopReason,
  'max_cost' | 'max_input_tokens' | 'max_output_tokens'
>;

/** The budget that another attempt would break, or that attempts have used up (prompts); or undefined. */
export function trippedBy(
  account: ModelAccount,
  { bound, left, maxTokens }: Pick<CallModelInput, 'bound' | 'left' | 'maxTokens'>,
): TrippedBudget | undefined {
  const { lostUsage, lostCostMicroUsd } = account;
  const inputTokens = lostUsage.input + lostUsage.cacheRead + lostUsage.cacheWrite;
  if (exceeds(lostCostMicroUsd + bound.costMicroUsd, left.costMicroUsd)) return 'max_cost';
  if (inputTokens > 0 && exceeds(inputTokens + 1, left.inputTokens)) return 'max_input_tokens';
  if (exceeds(lostUsage.output + maxTokens, left.outputTokens)) return 'max_output_tokens';
  return undefined;
}

function exceeds(amount: number, limit: number | null): boolean {
  return limit !== null && amount > limit;
}

/** True when the failures so far leave no retry of the newest one's class. */
export function retriesUsedUp(
  { failures, lastCode }: ModelAccount,
  maxRetries: CallModelInput['maxRetries'],
): boolean {
  return lastCode === 'ServerError'
    ? failures.serverError > maxRetries.serverError
    : failures.other > maxRetries.other;
}
