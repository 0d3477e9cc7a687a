/**
 * A decision that is faster than its question: by key and digest it names a call of this turn, and waits for the
 * question to open (G12).
 * Invariant: at most EARLY_DECISIONS_MAX wait, one of each person; everything else is judged when the question opens.
 */
import type { Run } from '../state/run.js';
import type { Ask, Decided, Decision } from '../state/ask.js';
import { isAhead } from '../step/clock.js';
import { alreadyDecided } from './held-words.js';
import type { Refusal as Objection } from './told.js';
import { judgeProof } from './verify.js';

export const EARLY_DECISIONS_MAX = 4;

/** What follows a call's key in the id of an approval: its revision. Nobody knows an outcome beforehand. */
const OF_CALL = /^(:r\d+)?$/;

/** Two machines may well differ by some seconds. */
export const AHEAD = {
  reason: 'clock_ahead',
  message: 'it is dated more than a minute ahead of the time at which it came',
} as const;

export interface KeptEarly {
  readonly run: Run;
  /** Why the decision does not count; absent: it waits for its question. */
  readonly objection?: Objection;
}

/** Keeps a decision that came `at`, on a question that is not open, for the call of this turn that it names. */
export function keepEarly(run: Run, decision: Decision, at: number): KeptEarly {
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
    return late
      ? objected(run, 'late', 'the ask had expired')
      : { run, objection: alreadyDecided(run, closedAs(closed)) };
  }
  if (call === undefined) {
    return objected(run, 'unknown_ask', 'this run has no such ask');
  }
  // The exact action is known already, and everything else is judged when the question opens.
  if (call.digest !== decision.argsHash) {
    return objected(run, 'mismatched', 'argsHash is not that of this call');
  }
  const { run: counted, proof } = judgeProof(run, earlyQuestion(run), decision);
  if (!proof.ok) return objected(counted, proof.reason, proof.message);
  if (isAhead(run, { decision, at })) return { run: counted, objection: AHEAD };
  const waiting = run.early.filter((entry) => entry.decision.askId === decision.askId);
  if (waiting.some((entry) => entry.decision.by === decision.by)) {
    return objected(counted, 'duplicate', `${decision.by} has already decided`);
  }
  if (run.early.length >= EARLY_DECISIONS_MAX) {
    return objected(counted, 'unknown_ask', 'the question is not open yet; decide again');
  }
  const early = [...run.early, { decision, at }];
  return { run: { ...counted, early } };
}

function closedAs({ outcome, by, at }: Decided): Decided {
  return { outcome, ...(by !== undefined && { by }), ...(at !== undefined && { at }) };
}

function objected(run: Run, reason: Objection['reason'], message: string): KeptEarly {
  return { run, objection: { reason, message } };
}

/** What is known of an approval before it opens. */
function earlyQuestion(run: Run): Pick<Ask, 'kind' | 'policyVersion'> {
  return { kind: 'approval', policyVersion: run.frozen?.policy.version ?? '' };
}
