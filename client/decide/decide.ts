/**
 * Delivering what a person said.
 * Invariants: a decision names the exact action by its hash, read from the ask and never guessed; it is sent
 * as an Update, whose answer says whether it counts, and as a signal when no worker can answer now or the store is
 * away: then the run itself tells the audit trail of it.
 */
import { randomUUID } from 'node:crypto';
import type { Decision, RejectionReason } from '../../core/state/ask.js';
import type { DecisionKind } from '../../core/state/ask-kinds.js';
import type { GrantRequest } from '../../core/state/grant.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import { TEXT_HINT, textDefect } from '../../pure/text-defect.js';
import { objectionToAnswerer } from '../../core/ask/answer.js';
import { objectionToPerson } from '../../core/ask/decide.js';
import type { Json } from '../../core/json/json.js';
import * as messages from '../../workflows/messages.js';
import { deliverProven } from './deliver-proven.js';
import type { Delivery } from './deliver.js';
import { checkFits } from './check-fits.js';
import { contraryTo } from './contrary.js';
import { askOfRun, closedWords } from './find-ask.js';
import { heardAnswer } from './heard-answer.js';
import { commandFor, decisionRejected, latenessOf } from './rejected.js';
import { bounded, type Link } from '../link.js';
import { workerWanted } from '../read/served-tools.js';

/** Who decides, and why. */
export interface Decider {
  readonly by: string;
  readonly roles?: readonly string[];
  readonly reason?: string;
}

/** What a person says to a question. */
export type Answer =
  | { readonly kind: 'happened'; readonly value?: Json }
  | { readonly kind: 'not_happened' }
  | { readonly kind: 'stop' }
  /** The answer to a clarifying question. */
  | { readonly kind: 'text'; readonly value: Json };

export interface AskDecision extends Decider {
  readonly askId: string;
  readonly decision: DecisionKind;
  readonly value?: Json;
  /** With modify and replace. */
  readonly args?: Json;
  /** With replace. */
  readonly tool?: string;
  /** With approve. */
  readonly allowing?: Allowance;
  /** ms since epoch; default: now. */
  readonly decidedAt?: number;
  /** Names this decision: the same one sent again counts once. Default: a new name. */
  readonly nonce?: string;
  /** Under the same name the run gives the same answer again. Default: one of the nonce, the person and what they say. */
  readonly updateId?: string;
  /** The action that the person was shown. Default: the one that is asked about. */
  readonly argsHash?: string;
  /** It is in the audit trail already. Default: the run's own event tells it there. */
  readonly recorded?: boolean;
}

/** What an approval may say beyond yes. */
export interface Allowance {
  /** Of a budget question: how much more, in the budget's own unit; default: what it asks for. */
  readonly amount?: number;
  /** Covers later calls as well, where the run's settings allow it. */
  readonly grant?: GrantRequest;
}

/** Decides on an ask by its id. Errors: AskNotFound, DecisionRejected with the run's reason or that of the desk's key. */
export async function decideOnAsk(
  link: Link,
  runId: string,
  wanted: AskDecision,
): Promise<Delivery> {
  checkWords('reason', wanted.reason, { askId: wanted.askId, runId });
  const found = await askOfRun(link, runId, wanted.askId);
  const { ask, storeAway = false } = found;
  const { updateId } = wanted;
  const to = { runId, ask, ...(updateId !== undefined && { updateId }), storeAway };
  const decision = decisionAbout(ask, wanted);
  const delivery = await deliverProven(link, to, decision);
  // Over the desk nobody names themselves.
  const command = wanted.recorded ? '' : commandFor(ask, wanted);
  const about = { askId: ask.askId, runId, command, atDesk: wanted.recorded === true };
  const barred = objectionToPerson(ask, decision);
  if (isNew(wanted) && found.outcome === 'pending' && isUnheard(delivery) && !storeAway) {
    const refusal = latenessOf(ask, decision) ?? barred;
    if (refusal !== undefined) {
      throw decisionRejected({ accepted: false, ...refusal }, { ...about, unheard: true });
    }
  }
  if (delivery.delivered === 'signal' || delivery.verdict.accepted) {
    await refuseContrary(link, about, { wanted, delivery });
    const waitsFor = approves(wanted, delivery) ? await workerWanted(link, runId, ask) : undefined;
    return { ...delivery, ...(waitsFor !== undefined && { waitsFor }) };
  }
  // Most refusals say by themselves who was first; who may not decide is not told.
  const { reason, decided } = delivery.verdict;
  const isTold = barred !== undefined || decided?.by !== undefined;
  const known = isTold ? '' : await closedWords(link, found, CLOSED.includes(reason));
  throw decisionRejected(delivery.verdict, { ...about, known });
}

interface Sent {
  readonly wanted: AskDecision;
  readonly delivery: Delivery;
}

