/**
 * Votes to outcome: which decisions count, and what they decide.
 *
 * Invariants:
 *  D1 A decision counts only for an open ask whose exact digest it echoes (G11, PA-09).
 *  D2 In time means `decidedAt` ≤ expiry, whenever the run learns of it (G95).
 *  D3 Distinct people: nobody votes twice, nobody decides on their own request.
 *  D4 The first valid answer of each person stands; a closed ask never changes.
 */
import { warn } from '../outbox.js';
import type { Run } from '../run.js';
import type { Ask, AskOutcome, Decision, DecisionKind, RejectionReason, Verdict } from './ask.js';
import { askById, replaceAsk } from './pending.js';
import { isProven } from './verify.js';

export const EARLY_DECISIONS_MAX = 4;

const APPLICABLE: { readonly [kind in Ask['kind']]: readonly DecisionKind[] } = {
  approval: ['approve', 'reject'],
  outcome: ['happened', 'not_happened', 'stop'],
  budget: ['approve', 'reject'],
  input: [],
  user_message: [],
};

/** Records a decision as a vote, or says why it does not count. Decides nothing by itself. */
export function record(run: Run, decision: Decision): { run: Run; verdict: Verdict } {
  const ask = askById(run, decision.askId);
  if (ask === undefined) return unknownAsk(run, decision);
  if (isRedelivery(ask, decision)) {
    return { run, verdict: { accepted: true, outcome: outcomeOf(ask) } };
  }
  const refusal = objection(run, ask, decision);
  if (refusal !== undefined) return reject(run, decision, refusal);
  const voted: Ask = {
    ...ask,
    votes: [
      ...ask.votes,
      {
        by: decision.by,
        roles: decision.roles,
        decision: decision.decision,
        decidedAt: decision.decidedAt,
        ...(decision.reason !== undefined && { reason: decision.reason }),
        ...(decision.value !== undefined && { value: decision.value }),
        ...(decision.nonce !== undefined && { nonce: decision.nonce }),
        ...(decision.proof !== undefined && { proof: decision.proof }),
      },
    ],
  };
  return {
    run: replaceAsk(run, voted),
    verdict: { accepted: true, outcome: outcomeOf(voted) },
  };
}

/** The same decision again, for example by Update and by signal: it counts once, without a warning. */
function isRedelivery(ask: Ask, { by, nonce }: Decision): boolean {
  return nonce !== undefined && ask.votes.some((vote) => vote.by === by && vote.nonce === nonce);
}

/** What the votes of an ask have decided so far; 'expired' only when its time is up. */
export function outcomeOf(ask: Ask): AskOutcome {
  if (ask.outcome !== 'pending') return ask.outcome;
  const against = ask.votes.find((vote) => vote.decision !== 'approve');
  if (against !== undefined) return OUTCOMES[against.decision];
  const approvals = ask.votes.filter((vote) => vote.decision === 'approve');
  if (ask.kind !== 'outcome' && approvals.length >= ask.quorum) return 'approved';
  return ask.elapsed ? 'expired' : 'pending';
}

const OUTCOMES: { readonly [kind in Ask['votes'][number]['decision']]: AskOutcome } = {
  approve: 'approved',
  reject: 'rejected',
  modify: 'modified',
  replace: 'replaced',
  happened: 'happened',
  not_happened: 'not_happened',
  stop: 'stopped',
  answer: 'answered',
};

interface Objection {
  readonly reason: RejectionReason;
  readonly message: string;
}

function objection(run: Run, ask: Ask, decision: Decision): Objection | undefined {
  if (decision.argsHash === '')
    return no('vague', 'a decision must name the exact action by its argsHash');
  if (decision.argsHash !== ask.digest)
    return no('mismatched', `argsHash ${decision.argsHash.slice(0, 12)}… is not that of this ask`);
  if (ask.votes.some((vote) => vote.by === decision.by))
    return no('duplicate', `${decision.by} has already decided`);
  const decided = outcomeOf(ask);
  if (decided !== 'pending' && decided !== 'expired')
    return no('already_decided', `this ask is ${decided}`);
  if (ask.outcome === 'expired' || decision.decidedAt > ask.expiresAt)
    return no('late', 'the ask had expired');
  if (!APPLICABLE[ask.kind].includes(decision.decision))
    return no('not_applicable', `'${decision.decision}' is no answer to this ask`);
  if (ask.kind === 'outcome' && decision.decidedAt < ask.openedAt)
    return no('not_applicable', 'it was decided before anybody asked what happened');
  if (ask.requestedBy !== undefined && ask.requestedBy === decision.by)
    return no('own_request', 'nobody decides on their own request');
  if (ask.roles.length > 0 && !decision.roles.some((role) => ask.roles.includes(role)))
    return no('role_missing', `needs one of the roles ${ask.roles.join(', ')}`);
  if (run.frozen !== undefined && !isProven(decision, run.frozen.settings))
    return no('malformed', 'the decision carries no valid signature');
  return undefined;
}

function no(reason: RejectionReason, message: string): Objection {
  return { reason, message };
}

const WARNING_CODES: { readonly [reason in RejectionReason]?: string } = {
  mismatched: 'approval_mismatch',
  vague: 'approval_vague',
  late: 'approval_late',
  duplicate: 'approval_duplicate',
};

function reject(run: Run, decision: Decision, refusal: Objection): { run: Run; verdict: Verdict } {
  const code = WARNING_CODES[refusal.reason] ?? 'decision_ignored';
  const text = `${decision.decision} by ${decision.by} on ${decision.askId} ignored: ${refusal.message}`;
  return { run: warn(run, code, text), verdict: { accepted: false, ...refusal } };
}

/** What follows a call's key in the id of an approval: its revision. Nobody knows an outcome beforehand. */
const OF_CALL = /^(:r\d+)?$/;

/** A decision may be faster than the question it answers; it waits for a call of this turn (G12). */
function unknownAsk(run: Run, decision: Decision): { run: Run; verdict: Verdict } {
  const call = run.turn?.calls.find((one) => {
    const about = `${run.runId}:${one.callKey}`;
    const { askId } = decision;
    return (
      one.stage !== 'settled' && askId.startsWith(about) && OF_CALL.test(askId.slice(about.length))
    );
  });
  const closed = run.closedAsks.find((one) => one.id === decision.askId);
  if (closed !== undefined) {
    const late = closed.outcome === 'expired';
    return reject(
      run,
      decision,
      late
        ? no('late', 'the ask had expired')
        : no('already_decided', `this ask is ${closed.outcome}`),
    );
  }
  if (call === undefined) {
    return reject(run, decision, no('unknown_ask', 'this run has no such ask'));
  }
  // The exact action is known already, and everything else is judged when the question opens.
  if (call.digest !== decision.argsHash) {
    return reject(run, decision, no('mismatched', 'argsHash is not that of this call'));
  }
  const waiting = run.early.filter((entry) => entry.decision.askId === decision.askId);
  if (waiting.some((entry) => entry.decision.by === decision.by)) {
    return reject(run, decision, no('duplicate', `${decision.by} has already decided`));
  }
  if (run.early.length >= EARLY_DECISIONS_MAX) {
    return reject(run, decision, no('unknown_ask', 'the question is not open yet; decide again'));
  }
  const early = [...run.early, { decision, at: run.now }];
  return { run: { ...run, early }, verdict: { accepted: true, outcome: 'pending' } };
}
