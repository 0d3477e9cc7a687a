/**
 * One attempt of a model call: the row before, the request, the row after.
 * Invariants: nothing leaves before its bound is on disk; a reply is on disk before anything is made of it.
 */
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import { costMicroUsd } from '../../core/money/budget.js';
import { isCount } from '../../core/json/count.js';
import type { CallModelInput } from '../../core/state/effect.js';
import type { Json, StoredText } from '../../core/json/json.js';
import { thrownText } from '../../pure/thrown-text.js';
import type {
  ModelFailureDetails,
  ModelReply,
  ModelRequest,
  Provider,
} from '../../providers/provider.js';
import type { AttemptEnd, AttemptStart } from '../../store/attempts.js';
import type { ReplyKey } from '../../store/replies.js';
import type { StoreCalls } from '../../store/store.js';
import { checkedReply } from './checked-reply.js';
import { now, type ActivityDeps, type InTransaction } from '../deps.js';
import { toldOf, type FailureFacts } from '../failure.js';
import { feesOf } from './hosted-calls.js';
import { lateMessage, timeLimit } from '../model-time.js';
import { isReported, usageOf } from './reply-usage.js';
import type { Scope } from '../scope.js';
import type { TokenStream } from './token-stream.js';

/** What every request to a model has, whatever it is for. */
export type RequestTerms = Pick<
  CallModelInput,
  'run' | 'route' | 'maxTokens' | 'bound' | 'left' | 'maxRetries' | 'workMs' | 'unservedMs'
>;

/** For the loop, for a summary of the conversation, or for a goal. */
export type AttemptPurpose = Exclude<AttemptStart['kind'], 'tool'>;

export interface ModelCall {
  readonly asked: RequestTerms;
  /** Names this call's attempts in the store. */
  readonly effectId: string;
  readonly attempt: number;
  readonly provider: Provider;
  readonly request: ModelRequest;
  /** Where it is shown while it comes. */
  readonly tokens?: TokenStream;
}

export interface ReceivedReply {
  readonly attempt: number;
  readonly reply: ModelReply;
}

/** How an attempt ended, as its row will say. */
export type AttemptEnding = Omit<AttemptEnd, 'finishedAt'>;

export type AttemptResult =
  | {
      readonly kind: 'replied';
      readonly received: ReceivedReply & { readonly end: AttemptEnding };
    }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly facts: FailureFacts;
      readonly end: AttemptEnding;
    }
  /** Only this worker has to end; another will ask again. */
  | { readonly kind: 'abandoned'; readonly end: AttemptEnding };

interface Beginning {
  readonly asked: RequestTerms;
  readonly purpose: AttemptPurpose;
  readonly effectId: string;
}

/** Writes the row of an attempt with its bound; the request may leave afterwards. Gives its number. */
export function beginAttempt(
  deps: InTransaction,
  { asked, purpose, effectId }: Beginning,
): Promise<number> {
  return deps.store.startAttempt({
    tenant: asked.run.tenant,
    runId: asked.run.runId,
    effectId,
    kind: purpose,
    boundCostMicroUsd: asked.bound.costMicroUsd,
    boundInputTokens: asked.bound.inputTokens,
    boundOutputTokens: asked.maxTokens,
    startedAt: now(deps),
  });
}

export async function endAttempt(
  deps: InTransaction,
  { asked, effectId, attempt, tokens }: ModelCall,
  end: AttemptEnding & { readonly partial?: boolean },
): Promise<void> {
  const { tenant, runId } = asked.run;
  const { partial = false, ...ending } = end;
  const finishedAt = now(deps);
  await deps.store.finishAttempt({ tenant, runId, effectId, attempt, ...ending, finishedAt });
  const reason = end.code ?? 'Internal';
  await tokens?.end(
    deps.store,
    end.outcome === 'ok'
      ? { kind: 'attempt_ended', ...(partial && { partial }) }
      : { kind: 'attempt_reset', reason },
  );
}

