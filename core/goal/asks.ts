/**
 * Questions of a goal to people: approvals, the word on a condition, larger budgets.
 * Invariants: those of any ask (ask/decide.ts): the exact digest, in time, distinct people; besides, neither the goal's
 * starter nor anybody who steered it since the last cycle decides in it.
 */
import { objectionToPerson } from '../ask/decide.js';
import { REFUSAL_CODES } from '../ask/told.js';
import { digestOf, type Json } from '../json/json.js';
import type { Ask, Decision, RejectionReason, Verdict, Vote } from '../state/ask.js';
import type { AskView } from '../state/ask-view.js';
import type { AskOutcome } from '../state/ask-kinds.js';
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import type { AskPurpose } from '../state/goal/terms.js';
import type { SignedStatement } from '../state/statement.js';
import type { Step } from '../state/run.js';
import { isAhead } from '../step/clock.js';
import { cancelTimer, nextId, only, startTimer } from '../step/inflight.js';
import { decidedOf, outcomeOf, viewOf } from '../step/open-work.js';
import { tell } from './telling.js';

export interface GoalAskRequest {
  readonly purpose: AskPurpose;
  readonly question: string;
  /** What exactly is asked about. */
  readonly args: Json;
  readonly roles: readonly string[];
  readonly quorum?: number;
  readonly expiresInMs?: number;
  readonly onExpiry?: 'reject' | 'stop';
}

const WEEK_MS = 7 * 86_400_000;
const CLOSED_ASKS_MAX = 50;

export function openGoalAsk(goal: OpenGoal, request: GoalAskRequest): Step<OpenGoal> {
  const { purpose, question, args, roles, quorum = 1, expiresInMs = WEEK_MS } = request;
  const askCount = goal.askCount + 1;
  const ask: Ask = {
    id: `${goal.runId}:g${askCount}`,
    kind: purpose.kind === 'budget' ? 'budget' : 'approval',
    question,
    args,
    digest: digestOf({ goal: goal.runId, purpose: purpose as unknown as Json, question, args }),
    roles,
    quorum,
    policyVersion: goal.terms.policyVersion,
    ...(goal.caller !== undefined && { requestedBy: goal.caller }),
    openedAt: goal.now,
    expiresAt: goal.now + expiresInMs,
    onExpiry: request.onExpiry ?? 'stop',
    votes: [],
    outcome: 'pending',
    elapsed: false,
    timer: nextId(goal, 'timer'),
  };
  const timed = startTimer(goal, { at: ask.expiresAt, summary: `${ask.kind} expires` });
  const asking: OpenGoal = {
    ...timed.run,
    askCount,
    asks: [...goal.asks, ask],
    purposes: { ...goal.purposes, [ask.id]: purpose },
  };
  const type = ask.kind === 'approval' ? 'approval_requested' : 'input_request';
  return { run: tell(asking, { type, ...goalAskView(asking, ask) }), effects: timed.effects };
}

/** With all who may not decide. */
export function goalAskView({ steeredBy }: Pick<Goal, 'steeredBy'>, ask: Ask): AskView {
  const others = steeredBy.filter((by) => by !== ask.requestedBy);
  return { ...viewOf(ask), ...(others.length > 0 && { steeredBy: others }) };
}

/** Takes a question away, with its timer; how it ended is remembered for late answers. */
export function closeGoalAsk(
  goal: OpenGoal,
  ask: Ask,
  {
    outcome,
    reason,
  }: { readonly outcome: Exclude<AskOutcome, 'pending'>; readonly reason?: string },
): Step<OpenGoal> {
  const untimed = cancelTimer(goal, ask.timer);
  const { [ask.id]: _, ...purposes } = goal.purposes;
  const closed: OpenGoal = {
    ...untimed.run,
    asks: goal.asks.filter(({ id }) => id !== ask.id),
    purposes,
    closedAsks: [...goal.closedAsks, { id: ask.id, ...decidedOf({ ...ask, outcome }) }].slice(
      -CLOSED_ASKS_MAX,
    ),
  };
  return { run: announce(closed, ask, { outcome, reason }), effects: untimed.effects };
}

interface Ended {
  readonly outcome: Exclude<AskOutcome, 'pending'>;
  readonly reason: string | undefined;
}

function announce(goal: OpenGoal, ask: Ask, { outcome, reason }: Ended): OpenGoal {
  const { id: askId, votes, openedAt } = ask;
  const by = votes.map((vote) => vote.by);
  if (outcome === 'withdrawn') {
    return tell(goal, { type: 'approval_withdrawn', askId, reason: reason ?? 'no longer needed' });
  }
  const said = reason ?? votes.find((vote) => vote.reason !== undefined)?.reason;
  if (ask.kind === 'budget') return tell(goal, { type: 'input_provided', askId, outcome, by });
  return tell(goal, {
    type: 'approval_resolved',
    askId,
    outcome,
    by,
    ...(said !== undefined && { reason: said }),
    waitedMs: goal.now - openedAt,
  });
}

