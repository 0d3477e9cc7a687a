/**
 * What a run does when an open sub-agent has used up its slice and wants more (moneyAbove): the run gives what its own
 * limit leaves, else asks the run above it, and the root of the tree asks a person.
 * Invariants: what is given is reserved before it is told, so that slices and spending never pass the run's own limit;
 * only an answer from above, or a person, raises that limit; a question of a sub-agent is decided once, and told again when
 * the sub-agent, which was reset, asks it again.
 */
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { digestOf } from '../json/json.js';
import {
  answerAbove,
  askAbove,
  closeAbove,
  mayAskAbove,
  QUESTIONS_MAX,
  withMore,
} from '../money/ask-above.js';
import { committedMicroUsd, reserve } from '../money/budget.js';
import { dollars } from '../money/dollars.js';
import type { Ask } from '../state/ask.js';
import type { OutsideInput } from '../state/input.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import type { RunChild, WantedMoney } from '../state/run-child.js';
import { follows } from '../step/changes.js';
import { left } from '../step/clock.js';
import { askById, outcomeOf, retireAsks } from '../step/open-work.js';
import { isEnding, withChild } from './child-facts.js';
import { lineageOf } from './child-slice.js';

type Heard<Type> = Extract<OutsideInput, { type: Type }>;

/** Fact: a sub-agent wants more. Whoever says so: what it gets is this run's to give. */
export function moneyWanted(run: Run, { child: id, n, amount }: Heard<'money_wanted'>): Run {
  const child = run.children?.find((one) => one.child === id && one.stage !== 'preparing');
  if (child?.sliceMicroUsd === undefined || n > QUESTIONS_MAX) return run;
  const { wants } = child;
  // It has given up the question before: whatever comes of that answers this one.
  if (wants !== undefined)
    return n > wants.n ? withChild(run, { ...child, wants: { ...wants, n } }) : run;
  return withChild(run, { ...child, wants: { n, amount } });
}

/** Fact: the run above has answered. */
export function moneyAnswered(run: Run, { n, amount }: Heard<'money_answered'>): Run {
  const { moneyAsked } = run;
  if (moneyAsked?.n !== n || moneyAsked.answer !== undefined) return run;
  return { ...run, moneyAsked: { ...moneyAsked, answer: amount } };
}

/** One step towards an answer; undefined: one is waited for. */
export function giveMore(
  run: OpenRun,
  child: RunChild,
  wants: WantedMoney,
): Step<OpenRun> | undefined {
  const { askId } = wants;
  if (askId !== undefined) return byPerson(run, child, { ...wants, askId });
  if (wants.above) return byParent(run, child);
  if (wants.n <= (child.answered ?? 0)) return again(run, child, wants);
  if (run.money.overrun || isEnding(run)) return answer(run, child, 0);
  if (wants.amount <= leftOf(run)) return answer(run, child, wants.amount);
  if (run.start.parent?.kind === 'run') {
    if (run.moneyAsked !== undefined) return undefined;
    if (!mayAskAbove(run)) return answer(run, child, 0);
    const asked = askAbove(run, { amount: wants.amount, for: child.child });
    const waiting = { ...child, wants: { ...wants, above: true as const } };
    return { run: withChild(asked.run, waiting), effects: asked.effects };
  }
  return mayAskPerson(run) ? question(run, child, wants) : answer(run, child, 0);
}

function leftOf(run: OpenRun): number {
  return left(committedMicroUsd(run), run.frozen.budget.maxCostMicroUsd);
}

/** The sub-agent was reset: what was said then is reserved already. Older answers are gone. */
function again(run: OpenRun, asking: RunChild, { n }: WantedMoney): Step<OpenRun> {
  const { wants: _, ...child } = asking;
  const amount = n === child.answered ? (child.given ?? 0) : 0;
  const effects = [
    { kind: 'tell_child', child: child.child, message: 'money', n, amount },
  ] as const;
  return { run: withChild(run, child), effects };
}

/** Reserved first, then told. */
function answer(run: OpenRun, given: RunChild, microUsd: number): Step<OpenRun> {
  const { wants, sliceMicroUsd = 0, ...child } = given;
  const n = wants?.n ?? 0;
  const slice = sliceMicroUsd + microUsd;
  const answered = withChild(run, { ...child, answered: n, given: microUsd, sliceMicroUsd: slice });
  const effects = [
    { kind: 'tell_child', child: child.child, message: 'money', n, amount: microUsd },
  ] as const;
  return { run: microUsd > 0 ? reserve(answered, child.child, slice) : answered, effects };
}

/** What came from above goes on below, as far as this run has not used it up meanwhile. */
function handDown(run: OpenRun, child: RunChild, microUsd: number): Step<OpenRun> {
  const raised = microUsd > 0 ? withMore(run, microUsd) : run;
  return answer(raised, child, Math.max(0, Math.min(microUsd, leftOf(raised))));
}

