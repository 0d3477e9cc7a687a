/**
 * call_model: appends what the core wants to say, asks the model once, takes the reply.
 * Invariants: those of every question (model-asking.ts); the assistant message is a node before its calls
 * are known to anybody; the first transaction asks whether this is the store of the run before anything else.
 */
import type { CallModelInput, CallModelOutput, StoreRef } from '../../core/state/effect.js';
import { tokensOf } from '../../core/step/conversation.js';
import type { ToolOffer } from '../../core/state/transcript.js';
import type { ReplyKey } from '../../store/replies.js';
import { digestOf } from '../digests.js';
import { withServerTools } from '../connectors/server-tools.js';
import { metWithin } from '../own-store.js';
import { appendEvents } from '../run/append-events.js';
import { appendItems } from '../run/append-items.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import {
  accountFor,
  answerTo,
  prepareQuestion,
  takeReceipt,
  type PreparedQuestion,
} from './model-asking.js';
import { takeReply } from './model-reply.js';
import { conversationAt } from './model-request.js';
import type { Scope } from '../scope.js';

export async function callModel(
  deps: ActivityDeps,
  scope: Scope,
  input: CallModelInput,
): Promise<CallModelOutput> {
  const prepared = await deps.store.together((store) => prepare({ ...deps, store }, scope, input));
  const receipt = await answerTo(deps, scope, prepared.question);
  const { met, head, offers, eventsUpTo } = prepared;
  const { received, first } = receipt;
  const { attempt, reply } = received;
  // Before the transaction: it waits for nobody.
  const { config } = await withServerTools(deps, input.run.tenant, offers);
  const take = async (inside: InTransaction): Promise<CallModelOutput> => {
    const taken = await takeReply({ ...inside, config }, { input, head, offers }, reply);
    const account = await accountFor(inside.store, scope, {
      run: input.run,
      replied: attempt,
      first,
    });
    return {
      ...taken,
      ...(taken.reply.stop === 'refusal' && { headBefore: head }),
      attempts: account.attempts,
      ...(account.retried.length > 0 && { retried: account.retried }),
      lostCostMicroUsd: account.lostCostMicroUsd,
      ...(tokensOf(account.lostUsage) > 0 && { lostUsage: account.lostUsage }),
      eventsUpTo,
    };
  };
  const output = await takeReceipt(deps, scope, { receipt, take });
  // A reply that an earlier attempt has stored does not know it.
  return met === undefined ? output : { ...output, store: met };
}

interface Prepared {
  /** Another store, or another epoch, than the run knows. */
  readonly met: StoreRef | undefined;
  readonly eventsUpTo: number;
  readonly head: string;
  readonly offers: readonly ToolOffer[];
  readonly question: PreparedQuestion;
}

async function prepare(
  deps: InTransaction,
  scope: Scope,
  input: CallModelInput,
): Promise<Prepared> {
  const { store } = deps;
  const met = await metWithin(deps, input);
  const eventsUpTo = await appendEvents(store, scope, input);
  const place = { tenant: input.run.tenant, head: input.head };
  const head = await appendItems(store, place, input.append);
  const { offers, request } = await conversationAt(store, input, head);
  const replyKey = replyKeyOf(input, head);
  const { stream } = input;
  const question = await prepareQuestion(deps, scope, {
    asked: input,
    purpose: 'model',
    request,
    replyKey,
    ...(stream !== undefined && {
      stream: { messageId: input.replyMessageId, eventsBefore: eventsUpTo, ...stream },
    }),
  });
  return { met, eventsUpTo, head, offers, question };
}

/** The head names everything that was said; with these it names the request. */
function replyKeyOf(input: CallModelInput, head: string): ReplyKey {
  const { run, call, route, offered, dynamic, maxTokens, temperature, maxThinkingTokens, betas } =
    input;
  const requestDigest = digestOf({
    head,
    model: route.model,
    offered: offered ?? null,
    maxTokens,
    temperature,
    ...(maxThinkingTokens !== undefined && { maxThinkingTokens }),
    ...(dynamic !== undefined && { dynamic }),
    ...(betas !== undefined && { betas }),
  });
  return { tenant: run.tenant, runId: run.runId, call, requestDigest };
}
