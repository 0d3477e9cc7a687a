/**
 * Anthropic's Messages API through its SDK: the SDK sends and authenticates, the stream is read here.
 * Invariants: one attempt per call, always streamed; a reply is returned only after message_stop, or as
 * `partial` after the caller aborted.
 */
import Anthropic from '@anthropic-ai/sdk';
import { acceptEvent, acceptWholeMessage, newAssembly } from './anthropic/assembly.js';
import { inContainer } from './anthropic/container.js';
import { withEdits } from './anthropic/context-edits.js';
import { readMessageDeltas } from './anthropic/deltas.js';
import { readAnthropicAnswer } from './anthropic/failure.js';
import { openUses } from './anthropic/hosted.js';
import { countedOf, replyOf } from './anthropic/reply.js';
import { anthropicBody, hostedNamesOf } from './anthropic/request.js';
import { performAttempt, receivedOutput, stallLimitsOf, unsentReply } from './attempt.js';
import { usedCallIds } from './call-ids.js';
import {
  estimateTokens,
  type ModelProgress,
  type ModelReply,
  type ModelRequest,
  type Provider,
} from './provider.js';
import { withoutSecrets } from './secret.js';
import { serverSecrets } from './anthropic/server-secrets.js';
import type { JsonRecord } from './json-record.js';
import type { StallLimits } from './stall-watch.js';

export interface AnthropicSettings extends Partial<StallLimits> {
  /** By which routes name it; default `anthropic`. */
  readonly name?: string;
  readonly apiKey: string;
  readonly baseUrl?: string;
  /** What sends the requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Fields of the API that each request has besides. */
  readonly requestOptions?: JsonRecord;
}

const BASE_URL = 'https://api.anthropic.com';

/** A provider for Anthropic's API, or for anything that speaks its protocol at `baseUrl`. */
export function createAnthropicProvider(settings: AnthropicSettings): Provider {
  const client = new Anthropic({
    apiKey: settings.apiKey,
    // Both are named so that the SDK does not look for them in the environment.
    authToken: null,
    baseURL: settings.baseUrl ?? BASE_URL,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    ...(settings.fetch !== undefined && { fetch: settings.fetch }),
  });
  const limits = stallLimitsOf(settings);
  const { requestOptions = {} } = settings;
  const secrets = [settings.apiKey, ...serverSecrets(requestOptions)];
  return {
    name: settings.name ?? 'anthropic',
    complete: (request, progress) =>
      withoutSecrets(secrets, () =>
        complete({ client, limits, requestOptions }, request, progress),
      ),
  };
}

interface Connection {
  readonly client: Anthropic;
  readonly limits: StallLimits;
  readonly requestOptions: JsonRecord;
}

async function complete(
  { client, limits, requestOptions }: Connection,
  request: ModelRequest,
  progress: ModelProgress,
): Promise<ModelReply> {
  // A summary, a judge and a reviewer get plain requests: what the vendor would run for them is in no bound.
  const options = request.metadata?.purpose === undefined ? requestOptions : {};
  const said = anthropicBody(request);
  const { besides, betas, clears } = withEdits(options, request, said);
  const body = { ...inContainer(besides, request), ...said };
  if (progress.signal.aborted) return unsentReply(request);
  const assembly = newAssembly();
  await performAttempt({
    limits,
    progress,
    send: (signal) =>
      client
        .post('/v1/messages', {
          body,
          headers: headersOf([...(request.betas ?? []), ...betas]),
          stream: true,
          signal,
          timeout: limits.quietMs,
        })
        .asResponse(),
    message: {
      accept: (event) => acceptEvent(assembly, event),
      complete: () => assembly.stopped,
      acceptWhole: (whole) => acceptWholeMessage(assembly, whole),
      received: () => ({
        started: assembly.started,
        outputTokens: receivedOutput(countedOf(assembly)),
      }),
      deltas: readMessageDeltas(),
    },
    requestIdHeader: 'request-id',
    readAnswer: readAnthropicAnswer,
  });
  const { model, messages, metadata } = request;
  const reply = replyOf(assembly, {
    model,
    usedIds: usedCallIds(messages),
    call: metadata?.call ?? 0,
    earlier: openUses(messages),
    hosted: hostedNamesOf(request),
    clears,
  });
  return assembly.whole === undefined ? reply : withContext(reply, body);
}

/** A call that code of the vendor's made costs nothing, and yet the conversation has its size: estimated, rather too large. */
function withContext(reply: ModelReply, body: object): ModelReply {
  const { input, cacheRead, cacheWrite, output } = reply.usage;
  if (input + cacheRead + cacheWrite > 0 || reply.contextTokens !== undefined) return reply;
  const bytes = Buffer.byteLength(JSON.stringify([body, reply.raw]));
  return { ...reply, contextTokens: estimateTokens(bytes) + output };
}

/** Features that are not part of the API for everybody have to be asked for. */
function headersOf(betas: readonly string[]): { readonly [name: string]: string } {
  return betas.length === 0 ? {} : { 'anthropic-beta': [...new Set(betas)].join(',') };
}
