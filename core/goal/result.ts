/** The result of a goal, its status and the view that queries get. */
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import { isOpenGoal } from '../state/goal/goal.js';
import type { GoalView, GoalViewStatus } from '../state/goal/view.js';
import type { ConditionOutcome, GoalOutcome, RunResult, StopReason } from '../state/result.js';
import type { OpenAsk, Question } from '../state/view.js';
import { nextSafeActionFor, statusOfStop } from '../step/stop.js';
import { outcomeOf } from '../step/open-work.js';
import { goalAskView } from './asks.js';
import { conditionWords, verdictOf } from './conditions.js';
import { pendingOf } from './pending.js';

const GO_ON = 'Go on with a new goal from its newest checkpoint (restart).';

/** What a person should do now, where that is another thing than for a run. */
const NEXT: { readonly [reason in StopReason]?: string } = {
  interrupted: GO_ON,
  aborted: GO_ON,
};

/** Of a goal that ends. One that was never opened has told nothing of itself. */
export function goalResult(goal: Goal): RunResult {
  const { reason, detail } = goal.ending!;
  const isOpen = isOpenGoal(goal);
  const { counters } = goal.tally;
  const waited = goal.now - goal.startedAt - counters.activeMs;
  const next = (isOpen ? NEXT[reason] : undefined) ?? nextSafeActionFor({ reason });
  return {
    runId: goal.runId,
    status: statusOfStop(reason),
    stopReason: reason,
    ...(detail !== undefined && { detail }),
    completed: reason === 'completed',
    ...(next !== undefined && { nextSafeAction: next }),
    usage: counters.usage,
    costMicroUsd: goal.money.spentMicroUsd,
    counters: {
      ...counters,
      costMicroUsd: goal.money.spentMicroUsd,
      waitingMs: Math.max(0, waited),
    },
    versions: goal.terms?.versions ?? {},
    // `goal_result` itself is the last event.
    trace: {
      runId: goal.runId,
      traceId: goal.traceId,
      events: goal.outbox.nextSeq + (isOpen ? 1 : 0),
    },
    ...(isOpen && { goal: goalOutcome(goal) }),
  };
}

function goalOutcome(goal: OpenGoal): GoalOutcome {
  return {
    objective: goal.terms.objective,
    cycles: goal.cycles,
    reviews: goal.reviews,
    checkpoints: goal.checkpoints,
    done: outcomesOf(goal),
    ...(goal.checkpoint !== undefined && { checkpoint: goal.checkpoint }),
    memory: goal.memory,
    ...(goal.unconfirmed.length > 0 && { unconfirmed: goal.unconfirmed }),
    ...(goal.unread.length > 0 && { unprocessed: goal.unread.map(({ id }) => id) }),
  };
}

function outcomesOf(goal: OpenGoal): readonly ConditionOutcome[] {
  return goal.terms.done.conditions.map((term, index) => {
    const verdict = verdictOf(goal, index);
    const check = term.kind === 'check' ? goal.checks[term.name] : undefined;
    const value = check?.value ?? goal.judgements[index]?.score;
    return {
      condition: conditionWords(term),
      held: verdict === 'held',
      verdict,
      ...(value !== undefined && { value }),
      evidence: evidenceOf(goal, index),
    };
  });
}

function evidenceOf(goal: OpenGoal, index: number): readonly string[] {
  const term = goal.terms.done.conditions[index]!;
  if (term.kind === 'check') {
    const check = goal.checks[term.name];
    return check === undefined ? [] : [`check/${term.name}/${check.n}`];
  }
  const person = goal.persons[index];
  if (person !== undefined) return [`ask/${person.askId}`];
  return goal.judgements[index]?.evidence ?? [];
}

/** Status as the outside sees it. */
export function goalStatusOf(goal: Goal): GoalViewStatus {
  const { ending, final } = goal;
  if (final?.kind === 'refused') return 'failed';
  if (ending !== undefined)
    return ending.result === undefined ? 'closing' : statusOfStop(ending.reason);
  const [ask] = pendingOf(goal);
  if (ask !== undefined && goal.cycle === undefined && goal.pass === undefined) {
    if (ask.kind === 'budget') return 'awaiting_budget';
    return goal.purposes[ask.id]?.kind === 'doubt' ? 'awaiting_outcome' : 'awaiting_approval';
  }
  if (goal.paused !== undefined && goal.cycle === undefined && goal.pass === undefined)
    return 'paused';
  return goal.sleep !== undefined && goal.sleep.over !== true ? 'sleeping' : 'running';
}

export function viewOfGoal(goal: Goal): GoalView {
  const { ending, terms, cycle, sleep } = goal;
  return {
    kind: 'goal',
    runId: goal.runId,
    tenant: goal.tenant,
    agent: goal.agent,
    objective: terms?.objective ?? goal.start?.goal.objective.slice(0, 200) ?? '',
    startedAt: goal.startedAt,
    opened: terms !== undefined,
    status: goalStatusOf(goal),
    ...(ending !== undefined && {
      stop: {
        reason: ending.reason,
        status: statusOfStop(ending.reason),
        ...(ending.detail !== undefined && { detail: ending.detail }),
      },
    }),
    ...(goal.final?.kind === 'refused' && {
      refused: { code: goal.final.code, message: goal.final.message },
    }),
    segment: goal.segment.number,
    cycles: goal.cycles,
    ...(cycle !== undefined && { cycle: { n: cycle.n, runId: cycle.child, agent: cycle.agent } }),
    passes: goal.passes,
    reviews: goal.reviews,
    checkpoints: goal.checkpoints,
    plan: goal.plan,
    checks: goal.checks,
    done: isOpenGoal(goal)
      ? goal.terms.done.conditions.map((term, index) => ({
          condition: conditionWords(term),
          verdict: verdictOf(goal, index),
        }))
      : [],
    ...(terms !== undefined && {
      budget: terms.budget,
      pace: terms.pace,
      definition: terms.definition,
    }),
    spentMicroUsd: goal.money.spentMicroUsd,
    reservedMicroUsd: goal.money.reservedMicroUsd,
    ...(sleep !== undefined &&
      sleep.over !== true && {
        sleep: {
          because: sleep.because,
          ...(sleep.until !== undefined && { until: sleep.until }),
        },
      }),
    ...(goal.paused !== undefined && { paused: goal.paused }),
    unreadMessages: goal.unread.length,
    asks: openGoalAsks(goal),
    inFlight: Object.entries(goal.inflight).map(([id, { kind }]) => ({ id, kind })),
    counters: goal.tally.counters,
    ...(goal.memory !== undefined && { memory: goal.memory }),
    ...(goal.checkpoint !== undefined && { checkpoint: goal.checkpoint }),
    events: goal.outbox.nextSeq,
    ...(goal.final?.kind === 'result' && { result: goal.final.result }),
  };
}

export function openGoalAsks(goal: Goal): readonly OpenAsk[] {
  return pendingOf(goal).map((ask) => ({
    ...goalAskView(goal, ask),
    votes: ask.votes.map(({ by, decision, decidedAt }) => ({ by, decision, decidedAt })),
  }));
}

/** One question by its id, open or closed; null: the goal has not asked it. */
export function questionOfGoal(goal: Goal, askId: string): Question | null {
  const ask = goal.asks.find(({ id }) => id === askId);
  if (ask !== undefined) return { outcome: outcomeOf(ask), ask: goalAskView(goal, ask) };
  const closed = goal.closedAsks.find(({ id }) => id === askId);
  return closed === undefined ? null : { outcome: closed.outcome };
}
