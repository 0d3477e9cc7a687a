/**
 * What happens when a budget is used up: the run asks a person for more of it (G91), or ends with it.
 *
 * Invariants:
 *  M1 Asking changes no limit; only an approval raises one, by a named amount, for the rest of the run.
 *  M2 While the question is open nothing new starts.
 *  M3 After an overrun (a vendor billed more than its bound, G92) nothing starts unless a person, told what
 *     was spent, allows more.
 */
import { only } from '../step/inflight.js';
import type { Ask } from '../state/ask.js';
import { follows } from '../step/changes.js';
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { askById, retireAsks, outcomeOf } from '../step/open-work.js';
import { type Budget } from '../state/budget-fields.js';
import { countedMs, reached } from '../step/clock.js';
import { digestOf } from '../json/json.js';
import type { StopReason } from '../state/result.js';
import type { BudgetField, Exceeded, OpenRun, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import { answerAbove, askAbove, closeAbove, mayAskAbove } from './ask-above.js';
import { endOnBudget } from './wrap-up.js';
import { inputUsed } from './budget.js';
import { budgetAmount, budgetName } from './budget-words.js';

const BUDGET_ASKS_MAX = 100;

/** The budget that a run which ends with this reason has used up; `max_turns` may be that of model calls as well. */
export const BUDGET_OF: { readonly [reason in StopReason]?: BudgetField } = {
  max_turns: 'maxTurns',
  max_tool_calls: 'maxToolCalls',
  timeout: 'timeoutMs',
  max_cost: 'maxCostMicroUsd',
  max_input_tokens: 'maxInputTokens',
  max_output_tokens: 'maxOutputTokens',
};

/** A budget does not allow what comes next. */
export function exceed(run: OpenRun, reason: StopReason): OpenRun {
  const exceeded = questionFor(run, reason);
  return exceeded === undefined ? endOnBudget(run, reason) : { ...run, exceeded };
}

/** What a person would be asked about a used-up budget; undefined: nobody is, the run ends with it. */
export function questionFor(run: OpenRun, reason: StopReason): Exceeded | undefined {
  const field = fieldOf(run, reason);
  const limit = field === undefined ? 'unlimited' : run.frozen.budget[field];
  const asksAbove = run.start.parent?.asks === true;
  const mayAsk = asksAbove
    ? // A bill above its bound is for a person alone.
      field === 'maxCostMicroUsd' && mayAskAbove(run) && !run.money.overrun
    : run.frozen.settings.onBudget === 'ask' && (run.budgetAsks ?? 0) < BUDGET_ASKS_MAX;
  // A run that says its last word has been refused more, or was not to ask.
  const last = run.wrapUp !== undefined;
  if (last || !mayAsk || field === undefined || limit === 'unlimited') return undefined;
  // As much again: what a person allowed once is the best guess of what they allow twice.
  return { reason, field, limit, amount: Math.max(1, limit) };
}

/** Rule: as long as a budget is exceeded the run waits for a person's word on it. */
export function askForBudget(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { exceeded } = run;
  if (exceeded === undefined) return undefined;
  if (run.start.parent?.asks) return moneyFromAbove(run, exceeded);
  if (exceeded.askId === undefined) return question(run, exceeded);
  const ask = askById(run, exceeded.askId);
  const outcome = ask === undefined ? 'withdrawn' : outcomeOf(ask);
  if (outcome === 'pending') return 'hold';
  const { exceeded: _, ...bare } = run;
  if (ask === undefined) return only(stop(bare, exceeded.reason));
  const approved = outcome === 'approved';
  const amount = approved ? amountOf(ask, exceeded) : undefined;
  const closed = closeAsk(bare, ask.id, {
    outcome: approved || outcome === 'expired' ? outcome : 'rejected',
    ...(amount !== undefined && { amount }),
  });
  const next = retireAsks(closed.run, (one) => one.id === ask.id);
  return {
    run: amount === undefined ? endOnBudget(next, exceeded.reason) : raised(next, exceeded, amount),
    effects: closed.effects,
  };
}

/** The run above answers, or somebody above that. */
function moneyFromAbove(run: OpenRun, exceeded: Exceeded): Step<OpenRun> | 'hold' {
  // What a sub-agent of its own wants is asked for first.
  if (run.moneyAsked?.for !== undefined) return 'hold';
  if (run.moneyAsked === undefined) return askAbove(run, { amount: exceeded.amount });
  const amount = answerAbove(run);
  if (amount === undefined) return 'hold';
  const closed = closeAbove(run);
  const { exceeded: _, ...bare } = closed.run;
  const next = amount > 0 ? raised(bare, exceeded, amount) : endOnBudget(bare, exceeded.reason);
  return { run: next, effects: closed.effects };
}

function question(run: OpenRun, exceeded: Exceeded): Step<OpenRun> {
  const { field, limit, amount } = exceeded;
  const number = (run.budgetAsks ?? 0) + 1;
  const askId = `${run.runId}:budget:${number}`;
  const used = usedOf(run, field);
  const { caller } = run.start.task;
  const args = { budget: field, limit, used, amount };
  return openAsk(
    { ...run, budgetAsks: number, exceeded: { ...exceeded, askId } },
    {
      id: askId,
      kind: 'budget',
      args,
      question: wordsOf(run, args),
      digest: digestOf(args),
      // Frozen by an older release there are none.
      roles: run.frozen.settings.budgetRoles ?? [],
      quorum: 1,
      ...(caller !== undefined && { requestedBy: caller }),
      expiresInMs: run.frozen.settings.inputTimeoutMs,
      onExpiry: 'stop',
    },
  );
}

interface Used {
  readonly budget: BudgetField;
  readonly limit: number;
  readonly used: number;
  readonly amount: number;
}

function wordsOf(run: OpenRun, { budget, limit, used, amount }: Used): string {
  if (!follows(run, 'amountsInWords')) {
    return `The run needs more of ${budget}: ${used} of ${limit} are used. Allow ${amount} more?`;
  }
  const [spent, most, more] = [used, limit, amount].map((each) => budgetAmount(budget, each));
  return `The run needs more ${budgetName(budget)}: ${spent} of ${most} used. Allow ${more} more?`;
}

function amountOf(ask: Ask, exceeded: Exceeded): number {
  return ask.votes.find((vote) => vote.decision === 'approve')?.amount ?? exceeded.amount;
}

function raised(run: OpenRun, { field, limit: then }: Exceeded, amount: number): OpenRun {
  // A sub-agent may have got more meanwhile.
  const now = run.frozen.budget[field];
  const limit = typeof now === 'number' ? now : then;
  const budget = {
    ...run.frozen.budget,
    [field]: Math.min(Number.MAX_SAFE_INTEGER, limit + amount),
  };
  const overrun = run.money.overrun && field !== 'maxCostMicroUsd';
  const money = { ...run.money, overrun };
  return { ...run, money, frozen: { ...run.frozen, budget } };
}

function fieldOf(run: OpenRun, reason: StopReason): BudgetField | undefined {
  const { budget } = run.frozen;
  const turnsAreLeft = reason === 'max_turns' && !reached(turnsOf(run), budget.maxTurns);
  return turnsAreLeft ? 'maxModelCalls' : BUDGET_OF[reason];
}

function turnsOf(run: OpenRun): number {
  const { turnCount, modelCalls } = run.tally;
  return run.frozen.settings.turnCounting === 'logical' ? turnCount : modelCalls;
}

function usedOf(run: OpenRun, field: BudgetField): number {
  const used: { readonly [field in BudgetField & keyof Budget]: number } = {
    maxTurns: turnsOf(run),
    maxModelCalls: run.tally.modelCalls,
    maxToolCalls: run.tally.toolCalls,
    timeoutMs: countedMs(run),
    maxCostMicroUsd: run.money.spentMicroUsd,
    maxInputTokens: inputUsed(run),
    maxOutputTokens: run.tally.usage.output,
  };
  return used[field];
}
