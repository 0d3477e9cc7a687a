/** What a stream is put together to, without a connection: quick enough to be tried at every byte. */
import { acceptEvent, newAssembly } from '../../providers/anthropic/assembly.js';
import { replyOf } from '../../providers/anthropic/reply.js';
import { acceptChunk, newChatAssembly } from '../../providers/openai/chat-assembly.js';
import { chatReplyOf, isComplete } from '../../providers/openai/chat-reply.js';
import {
  acceptResponseEvent,
  newResponseAssembly,
} from '../../providers/openai/responses-assembly.js';
import { responseReplyOf } from '../../providers/openai/responses-reply.js';
import type { ModelReply } from '../../providers/provider.js';
import { createSseParser, type SseEvent } from '../../providers/sse.js';
import type { Dialect } from './recorded-streams.js';

const BYTES_MAX = 10_000_000;

interface Reader {
  readonly take: (event: SseEvent) => unknown;
  readonly complete: () => boolean;
  readonly reply: () => ModelReply;
}

export interface Assembled {
  /** Nothing that could change the message can follow. */
  readonly complete: boolean;
  /** Of what has arrived. */
  readonly reply?: ModelReply;
  /** Why it is no message. */
  readonly error?: string;
}

export function assembled(dialect: Dialect, pieces: readonly Uint8Array[]): Assembled {
  const { take, complete, reply } = readerOf(dialect);
  const parser = createSseParser(BYTES_MAX);
  try {
    for (const piece of pieces) parser.push(piece).forEach(take);
  } catch (error) {
    const { name } = (error as Error).constructor;
    return { complete: false, error: `${name}: ${(error as Error).message}` };
  }
  try {
    parser.end().forEach(take);
  } catch {
    // The rest of an event that was cut.
  }
  return { complete: complete(), reply: reply() };
}

function readerOf(dialect: Dialect): Reader {
  const context = { model: 'm', usedIds: new Set<string>(), call: 3, earlier: [], hosted: [] };
  switch (dialect) {
    case 'messages': {
      const assembly = newAssembly();
      return {
        take: (event) => acceptEvent(assembly, event),
        complete: () => assembly.stopped,
        reply: () => replyOf(assembly, context),
      };
    }
    case 'chat': {
      const assembly = newChatAssembly();
      return {
        take: (event) => acceptChunk(assembly, event),
        complete: () => isComplete(assembly),
        reply: () => chatReplyOf(assembly, context),
      };
    }
    case 'responses': {
      const assembly = newResponseAssembly();
      return {
        take: (event) => acceptResponseEvent(assembly, event),
        complete: () => assembly.finished,
        reply: () => responseReplyOf(assembly, context),
      };
    }
  }
}
