/**
 * Answers to questions, as a chat client gives them.
 * Invariants: an answer names the exact action by the hash that its person was shown; a question of another chat is
 * one that is not there; an answer that is sent again counts once, and any other that comes too late is refused; while
 * the store is away an answer goes to the run that holds its question open, and the run judges it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdPrefixes } from '../client/decide/find-ask.js';
import type { AskDecision, FoundAsk } from '../client/index.js';
import { sha256Hex } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { isRunOf, isStoreAway, type Chat } from './chat.js';
import type { UiRefused } from './projection/index.js';
import type { SaidAnswer } from './said.js';

export interface Answered {
  /** Run ids of the questions that are this chat's. */
  readonly runs: ReadonlySet<string>;
  /** Questions whose end is on its way, or was told by the answer. */
  readonly decided: ReadonlySet<string>;
  readonly refused: readonly UiRefused[];
  /** An answer was sent, and not refused at once. */
  readonly isSent: boolean;
  /** The store was away for one of the questions. */
  readonly storeAway: boolean;
}

/** Errors: StoreUnavailable, ServerUnavailable. */
export async function answerAll(chat: Chat, answers: readonly SaidAnswer[]): Promise<Answered> {
  const runs = new Set<string>();
  const decided = new Set<string>();
  const refused: UiRefused[] = [];
  let isSent = false;
  let storeAway = false;
  let until: number | undefined;
  for (const said of answers) {
    const found = await findOwn(chat, said.askId);
    if (found === 'unavailable') storeAway = true;
    if (typeof found === 'string') {
      refused.push({ askId: said.askId, reason: found, message: NOT_FOUND[found] });
      continue;
    }
    runs.add(found.runId);
    if (found.storeAway) storeAway = true;
    if (found.outcome !== 'pending') {
      const late = await tooLate(chat, found, said);
      if (late.length === 0) decided.add(said.askId);
      refused.push(...late);
      continue;
    }
    try {
      if (await answerOne(chat, found, said)) decided.add(said.askId);
      isSent = true;
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'DecisionRejected') throw error;
      const { reason: given, unheard } = error.details ?? {};
      const reason = typeof given === 'string' ? given : 'not_applicable';
      // The run has not heard it, nor perhaps the same word of the same person that was sent in time.
      if (reason === 'late' && unheard === true) {
        decided.add(said.askId);
        isSent = true;
        continue;
      }
      const isBehind = reason === 'already_decided' || reason === 'duplicate';
      // All answers of a request wait together.
      if (isBehind) until ??= performance.now() + END_MS;
      const ended = until && isBehind ? await endOf(chat, found, until) : undefined;
      // Somebody was faster, or the same person elsewhere; the events of the run tell.
      if (ended !== undefined || reason === 'already_decided') decided.add(said.askId);
      const untold = { askId: said.askId, reason, message: error.message };
      refused.push(...(ended === undefined ? [untold] : await tooLate(chat, ended, said)));
    }
  }
  return { runs, decided, refused, isSent, storeAway };
}

/** Why there is nothing to answer. `unavailable`: only the store knows what became of it. */
const NOT_FOUND = {
  unknown_ask: 'There is no such question.',
  unavailable: 'The question cannot be looked at now: the answer was not sent. Send it again.',
} as const;

async function findOwn(chat: Chat, askId: string): Promise<FoundAsk | keyof typeof NOT_FOUND> {
  // Ids of questions begin with their run.
  if (!isRunOf(chat, askId)) return 'unknown_ask';
  try {
    const found = await chat.client.findAsk(askId);
    return isRunOf(chat, found.runId) ? found : 'unknown_ask';
  } catch (error) {
    if (isStoreAway(error)) return (await askedByRun(chat, askId)) ?? 'unavailable';
    if (error instanceof HoldfastError && CODES_OF_NONE.includes(error.code)) return 'unknown_ask';
    throw error;
  }
}

const CODES_OF_NONE: readonly string[] = ['AskNotFound', 'RunNotFound'];

/** As a run of this chat tells it that Temporal has for the tenant: no other run can be meant. */
async function askedByRun(chat: Chat, askId: string): Promise<FoundAsk | undefined> {
  for (const runId of runIdPrefixes(askId).filter((one) => isRunOf(chat, one))) {
    try {
      return await chat.client.findAsk(askId, runId);
    } catch (error) {
      // A question that closed long ago is no longer told by its run.
      const isNone = error instanceof HoldfastError && CODES_NOT_OPEN.includes(error.code);
      if (!isNone) throw error;
    }
  }
  return undefined;
}

