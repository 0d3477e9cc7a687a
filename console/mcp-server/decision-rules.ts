/**
 * What another agent may decide. The desk decides as for everybody (roles, own requests, the action that was shown);
 * these rules come before it and only take away.
 * Invariants: without a word of the configuration nothing is decided; an amount that cannot be read is too large; a
 * question whose run does not say who asked for it is for people.
 */
import type { AgentDecisions } from '../../authoring/index.js';
import type { ToolCard } from '../../core/state/tool-card.js';
import type { LimitsOutlook } from '../../core/controls/outlook.js';
import { currencyDigits } from '../../pure/currencies.js';
import { compareDecimals, decimalOf, shifted, type Decimal } from '../../pure/decimal.js';
import { at, countsAmounts } from '../../pure/headline.js';
import { isCurrencyCode } from '../../core/state/tool-card.js';
import type { Refusal } from './tool.js';

/** Of a question, as the desk shows it. */
export interface ShownAsk {
  readonly askId: string;
  readonly runId: string;
  readonly kind: string;
  readonly outcome: string;
  readonly tool?: string;
  readonly args?: unknown;
  readonly argsHash: string;
  readonly requestedBy?: string;
  readonly card?: ToolCard;
  readonly limits?: LimitsOutlook;
}

export type AgentDecision = 'approve' | 'reject';

const PEOPLE = 'Leave the question to people at the desk.';
const COST = 'maxCostMicroUsd';

/** Why the decision may not be made here; undefined: the desk decides. */
export function objectionTo(
  rules: AgentDecisions | undefined,
  ask: ShownAsk,
  decision: AgentDecision,
): Refusal | undefined {
  if (rules === undefined) return refusal('not_configured', 'Agents decide nothing here.');
  if (ask.requestedBy === undefined) {
    return refusal('requester_unknown', 'The run does not say who asked for it.');
  }
  if (ask.kind === 'budget') return objectionToBudget(rules, ask);
  if (ask.kind !== 'approval' || ask.tool === undefined) {
    return refusal('not_for_agents', 'Agents decide on calls of tools alone.');
  }
  const rule = Object.hasOwn(rules.tools, ask.tool) ? rules.tools[ask.tool] : undefined;
  if (rule === undefined) {
    return refusal(
      'tool_not_allowed',
      'The configuration lets agents decide on other tools alone.',
    );
  }
  return decision === 'reject' ? undefined : objectionToAmount(ask, rule.maxAmount);
}

/** A raise counts with what the run may cost already, so that many small ones are no large one. */
function objectionToBudget({ maxBudgetUsd: most }: AgentDecisions, { args }: ShownAsk) {
  if (most === undefined || at(args, 'budget') !== COST) {
    return refusal('budget_not_allowed', 'The configuration lets agents raise no such limit.');
  }
  const [limit, amount] = [at(args, 'limit'), at(args, 'amount')];
  const isKnown = typeof limit === 'number' && typeof amount === 'number';
  return isKnown && limit + amount <= most ? undefined : tooMuch();
}

function objectionToAmount(ask: ShownAsk, most: number | undefined): Refusal | undefined {
  const amounts = amountsOf(ask);
  if (amounts.length === 0) return most === undefined ? undefined : amountUnknown();
  const limit = decimalOf(most);
  const fits = (amount: Decimal | undefined): boolean =>
    amount !== undefined &&
    limit !== undefined &&
    compareDecimals(amount, limit) <= 0 &&
    amount.units >= 0n;
  return amounts.every(fits) ? undefined : tooMuch();
}

/** In the smallest unit, as the card of the tool and its limits count it; undefined among them: not to be read. */
function amountsOf({ args, card, limits }: ShownAsk): readonly (Decimal | undefined)[] {
  const counted = limits !== undefined && countsAmounts(limits) ? [decimalOf(limits.amount)] : [];
  const declared = card?.amount;
  if (declared === undefined) return counted;
  const raw = decimalOf(at(args, declared.path));
  if (declared.unit === 'minor') return [raw, ...counted];
  const { currency } = declared;
  const code = isCurrencyCode(currency) ? currency : at(args, currency);
  const digits = typeof code === 'string' ? currencyDigits(code.toUpperCase()) : undefined;
  const minor = raw !== undefined && digits !== undefined ? shifted(raw, digits) : undefined;
  return [minor, ...counted];
}

function amountUnknown(): Refusal {
  return refusal('amount_unknown', 'The tool declares no amount, and maxAmount limits one.');
}

function tooMuch(): Refusal {
  return refusal('amount_not_allowed', 'The amount is larger than agents may approve.');
}

function refusal(code: string, message: string): Refusal {
  return { code, message, hint: PEOPLE };
}
