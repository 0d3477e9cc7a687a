/**
 * OpenAI's Responses through its SDK.
 * Invariants: one attempt per call, always streamed; a reply is returned only after its response ended, or
 * as `partial` after the caller aborted; a kept response is an economy, never needed: one that the server has
 * lost makes the next attempt send the whole conversation.
 */
import { HoldfastError } from '../core/state/errors.js';
import { receivedOutput, unsentReply, type IncomingMessage } from './attempt.js';
import { usedCallIds } from './call-ids.js';
import {
  connectOpenAi,
  sendToOpenAi,
  type OpenAiRequest,
  type OpenAiConnection,
  type OpenAiSettings,
} from './openai/connection.js';
import {
  acceptResponseEvent,
  acceptWholeResponse,
  newResponseAssembly,
  type ResponseAssembly,
} from './openai/responses-assembly.js';
import { readResponseDeltas } from './openai/responses-deltas.js';
import { responseReplyOf } from './openai/responses-reply.js';
import { responsesRequest } from './openai/responses-request.js';
import { modelFailure, type Provider } from './provider.js';

export interface OpenAiResponsesSettings extends OpenAiSettings {
  /**
   * Whether the vendor keeps responses, so that a request sends only what is new (default true). Without it
   * every request is whole and carries the model's reasoning, encrypted.
   */
  readonly storeResponses?: boolean;
}

const PATH = '/responses';
const LOST_MAX = 1000;

/** Makes a provider of models that speaks OpenAI's Responses. */
export function createOpenAiResponsesProvider(settings: OpenAiResponsesSettings): Provider {
  const connection = connectOpenAi(settings);
  const { storeResponses: stored = true } = settings;
  const lost = new Set<string>();
  return {
    name: settings.name ?? 'openai-responses',
    async complete(request, progress) {
      const mode = { stored, known: (id: string) => !lost.has(id) };
      const { body, prefix, previous } = responsesRequest(request, mode);
      if (progress.signal.aborted) return unsentReply(request);
      const assembly = newResponseAssembly();
      const sending = { path: PATH, body, message: incoming(assembly), progress };
      if (previous === undefined) await sendToOpenAi(connection, sending);
      else await sendContinuation(connection, sending, { previous, lost });
      const { model, messages, metadata } = request;
      const ids = { usedIds: usedCallIds(messages), call: metadata?.call ?? 0 };
      return responseReplyOf(assembly, { model, ...ids, ...(stored && { prefix }) });
    },
  };
}

interface Previous {
  readonly previous: string;
  /** Responses that the server no longer has. */
  readonly lost: Set<string>;
}

async function sendContinuation(
  connection: OpenAiConnection,
  sending: OpenAiRequest,
  { previous, lost }: Previous,
): Promise<void> {
  try {
    await sendToOpenAi(connection, sending);
  } catch (error) {
    if (!saysLost(error)) throw error;
    if (lost.size >= LOST_MAX) lost.clear();
    lost.add(previous);
    throw modelFailure('ServerError', 'The model API no longer has the response to go on from.', {
      receivedInput: false,
      receivedOutputTokensEstimate: 0,
      shouldRetry: true,
      hint: 'Nothing to do: the next attempt sends the whole conversation.',
      cause: error,
    });
  }
}

function saysLost(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  const { code } = (error.cause ?? {}) as { readonly code?: unknown };
  return (
    code === 'previous_response_not_found' || /previous response.*not found/i.test(error.message)
  );
}

function incoming(assembly: ResponseAssembly): IncomingMessage {
  return {
    accept: (event) => acceptResponseEvent(assembly, event),
    complete: () => assembly.finished,
    acceptWhole: (body) => acceptWholeResponse(assembly, body),
    received: () => ({ started: assembly.started, outputTokens: receivedOutput(assembly) }),
    deltas: readResponseDeltas(),
  };
}
