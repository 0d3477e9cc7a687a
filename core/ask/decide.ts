/**
 * Votes to outcome: which decisions count, and what they decide.
 *
 * Invariants:
 *  D1 A decision counts only for an open ask whose exact digest it echoes (G11).
 *  D2 In time means `decidedAt` ≤ expiry, whenever the run learns of it (G95).
 *  D3 Distinct people: nobody votes twice, nobody decides on their own request.
 *  D4 The first valid answer of each person stands; a closed ask never changes.
 *  D5 Where proofs are required, what is not proven is not looked at (verify.ts). That a question is decided
 *     already is said to anybody: a crowd that comes too late costs no signatures.
 */
import type { Run } from '../state/run.js';
import type { Ask, Decision, Escalation, RejectionReason, Vote } from '../state/ask.js';
import type { DecisionKind } from '../state/ask-kinds.js';
import { objectionToCorrection, withCorrection } from './correction.js';
import { rolesAt } from './escalation.js';
import { alreadyDecided, hold, objectionToHolding } from './held-words.js';
import { objectionToGrant } from '../permission/grants.js';
import { follows } from '../step/changes.js';
import { isAhead } from '../step/clock.js';
import { askById, decidedOf, outcomeOf, replaceAsk } from '../step/open-work.js';
import type { SignedStatement } from '../state/statement.js';
import { tellTaken, type Refusal as Objection } from './told.js';
import { AHEAD } from './early-decision.js';
import {
  PENDING,
  recordedEarly,
  reject,
  unproven,
  type Recorded,
  type Sender,
} from './not-counted.js';
import { judgeProof, type Judged, type ProofVerdict } from './verify.js';

const APPLICABLE: { readonly [kind in Ask['kind']]: readonly DecisionKind[] } = {
  approval: ['approve', 'reject', 'modify', 'replace'],
  outcome: ['happened', 'not_happened', 'stop'],
  budget: ['approve', 'reject'],
  input: [],
  user_message: [],
};

/** Records a decision as a vote, or says why it does not count. Decides nothing by itself. */
export function record(
  run: Run,
  decision: Decision,
  { ticket, at = run.now }: From = {},
): Recorded {
  return judge(run, decision, { ticket, mayWait: true, at });
}

interface From {
  /** Who waits for the verdict. */
  readonly ticket?: string | undefined;
  /** When it came, ms since epoch; absent: now. */
  readonly at?: number;
}

/** {@link record}, also of a decision that has waited for keys. */
export function judge(run: Run, decision: Decision, sender: Sender): Recorded {
  const ask = askById(run, decision.askId);
  if (ask === undefined) return recordedEarly(run, decision, sender);
  const again = isRedelivery(ask, decision);
  const late = again ? undefined : objectionToLateness(run, ask);
  if (late !== undefined) return reject(run, decision, late);
  const judged = proven(run, ask, decision);
  const { proof } = judged;
  if (!proof.ok) return unproven(judged.run, decision, { ...sender, proof });
  const { ticket, at } = sender;
  return recordProven(judged.run, ask, { decision, proof, again, ticket, at });
}

/** Where the run asks for no proof, everybody is believed. */
function proven(run: Run, ask: Ask, decision: Decision): Judged {
  return run.frozen?.settings.requireProof === true
    ? judgeProof(run, ask, decision)
    : { run, proof: { ok: true } };
}

interface Proven {
  readonly decision: Decision;
  readonly proof: Extract<ProofVerdict, { readonly ok: true }>;
  /** It has been recorded before. */
  readonly again: boolean;
  readonly ticket: string | undefined;
  readonly at: number;
}

function recordProven(run: Run, ask: Ask, said: Proven): Recorded {
  const { decision, proof, again, ticket, at } = said;
  if (again) return { run, verdict: { accepted: true, outcome: outcomeOf(ask) } };
  const refusal = objection(run, ask, { decision, at });
  if (refusal !== undefined) return reject(run, decision, refusal);
  const vote = voteOf(decision, proof.signed);
  const told = decision.unrecorded ? tellTaken(run, ask, decision) : run;
  if (isCorrection(decision) || holdsWords(run, ask)) {
    // Nobody may be left waiting when the workflow goes over to its next segment.
    const kept = run.segment.full ? undefined : ticket;
    const taken = { decision, vote, ticket: kept };
    const next = isCorrection(decision) ? withCorrection(told, ask, taken) : hold(told, ask, taken);
    return { run: next, verdict: kept === undefined ? PENDING : undefined };
  }
  const voted: Ask = { ...ask, votes: [...ask.votes, vote] };
  return {
    run: replaceAsk(told, voted),
    verdict: { accepted: true, outcome: outcomeOf(voted) },
  };
}

