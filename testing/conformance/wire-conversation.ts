/**
 * What a request's body says, in the words of no vendor: the way back from the wire. Written apart from the
 * providers, so that it cannot share their mistakes.
 */
import type { Json } from '../../core/json/json.js';
import type { RequestMessage } from '../../providers/provider.js';

export type WireEntry =
  | { readonly says: 'user' | 'assistant'; readonly text: string }
  | { readonly calls: string; readonly tool: string; readonly args: Json }
  | { readonly resultOf: string; readonly isError: boolean; readonly text: string };

type Fields = { readonly [key: string]: Json };

/** The entries that a conversation must have on the wire: results before what is said with them. */
export function entriesOf(messages: readonly RequestMessage[]): readonly WireEntry[] {
  return messages.flatMap(({ role, blocks }) => {
    const results = blocks.filter((block) => block.type === 'tool_result');
    const others = blocks.filter((block) => block.type !== 'tool_result');
    return [...results, ...others].flatMap((block): WireEntry[] => {
      switch (block.type) {
        case 'text':
          return block.text.trim() === '' ? [] : [{ says: role, text: block.text }];
        case 'thinking':
          return [];
        case 'tool_use':
          return [{ calls: block.id, tool: block.tool, args: block.args }];
        case 'tool_result':
          return [{ resultOf: block.id, isError: block.isError, text: block.text }];
        // Files are checked vendor by vendor.
        case 'file':
          return [];
      }
    });
  });
}

/** A body of Anthropic's Messages API. */
export function readMessagesBody(body: string): readonly WireEntry[] {
  return list(fields(JSON.parse(body) as Json)['messages']).flatMap((message) => {
    const says = fields(message)['role'] === 'assistant' ? 'assistant' : 'user';
    return list(fields(message)['content']).flatMap((value): WireEntry[] => {
      const block = fields(value);
      switch (block['type']) {
        case 'text':
          return [{ says, text: text(block['text']) }];
        case 'tool_use':
          return [call(block['id'], block['name'], block['input'] ?? {})];
        case 'tool_result':
          return [
            {
              resultOf: text(block['tool_use_id']),
              isError: block['is_error'] === true,
              text: text(block['content']),
            },
          ];
        default:
          return [];
      }
    });
  });
}

/** A body of OpenAI's Chat Completions. */
export function readChatBody(body: string): readonly WireEntry[] {
  return list(fields(JSON.parse(body) as Json)['messages']).flatMap((value): WireEntry[] => {
    const message = fields(value);
    if (message['role'] === 'system') return [];
    if (message['role'] === 'tool') return [result(message['tool_call_id'], message['content'])];
    const says = message['role'] === 'assistant' ? 'assistant' : 'user';
    const calls = list(message['tool_calls']).map((each) => {
      const said = fields(fields(each)['function']);
      return call(fields(each)['id'], said['name'], parsed(said['arguments']));
    });
    return [...texts(message['content']).map((said) => ({ says, text: said }) as const), ...calls];
  });
}

/** A body of OpenAI's Responses that holds the whole conversation. */
export function readResponsesBody(body: string): readonly WireEntry[] {
  return list(fields(JSON.parse(body) as Json)['input']).flatMap((value): WireEntry[] => {
    const item = fields(value);
    switch (item['type']) {
      case 'function_call':
        return [call(item['call_id'], item['name'], parsed(item['arguments']))];
      case 'function_call_output':
        return [result(item['call_id'], item['output'])];
      case 'reasoning':
        return [];
      default: {
        const says = item['role'] === 'assistant' ? 'assistant' : 'user';
        return texts(item['content']).map((said) => ({ says, text: said }) as const);
      }
    }
  });
}

function call(id: Json | undefined, name: Json | undefined, args: Json): WireEntry {
  return { calls: text(id), tool: text(name), args };
}

/** OpenAI has no flag for errors: a result that says it failed did (G44). */
function result(id: Json | undefined, content: Json | undefined): WireEntry {
  const said = text(content);
  const value = said.startsWith('{') ? fields(parsed(said)) : {};
  const failed = value['error'] === true && typeof value['message'] === 'string';
  return {
    resultOf: text(id),
    isError: failed,
    text: failed ? text(value['message']) : said,
  };
}

function texts(content: Json | undefined): readonly string[] {
  if (typeof content === 'string') return [content];
  return list(content).map((part) => text(fields(part)['text']));
}

function parsed(value: Json | undefined): Json {
  try {
    return JSON.parse(text(value)) as Json;
  } catch {
    return null;
  }
}

function fields(value: Json | undefined): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : {};
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