/** The request itself. Touches no store: nobody waits for a model with the database in hand. */
export async function askProvider(
  deps: ActivityDeps,
  scope: Scope,
  call: ModelCall,
): Promise<AttemptResult> {
  const { asked, attempt, tokens } = call;
  const limit = timeLimit(deps, scope, asked);
  // Heartbeats come from a timer: a chunk that arrives proves nothing that the timer does not.
  const progress = {
    signal: limit.signal,
    onProgress: () => undefined,
    ...(tokens !== undefined && { onDelta: tokens.onDelta }),
  };
  let reply: ModelReply;
  try {
    const { provider, request } = call;
    const given = await scope.work.outside(() => provider.complete(request, progress));
    reply = checkedReply(given, { provider, maxTokens: asked.maxTokens });
    tokens?.replied(reply.blocks);
  } catch (error) {
    return limit.isOver() ? tooLate(call, spentBy(error, asked)) : failedAttempt(error, call);
  } finally {
    limit.end();
    await tokens?.settle();
  }
  const estimated = !isReported(reply);
  const fees = feesOf(asked.bound, reply.hosted);
  const spent = { ...billed(asked, usageOf(asked, reply), fees), estimated };
  if (reply.partial === true && limit.isOver()) return tooLate(call, spent);
  if (reply.partial === true && !scope.stopRequested()) {
    return { kind: 'abandoned', end: { outcome: 'lost', code: 'Aborted', ...spent } };
  }
  return { kind: 'replied', received: { attempt, reply, end: { outcome: 'ok', ...spent } } };
}

/** The request was cut off when its time was over; nothing of it is used. */
function tooLate(
  { asked }: ModelCall,
  spent: Omit<AttemptEnding, 'outcome' | 'code'>,
): AttemptResult {
  const code = 'NetworkTimeout';
  return {
    kind: 'failed',
    code,
    retryable: false,
    facts: { message: lateMessage(asked), details: { timedOut: true } },
    end: { outcome: 'failed', code, ...spent },
  };
}

/** The finished reply to exactly this request, if one was ever received. */
export async function keptReply(
  store: StoreCalls,
  key: ReplyKey,
): Promise<ReceivedReply | undefined> {
  // Written by keepReply, which is what makes the two casts true.
  const kept = (await store.getReply(key)) as StoredText | undefined;
  if (kept === undefined) return undefined;
  return JSON.parse(await store.getText(key.tenant, kept)) as ReceivedReply;
}

/** Keeps a finished reply; the first one under a request stays. */
export async function keepReply(
  store: StoreCalls,
  key: ReplyKey,
  received: ReceivedReply,
): Promise<void> {
  const output = await store.putText(key.tenant, JSON.stringify(received));
  await store.putReply({ ...key, output: output as unknown as Json });
}

function failedAttempt(thrown: unknown, { asked, provider }: ModelCall): AttemptResult {
  const known = thrown instanceof HoldfastError;
  const error = known ? thrown : brokenProvider(provider, thrown);
  const details = detailsOf(error);
  const { code, hint } = error;
  return {
    kind: 'failed',
    code,
    retryable: details?.shouldRetry ?? !known,
    facts: {
      ...toldOf(error.message, hint),
      ...(details?.retryAfterMs !== undefined && { retryAfterMs: details.retryAfterMs }),
      cause: thrown,
    },
    end: { outcome: 'failed', code, ...spentBy(error, asked) },
  };
}

/** A provider throws nothing but the failures of a model; what else comes is a defect of its code. */
function brokenProvider({ name }: Provider, thrown: unknown): HoldfastError {
  const said = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : thrownText(thrown);
  return new HoldfastError('Internal', `The provider ${name} threw ${said}.`, {
    hint: 'Look at the code of the provider; it may throw only what modelFailure makes.',
  });
}

/** What the vendor may bill for a failed request (G25); all of its bound when nothing is known. */
function spentBy(error: unknown, asked: RequestTerms): Pick<AttemptEnd, 'usage' | 'estimated'> {
  const details = detailsOf(error);
  const { inputTokens, fees } = asked.bound;
  if (details?.receivedInput === false) return { ...billed(asked, NO_USAGE, 0), estimated: true };
  const received = details?.receivedOutputTokensEstimate;
  const output = isCount(received) ? Math.min(received, asked.maxTokens) : asked.maxTokens;
  return { ...billed(asked, tokens(inputTokens, output), fees?.most ?? 0), estimated: true };
}

function billed(asked: RequestTerms, usage: Usage, fees: number) {
  return { usage, costMicroUsd: costMicroUsd(usage, asked.route.prices) + fees };
}

function tokens(input: number, output: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0 };
}

function detailsOf(error: unknown): ModelFailureDetails | undefined {
  if (!(error instanceof HoldfastError) || error.details === undefined) return undefined;
  // Every provider failure is made by `modelFailure` with these; others lack the flag.
  const details = error.details as Partial<ModelFailureDetails>;
  return typeof details.shouldRetry === 'boolean' ? (details as ModelFailureDetails) : undefined;
}
