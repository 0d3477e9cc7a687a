/**
 * One attempt of a model call: the row before, the request, the row after.
 * Invariants: nothing leaves before its bound is on disk; a reply is on disk before anything is made of it.
 */
import { HoldfastError, type ErrorCode } from '../core/errors.js';
import { NO_USAGE, type Usage } from '../core/model.js';
import { costMicroUsd } from '../core/money/price.js';
import type { CallModelInput } from '../core/effect.js';
import type { BlobRef, Json } from '../core/json.js';
import type {
  ModelFailureDetails,
  ModelReply,
  ModelRequest,
  Provider,
} from '../providers/provider.js';
import type { AttemptEnd } from '../store/attempts.js';
import type { ReplyKey } from '../store/replies.js';
import type { Store } from '../store/store.js';
import { now, type ActivityDeps } from './deps.js';
import { usageOf } from './model-reply.js';
import type { Scope } from './scope.js';

export interface ModelCall {
  readonly input: CallModelInput;
  /** Names this call's attempts in the store. */
  readonly effectId: string;
  readonly replyKey: ReplyKey;
  readonly provider: Provider;
  readonly request: ModelRequest;
}

export interface ReceivedReply {
  readonly attempt: number;
  readonly reply: ModelReply;
}

export type AttemptResult =
  | ({ readonly kind: 'replied' } & ReceivedReply)
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly cause: unknown;
    }
  /** Only this worker has to end; another will ask again. */
  | { readonly kind: 'abandoned' };

export async function attemptModelCall(
  deps: ActivityDeps,
  scope: Scope,
  call: ModelCall,
): Promise<AttemptResult> {
  const { input, effectId, request } = call;
  const site = { tenant: input.run.tenant, runId: input.run.runId, effectId };
  const attempt = await deps.store.startAttempt({
    ...site,
    kind: 'model',
    boundCostMicroUsd: input.bound.costMicroUsd,
    boundInputTokens: input.bound.inputTokens,
    boundOutputTokens: input.maxTokens,
    startedAt: now(deps),
  });
  const finish = (end: Omit<AttemptEnd, 'finishedAt'>): Promise<boolean> =>
    deps.store.finishAttempt({ ...site, attempt, ...end, finishedAt: now(deps) });
  // Heartbeats come from a timer: a chunk that arrives proves nothing that the timer does not.
  const progress = { signal: scope.signal, onProgress: () => undefined };
  let reply: ModelReply;
  try {
    reply = await call.provider.complete(request, progress);
  } catch (error) {
    const failed = failedAttempt(error);
    await finish({ outcome: 'failed', code: failed.code, ...spentBy(error, input) });
    return failed;
  }
  const spent = billed(input, usageOf(input, reply), reply.usageSource !== 'reported');
  if (reply.partial === true && !scope.stopRequested()) {
    await finish({ outcome: 'lost', code: 'Aborted', ...spent });
    return { kind: 'abandoned' };
  }
  // A partial reply is no reply to this request: a reset must ask again.
  if (reply.partial !== true) await keepReply(deps.store, call.replyKey, { attempt, reply });
  await finish({ outcome: 'ok', ...spent });
  return { kind: 'replied', attempt, reply };
}

/** The finished reply to exactly this request, if one was ever received. */
export async function keptReply(store: Store, key: ReplyKey): Promise<ReceivedReply | undefined> {
  const kept = (await store.getReply(key)) as { readonly blob: BlobRef } | undefined;
  if (kept === undefined) return undefined;
  // Written by keepReply, and named by its hash.
  const text = await store.getText(key.tenant, { ...kept.blob, preview: '' });
  return JSON.parse(text) as ReceivedReply;
}

async function keepReply(store: Store, key: ReplyKey, received: ReceivedReply): Promise<void> {
  const blob = await store.putBlob(key.tenant, JSON.stringify(received));
  await store.putReply({ ...key, output: { blob } as unknown as Json });
}

function failedAttempt(error: unknown): Extract<AttemptResult, { kind: 'failed' }> {
  const known = error instanceof HoldfastError;
  const details = detailsOf(error);
  const hint = known && error.hint !== undefined ? ` ${error.hint}` : '';
  return {
    kind: 'failed',
    code: known ? error.code : 'Internal',
    message: `${error instanceof Error ? error.message : String(error)}${hint}`,
    retryable: details?.shouldRetry ?? !known,
    ...(details?.retryAfterMs !== undefined && { retryAfterMs: details.retryAfterMs }),
    cause: error,
  };
}

/** What the vendor may bill for a failed request (G25); all of its bound when nothing is known. */
function spentBy(error: unknown, input: CallModelInput): Pick<AttemptEnd, 'usage' | 'estimated'> {
  const details = detailsOf(error);
  if (details === undefined) {
    return billed(input, tokens(input.bound.inputTokens, input.maxTokens), true);
  }
  if (!details.receivedInput) return billed(input, NO_USAGE, true);
  const output = Math.min(details.receivedOutputTokensEstimate, input.maxTokens);
  return billed(input, tokens(input.bound.inputTokens, output), true);
}

function billed(input: CallModelInput, usage: Usage, estimated: boolean) {
  return { usage, costMicroUsd: costMicroUsd(usage, input.route.prices), estimated };
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
