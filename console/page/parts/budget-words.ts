/** A budget as people read it: what it counts, how much of it is used, how much more is asked for. Pure. */
import type { Ask } from '../data/api-types.js';
import { cost, duration, whole } from './format.js';

export interface Figure {
  readonly name: string;
  readonly value: string;
}

interface BudgetQuestion {
  /** Of a goal. */
  readonly field?: unknown;
  readonly budget?: unknown;
  readonly limit?: unknown;
  readonly used?: unknown;
  readonly amount?: unknown;
}

const NOUNS = new Map([
  ['maxTurns', 'turns'],
  ['maxCycles', 'cycles'],
  ['maxModelCalls', 'model calls'],
  ['maxToolCalls', 'tool calls'],
  ['maxInputTokens', 'input tokens'],
  ['maxOutputTokens', 'output tokens'],
]);

function nounOf(budget: string): string {
  if (budget.endsWith('MicroUsd')) return 'money';
  if (budget.endsWith('Ms')) return 'time';
  return NOUNS.get(budget) ?? `of ${budget}`;
}

/** A number of a budget, as its name says what it counts. */
export function budgetValue(budget: string, value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (budget.endsWith('MicroUsd')) return cost(value);
  return budget.endsWith('Ms') ? duration(value) : whole(value);
}

export function budgetTitle({ args }: Ask): string {
  const { field, budget = field } = (args ?? {}) as BudgetQuestion;
  return typeof budget === 'string' ? `More ${nounOf(budget)}?` : 'More of a budget?';
}

export function budgetFigures({ args }: Ask): readonly Figure[] {
  const { field, budget = field, limit, used, amount } = (args ?? {}) as BudgetQuestion;
  if (typeof budget !== 'string') return [];
  const named = NOUNS.get(budget);
  const noun = named === undefined ? '' : ` ${named}`;
  const shown = (value: unknown): string => budgetValue(budget, value);
  const asked = figure('asked for', `${shown(amount)} more`);
  if (limit === undefined) return [asked];
  return [figure('used', `${shown(used)} of ${shown(limit)}${noun}`), asked];
}

function figure(name: string, value: string): Figure {
  return { name, value };
}
