/** Providers that get a canned body instead of a connection: pieces of bytes, as a network might cut them. */
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ModelReply, ModelRequest, Provider } from '../../providers/provider.js';
import type { Dialect } from './recorded-streams.js';
import { requestOf } from './scripted-setup.js';

export interface Canned {
  readonly pieces: readonly Uint8Array[];
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Gets the headers of the request. */
  readonly onRequest?: (headers: Headers) => void;
}

const STREAM = { 'content-type': 'text/event-stream' };
const PROGRESS = { signal: new AbortController().signal, onProgress: () => undefined };

/** The reply to a request whose answer is canned. */
export async function replyTo(
  dialect: Dialect,
  canned: Canned,
  request: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  return providerOf(dialect, canned).complete(requestOf(request), PROGRESS);
}

/** A reply, or what a failure says, in a form that can be compared. */
export async function outcomeOf(dialect: Dialect, canned: Canned): Promise<object> {
  try {
    return await replyTo(dialect, canned);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, details } = error;
    return { code, message, details };
  }
}

function providerOf(dialect: Dialect, canned: Canned): Provider {
  const settings = { apiKey: 'k', fetch: fetchOf(canned) };
  switch (dialect) {
    case 'messages':
      return createAnthropicProvider(settings);
    case 'chat':
      return createOpenAiChatProvider(settings);
    case 'responses':
      return createOpenAiResponsesProvider(settings);
  }
}

function fetchOf({ pieces, status = 200, headers = STREAM, onRequest }: Canned): typeof fetch {
  return (_, init) => {
    onRequest?.(new Headers(init?.headers));
    const left = [...pieces];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    return Promise.resolve(new Response(body, { status, headers }));
  };
}

/** The bytes in pieces that end at these places. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const borders = [0, ...places.toSorted((a, b) => a - b), bytes.length];
  return borders.slice(1).map((to, index) => bytes.subarray(borders[index], to));
}
