/**
 * One question to a model, whatever it is for: may it leave, its attempts, its reply, and what that cost.
 * Invariants: a finished reply is never paid for twice; no request leaves that does not fit what is left;
 * a failure says what the attempts cost; an interrupted question gives what had arrived as data.
 * What happens before the request is one commit, what happens after it another.
 */
import type { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { ModelReply, ModelRequest, Provider } from '../../providers/provider.js';
import type { ReplyKey } from '../../store/replies.js';
import type { StoreCalls } from '../../store/store.js';
import type { StreamBatch } from '../../store/changes.js';
import { now, type ActivityDeps, type InTransaction } from '../deps.js';
import { failure, toldOf, type FailureFacts } from '../failure.js';
import {
  accountOf,
  REPLIED_AT_ONCE,
  retriesUsedUp,
  trippedBy,
  type ModelAccount,
} from './model-account.js';
import {
  askProvider,
  beginAttempt,
  endAttempt,
  keepReply,
  keptReply,
  type RequestTerms,
  type AttemptEnding,
  type AttemptPurpose,
  type ModelCall,
  type ReceivedReply,
} from './model-attempt.js';
import { providerElsewhere } from '../lacking-code.js';
import { providerOf } from './model-provider.js';
import type { Scope } from '../scope.js';
import { isUsedUp, usedUpText } from '../progress.js';
import { writePatiently } from '../store-away.js';
import { tokenStream } from './token-stream.js';

export interface Question {
  readonly asked: RequestTerms;
  readonly purpose: AttemptPurpose;
  readonly request: ModelRequest;
  readonly replyKey: ReplyKey;
  /** Somebody may read along. */
  readonly stream?: Streaming;
}

export interface Streaming {
  readonly messageId: string;
  readonly eventsBefore: number;
  readonly keepMs: number;
}

export interface PreparedQuestion extends Question {
  readonly next: Next;
}

type Next =
  /** A reply is there already, or the run wants none any more. */
  | { readonly kind: 'received'; readonly received: ReceivedReply }
  | {
      readonly kind: 'ask';
      readonly attempt: number;
      readonly provider: Provider;
      /** No attempt was before it. */
      readonly first: boolean;
      readonly opened?: readonly StreamBatch[];
    }
  /** A value, not an exception: what was written before it must stay. */
  | { readonly kind: 'refused'; readonly failure: ApplicationFailure | CancelledFailure };

/** A reply, and the attempt that brought it unless it was there before. */
export interface Receipt {
  readonly question: Question;
  readonly received: ReceivedReply & { readonly end?: AttemptEnding };
  readonly call?: ModelCall;
  /** The reply came by the first attempt. */
  readonly first?: boolean | undefined;
}

/** Finds out what is to be done about a question; if it may leave, the row of its attempt is written. */
export async function prepareQuestion(
  deps: InTransaction,
  scope: Scope,
  question: Question,
): Promise<PreparedQuestion> {
  const kept = await keptReply(deps.store, question.replyKey);
  const next: Next =
    kept === undefined
      ? await permission(deps, scope, question)
      : { kind: 'received', received: kept };
  return { ...question, next };
}

/** Asks, unless the reply is there. Throws the failure of the call with what its attempts have cost. */
export async function answerTo(
  deps: ActivityDeps,
  scope: Scope,
  question: PreparedQuestion,
): Promise<Receipt> {
  const { asked, purpose, request, next } = question;
  if (next.kind === 'refused') throw next.failure;
  if (next.kind === 'received') return { question, received: next.received };
  const { attempt, provider, first, opened } = next;
  const tokens = opened && tokenStream(deps.store, opened, request.tools);
  const call: ModelCall = {
    asked,
    effectId: scope.effectId,
    attempt,
    provider,
    request,
    ...(tokens !== undefined && { tokens }),
  };
  const result = await askProvider(deps, scope, call);
  if (result.kind === 'replied') return { question, received: result.received, call, first };
  const after = await deps.store.together(async (store) => {
    await endAttempt({ ...deps, store }, call, result.end);
    return accountFor(store, scope, asked);
  });
  tokens?.ended();
  if (result.kind === 'abandoned') throw abandoned(after, purpose);
  const { code, retryable, facts } = result;
  throw billedFailure(code, after, {
    ...facts,
    retryable: retryable && !retriesUsedUp(after, asked.maxRetries),
  });
}

export interface Taking<T> {
  readonly receipt: Receipt;
  readonly take: (deps: InTransaction) => Promise<T>;
}

/** Makes something of a reply, in one commit with the reply itself. */
export async function takeReceipt<T>(
  deps: ActivityDeps,
  scope: Scope,
  { receipt, take }: Taking<T>,
): Promise<T> {
  try {
    return await deps.store.together(async (store) => {
      await keep({ ...deps, store }, receipt);
      return take({ ...deps, store });
    });
  } catch (error) {
    // Whatever is wrong with the reply, it was paid for: the next attempt must find it.
    await writePatiently(deps, scope, () =>
      deps.store.together((store) => keep({ ...deps, store }, receipt)),
    );
    throw error;
  } finally {
    receipt.call?.tokens?.ended();
  }
}

/** May another attempt leave? If so its row is written. */
async function permission(
  deps: InTransaction,
  scope: Scope,
  { asked, purpose, request, stream, replyKey }: Question,
): Promise<Next> {
  const before = await accountFor(deps.store, scope, asked);
  // A worker that died after writing its last failure has not reported it.
  if (before.lastCode !== undefined && retriesUsedUp(before, asked.maxRetries)) {
    const message = `The model call failed ${before.attempts} times.`;
    return refused(
      billedFailure(before.lastCode as ErrorCode, before, { message, retryable: false }),
    );
  }
  if (isUsedUp(scope.work, asked)) {
    const message = usedUpText('The model', scope.work, asked);
    const facts = { message, retryable: false, details: { timedOut: true } };
    return refused(billedFailure('NetworkTimeout', before, facts));
  }
  const budget = trippedBy(before, asked);
  if (budget !== undefined) {
    const message = `The next attempt of this model call does not fit ${budget}.`;
    return refused(billedFailure('BudgetExhausted', before, { message, details: { budget } }));
  }
  if (scope.signal.aborted) {
    return scope.stopRequested()
      ? { kind: 'received', received: nothingAsked(request) }
      : refused(abandoned(before, purpose));
  }
  // Before the row: a model that nobody serves costs nothing.
  const provider = providerOf(deps, asked.route);
  if (provider instanceof HoldfastError) {
    const elsewhere = await providerElsewhere(deps, scope, {
      name: asked.route.provider,
      unservedMs: asked.unservedMs,
      ...(provider.hint !== undefined && { hint: provider.hint }),
    });
    if (elsewhere !== undefined) return refused(elsewhere);
    const told = toldOf(provider.message, provider.hint);
    return refused(billedFailure(provider.code, before, told));
  }
  const attempt = await beginAttempt(deps, { asked, purpose, effectId: scope.effectId });
  const asking = { kind: 'ask', attempt, provider, first: before.attempts === 0 } as const;
  if (stream === undefined) return asking;
  const { tenant, runId, call } = replyKey;
  const opening = { tenant, runId, call, attempt, ...stream, at: now(deps) };
  return { ...asking, opened: await deps.store.openStream(opening) };
}

function refused(failed: ApplicationFailure | CancelledFailure): Next {
  return { kind: 'refused', failure: failed };
}

/** As a reply without content. */
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

/** The reply and the end of its attempt. */
async function keep(deps: InTransaction, { question, received, call }: Receipt): Promise<void> {
  if (call === undefined || received.end === undefined) return;
  // A partial reply is no reply to this request: a reset must ask again.
  if (received.reply.partial !== true) {
    const { attempt, reply } = received;
    await keepReply(deps.store, question.replyKey, { attempt, reply });
  }
  const { partial } = received.reply;
  await endAttempt(deps, call, { ...received.end, ...(partial !== undefined && { partial }) });
}

const ABANDONED_WORK: { readonly [purpose in AttemptPurpose]: string } = {
  model: 'ask the model',
  compaction: 'summarise',
  judge: 'ask the judge',
  review: 'ask the reviewer',
  supervision: 'ask the supervisor',
};

function abandoned(account: ModelAccount, purpose: AttemptPurpose) {
  const message = `This worker is shutting down; another one will ${ABANDONED_WORK[purpose]} again.`;
  return billedFailure('Aborted', account, { message, retryable: true });
}

export function billedFailure(code: ErrorCode, account: ModelAccount, facts: FailureFacts) {
  const { attempts, retried, lostCostMicroUsd, lostUsage, partial } = account;
  const details = { ...facts.details, attempts, retried, lostCostMicroUsd, lostUsage, partial };
  return failure(code, { ...facts, details });
}

/**
 * What the attempts of this effect cost; `replied` is the one whose reply is used. Of the first attempt nothing is read:
 * a later one belongs to another delivery, and from then on nobody takes the result of this one.
 */
export async function accountFor(
  store: StoreCalls,
  scope: Scope,
  { run, replied, first }: Accounted,
): Promise<ModelAccount> {
  if (first === true) return REPLIED_AT_ONCE;
  return accountOf(await store.listAttempts(run.tenant, run.runId, scope.effectId), replied);
}

interface Accounted extends Pick<RequestTerms, 'run'>, Pick<Receipt, 'first'> {
  readonly replied?: number;
}
