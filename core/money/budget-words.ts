/** Budgets and amounts of them as the questions of a run name them to people. Exact: no digit is lost. */
import type { BudgetField } from '../state/run.js';
import { dollars } from './dollars.js';

const SECOND_MS = 1_000;

const NAMES: { readonly [field in BudgetField]: string } = {
  maxTurns: 'turns',
  maxModelCalls: 'model calls',
  maxToolCalls: 'tool calls',
  timeoutMs: 'time',
  maxCostMicroUsd: 'money',
  maxInputTokens: 'input tokens',
  maxOutputTokens: 'output tokens',
};

/** `money` for `maxCostMicroUsd`. */
export function budgetName(field: BudgetField): string {
  return NAMES[field];
}

/** `$1.25`, `90 s`, `12`. */
export function budgetAmount(field: BudgetField, amount: number): string {
  if (field === 'maxCostMicroUsd') return dollars(amount);
  return field === 'timeoutMs' ? `${amount / SECOND_MS} s` : String(amount);
}