function byParent(run: OpenRun, child: RunChild): Step<OpenRun> | undefined {
  const microUsd = answerAbove(run);
  if (microUsd === undefined) return undefined;
  const closed = closeAbove(run);
  const given = handDown(closed.run, child, microUsd);
  return { run: given.run, effects: [...closed.effects, ...given.effects] };
}

const ASKS_MAX = 100;

function mayAskPerson({ frozen, budgetAsks = 0, wrapUp }: OpenRun): boolean {
  return frozen.settings.onBudget === 'ask' && budgetAsks < ASKS_MAX && wrapUp === undefined;
}

function question(run: OpenRun, child: RunChild, wants: WantedMoney): Step<OpenRun> {
  const number = (run.budgetAsks ?? 0) + 1;
  const askId = `${run.runId}:budget:${number}`;
  const { maxCostMicroUsd: limit } = run.frozen.budget;
  const { amount } = wants;
  const used = run.money.spentMicroUsd;
  const args = { budget: 'maxCostMicroUsd', limit, used, amount, child: child.child };
  const { caller } = run.start.task;
  const who = [...lineageOf(run).path, child.name].join(' › ');
  const asking = withChild(
    { ...run, budgetAsks: number },
    { ...child, wants: { ...wants, askId } },
  );
  return openAsk(asking, {
    id: askId,
    kind: 'budget',
    args,
    question: words(run, { who, slice: child.sliceMicroUsd ?? 0, used, limit, amount }),
    digest: digestOf(args),
    roles: run.frozen.settings.budgetRoles ?? [],
    quorum: 1,
    ...(caller !== undefined && { requestedBy: caller }),
    expiresInMs: run.frozen.settings.inputTimeoutMs,
    onExpiry: 'reject',
    child: child.child,
  });
}

interface WantedWords {
  /** The sub-agent, by its path. */
  readonly who: string;
  readonly slice: number;
  readonly used: number;
  readonly limit: number | 'unlimited';
  readonly amount: number;
}

/** Amounts are in micro-USD. */
function words(run: OpenRun, { who, slice, used, limit, amount }: WantedWords): string {
  if (!follows(run, 'amountsInWords')) {
    return `The sub-agent ${who} needs more of maxCostMicroUsd: its ${slice} are used up, and ${used} of ${limit} of the run are spent. Allow ${amount} more?`;
  }
  const most = limit === 'unlimited' ? limit : dollars(limit);
  return `The sub-agent ${who} needs more money: its ${dollars(slice)} are used up, and ${dollars(used)} of ${most} of the run are spent. Allow ${dollars(amount)} more?`;
}

function byPerson(
  run: OpenRun,
  child: RunChild,
  wants: WantedMoney & { readonly askId: string },
): Step<OpenRun> | undefined {
  const ask = askById(run, wants.askId);
  if (ask === undefined) return answer(run, child, 0);
  const outcome = outcomeOf(ask);
  if (outcome === 'pending') return undefined;
  const vote = ask.votes.find(({ decision }) => decision === 'approve');
  const amount = outcome === 'approved' ? (vote?.amount ?? wants.amount) : 0;
  const closed = closeAsk(run, ask.id, {
    outcome: outcome === 'approved' || outcome === 'expired' ? outcome : 'rejected',
    ...(amount > 0 && { amount }),
  });
  const given = handDown(withoutAsk(closed.run, ask), child, amount);
  return { run: given.run, effects: [...closed.effects, ...given.effects] };
}

function withoutAsk(run: OpenRun, { id }: Ask): OpenRun {
  return retireAsks(run, (one) => one.id === id);
}

/** A question for a sub-agent that has ended meanwhile is withdrawn. */
export function withdrawUseless(run: OpenRun): Step<OpenRun> | undefined {
  const { children = [] } = run;
  const useless = run.asks.find(
    ({ id, child, outcome }) =>
      child !== undefined &&
      outcome === 'pending' &&
      !children.some(({ wants }) => wants?.askId === id),
  );
  if (useless !== undefined) {
    const reason = `${useless.child ?? ''} has ended`;
    const closed = closeAsk(run, useless.id, { outcome: 'withdrawn', reason });
    return { run: withoutAsk(closed.run, useless), effects: closed.effects };
  }
  const { for: whose } = run.moneyAsked ?? {};
  if (whose === undefined || children.some(({ child }) => child === whose)) return undefined;
  // What comes from above for it is this run's to use: it was reserved there.
  return answerAbove(run) === undefined ? undefined : kept(run);
}

function kept(run: OpenRun): Step<OpenRun> {
  const microUsd = answerAbove(run) ?? 0;
  const closed = closeAbove(run);
  return { ...closed, run: microUsd > 0 ? withMore(closed.run, microUsd) : closed.run };
}
