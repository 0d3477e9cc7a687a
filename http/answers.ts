/**
 * Answers to questions, as a chat client gives them.
 * Invariants: an answer names the exact action by the hash that its person was shown; a question of another chat is
 * one that is not there; an answer that is sent again counts once.
 */
import type { AskDecision, FoundAsk } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { isRunOf, type Chat } from './chat.js';
import type { UiRefused } from './projection/index.js';
import type { SaidAnswer } from './said.js';

export interface Answered {
  /** Run ids of the questions that are this chat's. */
  readonly runs: ReadonlySet<string>;
  /** Questions whose end is on its way. */
  readonly decided: ReadonlySet<string>;
  readonly refused: readonly UiRefused[];
}

/** Errors: StoreUnavailable, ServerUnavailable. */
export async function answerAll(chat: Chat, answers: readonly SaidAnswer[]): Promise<Answered> {
  const runs = new Set<string>();
  const decided = new Set<string>();
  const refused: UiRefused[] = [];
  for (const said of answers) {
    const found = await findOwn(chat, said.askId);
    if (found === undefined) {
      refused.push({
        askId: said.askId,
        reason: 'unknown_ask',
        message: 'There is no such question.',
      });
      continue;
    }
    runs.add(found.runId);
    if (found.outcome !== 'pending') continue;
    try {
      if (await answerOne(chat, found, said)) decided.add(said.askId);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'DecisionRejected') throw error;
      const given = error.details?.reason;
      const reason = typeof given === 'string' ? given : 'not_applicable';
      // Said before: the answer to it did not arrive, or somebody was faster; the events of the run tell.
      if (reason === 'already_decided') decided.add(said.askId);
      if (reason === 'already_decided' || reason === 'duplicate') continue;
      refused.push({ askId: said.askId, reason, message: error.message });
    }
  }
  return { runs, decided, refused };
}

async function findOwn(chat: Chat, askId: string): Promise<FoundAsk | undefined> {
  // Ids of questions begin with their run.
  if (!isRunOf(chat, askId)) return undefined;
  try {
    const found = await chat.client.findAsk(askId);
    return isRunOf(chat, found.runId) ? found : undefined;
  } catch (error) {
    if (error instanceof HoldfastError && CODES_OF_NONE.includes(error.code)) return undefined;
    throw error;
  }
}

const CODES_OF_NONE: readonly string[] = ['AskNotFound', 'RunNotFound'];

/** Whether the question ends by it. */
async function answerOne(
  { client, actor, caller }: Chat,
  { runId, ask }: FoundAsk,
  said: SaidAnswer,
): Promise<boolean> {
  const { askId, argsHash, decision, value, reason, amount } = said;
  const run = client.handle(runId);
  const roles = actor.roles ?? [];
  if (decision === undefined) {
    const by = ask.answeredBy === 'customer' ? caller : actor.id;
    const told = await run.answer(askId, { kind: 'text', value: value ?? null }, { by, roles });
    return told.delivered === 'signal' || told.verdict.accepted;
  }
  const wanted: AskDecision = {
    askId,
    argsHash,
    decision,
    by: actor.id,
    roles,
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