function voteOf(decision: Decision, signed?: SignedStatement): Vote {
  const { by, roles, decidedAt, reason, value, amount, grant, interrupt, nonce, proof } = decision;
  return {
    by,
    roles,
    decision: decision.decision,
    decidedAt,
    ...(reason !== undefined && { reason }),
    ...(value !== undefined && { value }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant }),
    ...(interrupt && { interrupt }),
    ...(nonce !== undefined && { nonce }),
    ...(proof !== undefined && { proof }),
    ...(signed !== undefined && { signed }),
  };
}

/** The same decision again, for example by Update and by signal: it counts once, without a warning. */
function isRedelivery(ask: Ask, { by, nonce }: Decision): boolean {
  const { correction } = ask;
  const held = correction?.held ?? [];
  const waiting = correction === undefined ? [] : [correction, ...held].map(({ vote }) => vote);
  const votes = [...ask.votes, ...waiting];
  return nonce !== undefined && votes.some((vote) => vote.by === by && vote.nonce === nonce);
}

/** Where signatures have to be verified this comes before: it needs nobody's. */
function objectionToLateness(run: Run, ask: Ask): Objection | undefined {
  const outcome = outcomeOf(ask);
  if (run.frozen?.settings.requireProof !== true) return undefined;
  if (outcome === 'pending' || outcome === 'expired') return undefined;
  return alreadyDecided(run, decidedOf(ask));
}

interface Heard {
  readonly decision: Decision;
  /** When it came, ms since epoch. */
  readonly at: number;
}

function objection(run: Run, ask: Ask, { decision, at }: Heard): Objection | undefined {
  if (decision.argsHash === '')
    return no('vague', 'a decision must name the exact action by its argsHash');
  if (decision.argsHash !== ask.digest)
    return no('mismatched', `argsHash ${decision.argsHash.slice(0, 12)}… is not that of this ask`);
  if (ask.votes.some((vote) => vote.by === decision.by))
    return no('duplicate', `${decision.by} has already decided`);
  const decided = outcomeOf(ask);
  if (decided !== 'pending' && decided !== 'expired') return alreadyDecided(run, decidedOf(ask));
  if (ask.outcome === 'expired' || decision.decidedAt > ask.expiresAt)
    return no('late', 'the ask had expired');
  if (isAhead(run, { decision, at })) return AHEAD;
  if (!APPLICABLE[ask.kind].includes(decision.decision))
    return no('not_applicable', `'${decision.decision}' is no answer to this ask`);
  if (ask.kind === 'outcome' && decision.decidedAt < ask.openedAt)
    return no('not_applicable', 'it was decided before anybody asked what happened');
  if (ask.repeats !== undefined && decision.decidedAt < ask.openedAt)
    return no('not_applicable', 'it was decided before anybody could see what was done before');
  const person = objectionToPerson(ask, datedBy(run, { decision, at }));
  if (person !== undefined) return person;
  const content = objectionToContent(run, ask, decision);
  if (content !== undefined) return content;
  return undefined;
}

/** Nobody decides before what they decide by has begun, whatever their clock says (G107). */
export function datedBy<V extends Pick<Decision, 'decidedAt'>>(
  run: Run,
  { decision, at }: { readonly decision: V; readonly at: number },
): V {
  return follows(run, 'clocksAhead') && decision.decidedAt > at
    ? { ...decision, decidedAt: at }
    : decision;
}

/** Why this person may not decide on this ask; undefined: they may. */
export function objectionToPerson(
  ask: Pick<Ask, 'requestedBy' | 'roles'> & { readonly escalation?: Escalation },
  { by, roles, decidedAt }: Pick<Decision, 'by' | 'roles' | 'decidedAt'>,
): Objection | undefined {
  if (ask.requestedBy !== undefined && ask.requestedBy === by)
    return no('own_request', 'nobody decides on their own request');
  const wanted = ask.escalation === undefined ? ask.roles : rolesAt(ask, decidedAt);
  if (wanted.length > 0 && !roles.some((role) => wanted.includes(role)))
    return no('role_missing', `needs one of the roles ${wanted.join(', ')}`);
  return undefined;
}

function objectionToContent(run: Run, ask: Ask, decision: Decision): Objection | undefined {
  if (isCorrection(decision)) {
    if (ask.correction !== undefined)
      return no('busy', 'another correction is being looked at; look again and decide then');
    const objection = objectionToCorrection(run, ask, decision);
    return objection === undefined ? undefined : no('not_applicable', objection);
  }
  const full = holdsWords(run, ask) ? objectionToHolding(ask, decision) : undefined;
  if (full !== undefined) return full;
  if (decision.grant === undefined) return undefined;
  const objection = objectionToGrant(run, ask, decision.grant.matcher.tool);
  return objection === undefined ? undefined : no('not_applicable', objection);
}

function no(reason: RejectionReason, message: string): Objection {
  return { reason, message };
}

/** What is said now waits until a correction has been checked. */
function holdsWords(run: Run, { correction }: Ask): boolean {
  return correction !== undefined && follows(run, 'heldWords');
}

function isCorrection({ decision }: Pick<Decision, 'decision'>): boolean {
  return decision === 'modify' || decision === 'replace';
}
