/**
 * call_model: appends what the core wants to say, asks the model once, takes the reply.
 * Invariants: a finished reply is never paid for twice; no request leaves that does not fit what is left;
 * a failure says what the attempts cost; an interrupted call gives what had arrived as data.
 */
import type { CallModelInput, CallModelOutput } from '../core/effect.js';
import { digestOf } from '../core/digest.js';
import { NO_USAGE } from '../core/model.js';
import type { ModelReply } from '../providers/provider.js';
import type { ReplyKey } from '../store/replies.js';
import { appendItems } from './append-items.js';
import type { ActivityDeps } from './deps.js';
import { failure, type FailureFacts } from './failure.js';
import { accountOf, retriesUsedUp, trippedBy, type ModelAccount } from './model-account.js';
import {
  attemptModelCall,
  keptReply,
  type ModelCall,
  type ReceivedReply,
} from './model-attempt.js';
import { takeReply, type ReplySite } from './model-reply.js';
import { conversationAt } from './model-request.js';
import { providerOf } from './model-provider.js';
import type { Scope } from './scope.js';
import type { ErrorCode } from '../core/errors.js';

export async function callModel(
  deps: ActivityDeps,
  scope: Scope,
  input: CallModelInput,
): Promise<CallModelOutput> {
  const { store } = deps;
  const eventsUpTo = await store.appendEvents(
    { ...input.run, execution: scope.execution },
    input.events,
  );
  const place = { tenant: input.run.tenant, head: input.head };
  const head = await appendItems(store, place, input.append);
  const { offers, request } = await conversationAt(store, input, head);
  const replyKey = replyKeyOf(input, head);
  const received =
    (await keptReply(store, replyKey)) ??
    (await ask(deps, scope, {
      input,
      effectId: scope.effectId,
      replyKey,
      provider: providerOf(deps, input.route),
      request,
    }));
  const site: ReplySite = { input, head, offers };
  const taken = await takeReply(deps, site, received.reply);
  const account = await accountFor(deps, scope, { input, replied: received.attempt });
  return {
    ...taken,
    attempts: account.attempts,
    lostCostMicroUsd: account.lostCostMicroUsd,
    lostUsage: account.lostUsage,
    eventsUpTo,
  };
}

/** The head names everything that was said; with these it names the request. */
function replyKeyOf(input: CallModelInput, head: string): ReplyKey {
  const { run, call, route, offered, maxTokens, temperature } = input;
  const requestDigest = digestOf({
    head,
    model: route.model,
    offered: offered ?? null,
    maxTokens,
    temperature,
  });
  return { tenant: run.tenant, runId: run.runId, call, requestDigest };
}

async function ask(deps: ActivityDeps, scope: Scope, call: ModelCall): Promise<ReceivedReply> {
  const { input } = call;
  const before = await accountFor(deps, scope, { input });
  // A worker that died after writing its last failure has not reported it.
  if (before.lastCode !== undefined && retriesUsedUp(before, input.maxRetries)) {
    const message = `The model call failed ${before.attempts} times.`;
    throw billedFailure(before.lastCode as ErrorCode, before, { message, retryable: false });
  }
  const budget = trippedBy(before, input);
  if (budget !== undefined) {
    const message = `The next attempt of this model call does not fit ${budget}.`;
    throw billedFailure('BudgetExhausted', before, { message, details: { budget } });
  }
  if (scope.signal.aborted) return interrupted(scope, call, before);
  const result = await attemptModelCall(deps, scope, call);
  if (result.kind === 'replied') return result;
  const after = await accountFor(deps, scope, { input });
  if (result.kind === 'abandoned') throw abandoned(after);
  const { code, retryable, ...facts } = result;
  throw billedFailure(code, after, {
    ...facts,
    retryable: retryable && !retriesUsedUp(after, input.maxRetries),
  });
}

/** Nothing left for the model: as a reply without content. */
function interrupted(scope: Scope, { request }: ModelCall, account: ModelAccount): ReceivedReply {
  if (!scope.stopRequested()) throw abandoned(account);
  const reply: ModelReply = {
    blocks: [],
    raw: [],
    stop: 'unknown',
    stopDetail: 'aborted',
    usage: NO_USAGE,
    usageSource: 'unsent',
    model: request.model,
    partial: true,
    incompleteCalls: 0,
  };
  return { attempt: 0, reply };
}

function abandoned(account: ModelAccount) {
  const message = 'This worker is shutting down; another one will ask the model again.';
  return billedFailure('Aborted', account, { message, retryable: true });
}

function billedFailure(code: ErrorCode, account: ModelAccount, facts: FailureFacts) {
  const { attempts, lostCostMicroUsd, lostUsage } = account;
  const details = { ...facts.details, attempts, lostCostMicroUsd, lostUsage };
  return failure(code, { ...facts, details });
}

interface Accounted {
  readonly input: CallModelInput;
  readonly replied?: number;
}

async function accountFor(
  { store }: ActivityDeps,
  scope: Scope,
  { input, replied }: Accounted,
): Promise<ModelAccount> {
  const { tenant, runId } = input.run;
  return accountOf(await store.listAttempts(tenant, runId, scope.effectId), replied);
}
