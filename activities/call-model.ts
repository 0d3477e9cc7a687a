/**
 * call_model: appends what the core wants to say, asks the model once, takes the reply.
 * Invariants: a finished reply is never paid for twice; no request leaves that does not fit what is left;
 * a failure says what the attempts cost; an interrupted call gives what had arrived as data.
 * What happens before the request is one commit, what happens after it another.
 */
import type { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { CallModelInput, CallModelOutput } from '../core/effect.js';
import { digestOf } from '../core/digest.js';
import { HoldfastError, type ErrorCode } from '../core/errors.js';
import { NO_USAGE } from '../core/model.js';
import type { ModelReply, ModelRequest, Provider } from '../providers/provider.js';
import type { ReplyKey } from '../store/replies.js';
import type { StoreCalls } from '../store/store.js';
import type { ToolOffer } from '../core/transcript.js';
import { appendEvents } from './append-events.js';
import { appendItems } from './append-items.js';
import type { ActivityDeps, InTransaction } from './deps.js';
import { failure, toFailure, type FailureFacts } from './failure.js';
import { accountOf, retriesUsedUp, trippedBy, type ModelAccount } from './model-account.js';
import {
  askProvider,
  beginAttempt,
  endAttempt,
  keepReply,
  keptReply,
  type AttemptEnding,
  type ModelCall,
  type ReceivedReply,
} from './model-attempt.js';
import { takeReply } from './model-reply.js';
import { conversationAt } from './model-request.js';
import { providerOf } from './model-provider.js';
import type { Scope } from './scope.js';

export async function callModel(
  deps: ActivityDeps,
  scope: Scope,
  input: CallModelInput,
): Promise<CallModelOutput> {
  const prepared = await deps.store.together((store) => prepare({ ...deps, store }, scope, input));
  if (prepared.next.kind === 'refused') throw prepared.next.failure;
  if (prepared.next.kind === 'received') return finish(deps, scope, { prepared, ...prepared.next });
  const { attempt, provider } = prepared.next;
  const call: ModelCall = {
    input,
    effectId: scope.effectId,
    attempt,
    provider,
    request: prepared.request,
  };
  const result = await askProvider(scope, call);
  if (result.kind === 'replied') {
    return finish(deps, scope, { prepared, received: result.received, call });
  }
  const after = await deps.store.together(async (store) => {
    await endAttempt({ ...deps, store }, call, result.end);
    return accountFor(store, scope, { input });
  });
  if (result.kind === 'abandoned') throw abandoned(after);
  const { code, retryable, facts } = result;
  throw billedFailure(code, after, {
    ...facts,
    retryable: retryable && !retriesUsedUp(after, input.maxRetries),
  });
}

interface Prepared {
  readonly input: CallModelInput;
  readonly eventsUpTo: number;
  readonly head: string;
  readonly offers: readonly ToolOffer[];
  readonly request: ModelRequest;
  readonly replyKey: ReplyKey;
  readonly next: Next;
}

type Next =
  /** A reply is there already, or the run wants none any more. */
  | { readonly kind: 'received'; readonly received: ReceivedReply }
  | { readonly kind: 'ask'; readonly attempt: number; readonly provider: Provider }
  /** A value, not an exception: what was written before it must stay. */
  | { readonly kind: 'refused'; readonly failure: ApplicationFailure | CancelledFailure };

async function prepare(
  deps: InTransaction,
  scope: Scope,
  input: CallModelInput,
): Promise<Prepared> {
  const { store } = deps;
  const eventsUpTo = await appendEvents(store, scope, input);
  const place = { tenant: input.run.tenant, head: input.head };
  const head = await appendItems(store, place, input.append);
  const { offers, request } = await conversationAt(store, input, head);
  const replyKey = replyKeyOf(input, head);
  const kept = await keptReply(store, replyKey);
  const next: Next =
    kept === undefined
      ? await permission(deps, scope, { input, request })
      : { kind: 'received', received: kept };
  return { input, eventsUpTo, head, offers, request, replyKey, next };
}

/** The head names everything that was said; with these it names the request. */
function replyKeyOf(input: CallModelInput, head: string): ReplyKey {
  const { run, call, route, offered, maxTokens, temperature, maxThinkingTokens } = input;
  const requestDigest = digestOf({
    head,
    model: route.model,
    offered: offered ?? null,
    maxTokens,
    temperature,
    ...(maxThinkingTokens !== undefined && { maxThinkingTokens }),
  });
  return { tenant: run.tenant, runId: run.runId, call, requestDigest };
}

interface Asking {
  readonly input: CallModelInput;
  readonly request: ModelRequest;
}

/** May another attempt leave? If so its row is written. */
async function permission(
  deps: InTransaction,
  scope: Scope,
  { input, request }: Asking,
): Promise<Next> {
  const before = await accountFor(deps.store, scope, { input });
  // A worker that died after writing its last failure has not reported it.
  if (before.lastCode !== undefined && retriesUsedUp(before, input.maxRetries)) {
    const message = `The model call failed ${before.attempts} times.`;
    return refused(
      billedFailure(before.lastCode as ErrorCode, before, { message, retryable: false }),
    );
  }
  const budget = trippedBy(before, input);
  if (budget !== undefined) {
    const message = `The next attempt of this model call does not fit ${budget}.`;
    return refused(billedFailure('BudgetExhausted', before, { message, details: { budget } }));
  }
  if (scope.signal.aborted) {
    return scope.stopRequested()
      ? { kind: 'received', received: nothingAsked(request) }
      : refused(abandoned(before));
  }
  // Before the row: a model that nobody serves costs nothing.
  const provider = providerOf(deps, input.route);
  if (provider instanceof HoldfastError) return refused(toFailure(provider));
  return { kind: 'ask', attempt: await beginAttempt(deps, input, scope.effectId), provider };
}

function refused(failed: ApplicationFailure | CancelledFailure): Next {
  return { kind: 'refused', failure: failed };
}

/** Nothing left for the model: as a reply without content. */
function nothingAsked(request: ModelRequest): ReceivedReply {
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

interface Receipt {
  readonly prepared: Prepared;
  readonly received: ReceivedReply & { readonly end?: AttemptEnding };
  /** The attempt to end; absent when the reply was there before. */
  readonly call?: ModelCall;
}

async function finish(
  deps: ActivityDeps,
  scope: Scope,
  receipt: Receipt,
): Promise<CallModelOutput> {
  try {
    return await deps.store.together((store) => take({ ...deps, store }, scope, receipt));
  } catch (error) {
    // Whatever is wrong with the reply, it was paid for: the next attempt must find it.
    await deps.store.together((store) => keep({ ...deps, store }, receipt));
    throw error;
  }
}

async function take(deps: InTransaction, scope: Scope, receipt: Receipt): Promise<CallModelOutput> {
  const { input, head, offers, eventsUpTo } = receipt.prepared;
  await keep(deps, receipt);
  const taken = await takeReply(deps, { input, head, offers }, receipt.received.reply);
  const account = await accountFor(deps.store, scope, {
    input,
    replied: receipt.received.attempt,
  });
  return {
    ...taken,
    ...(taken.reply.stop === 'refusal' && { headBefore: head }),
    attempts: account.attempts,
    ...(account.retried.length > 0 && { retried: account.retried }),
    lostCostMicroUsd: account.lostCostMicroUsd,
    lostUsage: account.lostUsage,
    eventsUpTo,
  };
}

/** The reply and the end of its attempt. */
async function keep(deps: InTransaction, { prepared, received, call }: Receipt): Promise<void> {
  if (call === undefined || received.end === undefined) return;
  // A partial reply is no reply to this request: a reset must ask again.
  if (received.reply.partial !== true) {
    const { attempt, reply } = received;
    await keepReply(deps.store, prepared.replyKey, { attempt, reply });
  }
  await endAttempt(deps, call, received.end);
}

function abandoned(account: ModelAccount) {
  const message = 'This worker is shutting down; another one will ask the model again.';
  return billedFailure('Aborted', account, { message, retryable: true });
}

function billedFailure(code: ErrorCode, account: ModelAccount, facts: FailureFacts) {
  const { attempts, retried, lostCostMicroUsd, lostUsage, partial } = account;
  const details = { ...facts.details, attempts, retried, lostCostMicroUsd, lostUsage, partial };
  return failure(code, { ...facts, details });
}

interface Accounted {
  readonly input: CallModelInput;
  readonly replied?: number;
}

async function accountFor(
  store: StoreCalls,
  scope: Scope,
  { input, replied }: Accounted,
): Promise<ModelAccount> {
  const { tenant, runId } = input.run;
  return accountOf(await store.listAttempts(tenant, runId, scope.effectId), replied);
}
