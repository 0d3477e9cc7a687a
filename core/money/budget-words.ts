/** Budgets and amounts of them as the questions of a run name them to people. Exact: no digit is lost. */
import type { BudgetField } from '../state/run.js';

const MICRO = 1_000_000;
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

/** Of micro-USD; at least cents. */
export function dollars(microUsd: number): string {
  const whole = Math.trunc(microUsd / MICRO);
  const digits = String(Math.trunc(microUsd) % MICRO).padStart(6, '0');
  return `$${whole}.${digits.replace(/0+$/, '').padEnd(2, '0')}`;
}