export function withdrawGoalAsks(
  goal: OpenGoal,
  { which, reason }: { readonly which: (ask: Ask) => boolean; readonly reason: string },
): Step<OpenGoal> {
  return goal.asks.filter(which).reduce<Step<OpenGoal>>((step, ask) => {
    const closed = closeGoalAsk(step.run, ask, { outcome: 'withdrawn', reason });
    return { run: closed.run, effects: [...step.effects, ...closed.effects] };
  }, only(goal));
}

export interface GoalRecorded {
  readonly goal: Goal;
  readonly verdict: Verdict;
}

/** A proven decision becomes a vote, or does not count. */
export function recordVote(
  goal: Goal,
  decision: Decision,
  { signed, at }: { readonly signed?: SignedStatement | undefined; readonly at: number },
): GoalRecorded {
  const ask = goal.asks.find(({ id }) => id === decision.askId);
  if (ask === undefined) return notOpen(goal, decision);
  const { nonce, by } = decision;
  const again = ask.votes.some(
    (vote) => nonce !== undefined && vote.by === by && vote.nonce === nonce,
  );
  if (again) return { goal, verdict: { accepted: true, outcome: outcomeOf(ask) } };
  const refusal = objection(goal, ask, { decision, at });
  if (refusal !== undefined) return refused(goal, decision, refusal);
  const voted: Ask = { ...ask, votes: [...ask.votes, voteOf(decision, signed)] };
  const asks = goal.asks.map((other) => (other.id === ask.id ? voted : other));
  return { goal: { ...goal, asks }, verdict: { accepted: true, outcome: outcomeOf(voted) } };
}

interface Refusal {
  readonly reason: RejectionReason;
  readonly message: string;
}

function notOpen(goal: Goal, decision: Decision): GoalRecorded {
  const closed = goal.closedAsks.find(({ id }) => id === decision.askId);
  const refusal: Refusal =
    closed === undefined
      ? { reason: 'unknown_ask', message: 'the goal has not asked this' }
      : { reason: 'already_decided', message: `the question is ${closed.outcome}` };
  return refused(goal, decision, refusal);
}

export function refused(goal: Goal, decision: Decision, refusal: Refusal): GoalRecorded {
  const { askId, by, argsHash, nonce } = decision;
  const about = {
    askId,
    decision: decision.decision,
    by,
    argsHash,
    reason: refusal.reason,
    ...(nonce !== undefined && { nonce }),
  };
  const message = `${decision.decision} by ${by} on ${askId} ignored: ${refusal.message}`;
  const told =
    goal.ending?.result !== undefined || goal.terms === undefined
      ? goal
      : tell(goal, {
          type: 'warning',
          code: REFUSAL_CODES[refusal.reason] ?? 'decision_ignored',
          message: message.slice(0, 500),
          about,
        });
  return { goal: told, verdict: { accepted: false, ...refusal } };
}

function objection(
  goal: Goal,
  ask: Ask,
  { decision, at }: { readonly decision: Decision; readonly at: number },
): Refusal | undefined {
  const { argsHash, by, decidedAt } = decision;
  if (argsHash === '')
    return { reason: 'vague', message: 'a decision must name the exact action by its argsHash' };
  if (argsHash !== ask.digest)
    return { reason: 'mismatched', message: `argsHash ${argsHash.slice(0, 12)}… is another one` };
  if (ask.votes.some((vote) => vote.by === by))
    return { reason: 'duplicate', message: `${by} has already decided` };
  const decided = outcomeOf(ask);
  if (decided !== 'pending' && decided !== 'expired')
    return { reason: 'already_decided', message: `the question is ${decided}` };
  if (decidedAt > ask.expiresAt) return { reason: 'late', message: 'the ask had expired' };
  if (isAhead(goal, { decision, at })) return { reason: 'clock_ahead', message: AHEAD };
  if (decision.decision !== 'approve' && decision.decision !== 'reject')
    return { reason: 'not_applicable', message: `'${decision.decision}' is no answer to this ask` };
  if (goal.steeredBy.includes(by))
    return { reason: 'own_request', message: `${by} has steered the goal since its last cycle` };
  return objectionToPerson(ask, { ...decision, decidedAt: Math.min(decidedAt, at) });
}

const AHEAD = 'it is dated ahead of the time of the goal by more than clocks may differ';

function voteOf(decision: Decision, signed?: SignedStatement): Vote {
  const { by, roles, decidedAt, reason, amount, nonce, proof } = decision;
  return {
    by,
    roles,
    decision: decision.decision,
    decidedAt,
    ...(reason !== undefined && { reason }),
    ...(amount !== undefined && { amount }),
    ...(nonce !== undefined && { nonce }),
    ...(proof !== undefined && { proof }),
    ...(signed !== undefined && { signed }),
  };
}
