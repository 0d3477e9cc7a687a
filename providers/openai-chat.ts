/**
 * OpenAI's Chat Completions through its SDK, against OpenAI, LiteLLM or any server that speaks the protocol.
 * Invariants: one attempt per call, always streamed; a reply is returned only after its finish reason and its
 * end, or as `partial` after the caller aborted.
 */
import { receivedOutput, unsentReply, type IncomingMessage } from './attempt.js';
import { usedCallIds } from './call-ids.js';
import {
  acceptChunk,
  acceptWholeCompletion,
  newChatAssembly,
  type ChatAssembly,
} from './openai/chat-assembly.js';
import { readChatDeltas } from './openai/chat-deltas.js';
import { chatReplyOf, isComplete } from './openai/chat-reply.js';
import { chatBody, type ChatDialect } from './openai/chat-request.js';
import { connectOpenAi, sendToOpenAi, type OpenAiSettings } from './openai/connection.js';
import type { Provider } from './provider.js';

export interface OpenAiChatSettings extends OpenAiSettings {
  /** `litellm` for gateways and compatible servers; default `openai`. */
  readonly dialect?: ChatDialect;
}

const PATH = '/chat/completions';

/** Makes a provider of models that speaks OpenAI's chat completions: for vendors and servers of that protocol. */
export function createOpenAiChatProvider(settings: OpenAiChatSettings): Provider {
  const connection = connectOpenAi(settings);
  const { dialect = 'openai' } = settings;
  return {
    name: settings.name ?? 'openai',
    async complete(request, progress) {
      const body = chatBody(request, dialect);
      if (progress.signal.aborted) return unsentReply(request);
      const assembly = newChatAssembly();
      const message = incoming(assembly);
      await sendToOpenAi(connection, { path: PATH, body, message, progress });
      const { model, messages, metadata } = request;
      const usedIds = usedCallIds(messages);
      return chatReplyOf(assembly, { model, usedIds, call: metadata?.call ?? 0 });
    },
  };
}

function incoming(assembly: ChatAssembly): IncomingMessage {
  return {
    accept: (event) => acceptChunk(assembly, event),
    complete: () => assembly.done,
    completeAtEnd: () => isComplete(assembly),
    acceptWhole: (body) => acceptWholeCompletion(assembly, body),
    received: () => ({ started: assembly.started, outputTokens: receivedOutput(assembly) }),
    deltas: readChatDeltas(),
  };
}