/** Errors: DecisionRejected where the run has another decision of the person under the name that they gave. */
async function refuseContrary(
  link: Link,
  about: { readonly askId: string; readonly runId: string },
  { wanted, delivery }: Sent,
): Promise<void> {
  // A desk compares what comes under a name by itself.
  if (wanted.nonce === undefined || wanted.recorded === true) return;
  if (delivery.delivered === 'signal' || !delivery.verdict.accepted) return;
  const { outcome } = delivery.verdict;
  const contrary = await contraryTo(link, about.runId, { ...wanted, askId: about.askId, outcome });
  if (contrary !== undefined) throw decisionRejected(contrary, about);
}

/** So refuses a run whose question is closed. */
const CLOSED: readonly RejectionReason[] = ['already_decided', 'run_closing'];

/** Not sent again under its name: the run may have had an earlier one in time. */
const isNew = ({ nonce, decidedAt }: AskDecision) => nonce === undefined || decidedAt !== undefined;

/** The run has not said whether it counts, and what the store says of the question is known. */
const isUnheard = (sent: Delivery) => sent.delivered === 'signal' && sent.storeAway !== true;

/** What a person says in words is kept as it is, or refused. */
function checkWords(
  name: string,
  words: unknown,
  about: { readonly askId: string; readonly runId: string },
): void {
  const defect = textDefect(words);
  if (defect === undefined) return;
  const message = `The decision was not sent: its ${name} ${defect}.`;
  const details = { reason: 'malformed', ...about };
  throw new HoldfastError('DecisionRejected', message, { hint: TEXT_HINT, details });
}

/** After a signal nobody knows whether others have to decide as well. */
function approves({ decision }: AskDecision, delivery: Delivery): boolean {
  if (decision !== 'approve') return false;
  // While the store is away nobody can say what is served: the call waits for the store first.
  if (delivery.delivered === 'signal') return delivery.storeAway !== true;
  return delivery.verdict.accepted && delivery.verdict.outcome === 'approved';
}

/** What is sent to the run, before it is signed. */
export function decisionAbout(
  { askId, argsHash }: Pick<AskView, 'askId' | 'argsHash'>,
  wanted: AskDecision,
): Decision {
  return {
    v: 1,
    askId,
    argsHash: wanted.argsHash ?? argsHash,
    decision: wanted.decision,
    by: wanted.by,
    roles: wanted.roles ?? [],
    decidedAt: wanted.decidedAt ?? Date.now(),
    nonce: wanted.nonce ?? randomUUID(),
    ...(wanted.reason !== undefined && { reason: wanted.reason }),
    ...(wanted.value !== undefined && { value: wanted.value }),
    ...(wanted.args !== undefined && { args: wanted.args }),
    ...(wanted.tool !== undefined && { tool: wanted.tool }),
    ...wanted.allowing,
    ...(wanted.recorded !== true && { unrecorded: true }),
  };
}

/** Answers an unknown outcome or a clarifying question. Errors as {@link decideOnAsk}. */
export async function answerAsk(
  link: Link,
  runId: string,
  given: Decider & { readonly askId: string; readonly answer: Answer },
): Promise<Delivery> {
  const { answer, ...who } = given;
  if (answer.kind !== 'text') {
    const value = answer.kind === 'happened' ? answer.value : undefined;
    return decideOnAsk(link, runId, {
      ...who,
      decision: answer.kind,
      ...(value !== undefined && { value }),
    });
  }
  checkWords('answer', answer.value, { askId: given.askId, runId });
  const { ask } = await askOfRun(link, runId, given.askId);
  if (ask.kind !== 'input') {
    throw new HoldfastError('DecisionRejected', `A text is no answer to this question.`, {
      hint: NOT_A_TEXT[ask.kind],
      details: { reason: 'not_applicable', askId: ask.askId, runId, kind: ask.kind },
    });
  }
  const { by, roles } = given;
  checkAnswerer(runId, ask, { by, roles: roles ?? [] });
  if (ask.elicitation !== undefined) await checkFits(runId, ask, answer.value);
  const provided = { askId: ask.askId, value: answer.value, by, ...(roles && { roles }) };
  await bounded(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).signal(messages.provideInput, provided),
  );
  const delivery = await heardAnswer(link, runId, { askId: ask.askId, by, value: answer.value });
  if (delivery.delivered === 'signal' || delivery.verdict.accepted) return delivery;
  throw decisionRejected(delivery.verdict, { askId: ask.askId, runId, isAnswer: true });
}

/** Errors: DecisionRejected when the answer of this person to a clarifying question would not count. */
export function checkAnswerer(
  runId: string,
  ask: AskView,
  person: { readonly by: string; readonly roles: readonly string[] },
): void {
  const objection = objectionToAnswerer(ask, person);
  if (objection === undefined) return;
  throw new HoldfastError('DecisionRejected', `The answer does not count: ${objection}.`, {
    hint: 'See with `holdfast approvals` who may answer.',
    details: { reason: 'role_missing', askId: ask.askId, runId },
  });
}

const NOT_A_TEXT = {
  approval: 'Use `holdfast approve` or `holdfast reject`.',
  budget: 'Use `holdfast approve` or `holdfast reject`.',
  outcome: 'Answer happened, not_happened or stop.',
  user_message: 'Send a message with `holdfast message`.',
  input: 'Give a text.',
} as const;