const CODES_NOT_OPEN: readonly string[] = [...CODES_OF_NONE, 'DecisionRejected'];

/** A run says that a question has ended before the store has it. */
const END_MS = 2_000;
const LOOK_MS = 100;

/** undefined: the store does not have the end of the question. */
async function endOf(chat: Chat, { ask }: FoundAsk, until: number): Promise<FoundAsk | undefined> {
  for (;;) {
    const found = await findOwn(chat, ask.askId);
    // The run's own word for the end does not say whose it is.
    const isRow = typeof found === 'object' && found.by !== undefined;
    if (isRow && found.outcome !== 'pending') return found;
    if (performance.now() >= until) return undefined;
    await sleep(LOOK_MS);
  }
}

/** The refusal of a word to a question that has ended; none where that word ended it, and was this person's. */
async function tooLate(
  chat: Chat,
  found: FoundAsk,
  said: SaidAnswer,
): Promise<readonly UiRefused[]> {
  const counts = await countsAlready(chat, found, said);
  if (counts === true) return [];
  const { askId } = said;
  if (counts === undefined) {
    return [{ askId, reason: 'unavailable', message: NOT_FOUND.unavailable }];
  }
  const { outcome, by = [] } = found;
  const reason = outcome === 'expired' ? 'late' : 'already_decided';
  const who = by.length === 0 ? '' : ` by ${by.join(', ').slice(0, 200)}`;
  const message = `The answer does not count: the question has ended before (${outcome}${who}).`;
  return [{ askId, reason, message }];
}

const OUTCOMES = {
  approve: 'approved',
  reject: 'rejected',
  happened: 'happened',
  not_happened: 'not_happened',
  stop: 'stopped',
} as const;

/** undefined: only the store knows. */
async function countsAlready(
  chat: Chat,
  { runId, ask, outcome, by, storeAway }: FoundAsk,
  { askId, argsHash, decision, value = null }: SaidAnswer,
): Promise<boolean | undefined> {
  const who = decision === undefined ? answererOf(chat, ask) : chat.actor.id;
  if (by !== undefined && !by.includes(who)) return false;
  const isSame =
    decision === undefined
      ? outcome === 'answered'
      : outcome === OUTCOMES[decision] && ask.argsHash === argsHash;
  if (!isSame) return false;
  // Whose it was, and which answer.
  if (storeAway) return undefined;
  if (decision !== undefined) return true;
  const isRead = await chat.client.conversations.isAnswerRead(runId, { askId, by: who, value });
  return isRead !== false;
}

function answererOf({ actor, caller }: Chat, ask: FoundAsk['ask']): string {
  return ask.answeredBy === 'customer' ? caller : actor.id;
}

/** One word of a person to an action: said again it counts once; any other is judged, and told, by the run. */
function nameOf({ askId, argsHash, decision, value, amount }: SaidAnswer, by: string): string {
  const said = [askId, argsHash, by, decision, value ?? null, amount ?? null];
  return `chat:${sha256Hex(JSON.stringify(said)).slice(0, 40)}`;
}

/** Whether the question ends by it. */
async function answerOne(chat: Chat, { runId, ask }: FoundAsk, said: SaidAnswer): Promise<boolean> {
  const { client, actor } = chat;
  const { askId, argsHash, decision, value, reason, amount } = said;
  const run = client.handle(runId);
  const roles = actor.roles ?? [];
  if (decision === undefined) {
    const by = answererOf(chat, ask);
    const told = await run.answer(askId, { kind: 'text', value: value ?? null }, { by, roles });
    return told.delivered === 'signal' || told.verdict.accepted;
  }
  const wanted: AskDecision = {
    askId,
    argsHash,
    decision,
    by: actor.id,
    roles,
    nonce: nameOf(said, actor.id),
    decidedAt: Date.now(),
    // An answer of then is no answer now: the person may have got a role since.
    updateId: randomUUID(),
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(decision === 'happened' && value !== undefined && { value }),
    ...(amount !== undefined && { allowing: { amount } }),
  };
  const told = await run.decideOn(wanted);
  // Others may have to decide as well.
  return (
    told.delivered === 'signal' || (told.verdict.accepted && told.verdict.outcome !== 'pending')
  );
}
