/**
 * OpenAI's Responses. The server keeps no response: the id of each says how many the conversation had, which
 * is all that a request which goes on from it needs.
 */
import type { Json } from '../../core/json/json.js';
import { openAiFailure } from './openai-failure.js';
import type { Protocol } from './protocol.js';
import {
  CHUNKS_MAX,
  callName,
  countedUsage,
  frame,
  inputText,
  signatureOf,
  split,
  type RenderContext,
} from './render.js';
import { listOf, objectOf, parsedObject, stringOf, type JsonObject } from './request-json.js';
import type { ScriptedMessage, ScriptedRequest } from './script.js';

const ID_PREFIX = 'resp_';
const ASSISTANT_ITEMS: readonly string[] = ['reasoning', 'function_call'];

export const RESPONSES_PROTOCOL: Protocol = {
  path: '/v1/responses',
  parse: parseResponses,
  events: responseEvents,
  whole: (context) => JSON.stringify(finalResponse(context)),
  failure: openAiFailure,
  errorEvent: (type) => frame('error', { code: type, message: `scripted ${type}`, param: null }),
  ping: ': ping\n\n',
};

function parseResponses(body: string): Omit<ScriptedRequest, 'attempt'> | undefined {
  const root = parsedObject(body);
  if (root === undefined || !Array.isArray(root['input'])) return undefined;
  const items = listOf(root['input']).map((item) => objectOf(item) ?? {});
  return {
    model: stringOf(root['model']),
    system: stringOf(root['instructions']),
    messages: items.map((item) => ({
      role: isAssistant(item) ? 'assistant' : stringOf(item['role']) || 'tool',
      content: contentOf(item),
    })),
    assistantMessages: earlier(root) + turns(items),
    runId: stringOf(root['prompt_cache_key']),
    maxTokens: typeof root['max_output_tokens'] === 'number' ? root['max_output_tokens'] : 0,
    tools:
      root['tool_choice'] === 'none'
        ? []
        : listOf(root['tools']).map((tool) => stringOf(objectOf(tool)?.['name'])),
    stream: root['stream'] === true,
  };
}

function contentOf(item: JsonObject): string | readonly Json[] {
  const content = item['content'] ?? item['output'] ?? '';
  return typeof content === 'string' ? content : listOf(content);
}

/** The replies before this request that it does not repeat. */
function earlier(root: JsonObject): number {
  const previous = stringOf(root['previous_response_id']);
  if (!previous.startsWith(ID_PREFIX)) return 0;
  const at = Number(previous.slice(ID_PREFIX.length));
  return Number.isSafeInteger(at) && at >= 0 ? at + 1 : 0;
}

/** One reply is a row of the assistant's items. */
function turns(items: readonly JsonObject[]): number {
  return items.filter((item, index) => {
    const before = items[index - 1];
    return isAssistant(item) && (before === undefined || !isAssistant(before));
  }).length;
}

function isAssistant(item: JsonObject): boolean {
  return item['role'] === 'assistant' || ASSISTANT_ITEMS.includes(stringOf(item['type']));
}

function responseEvents(context: RenderContext): readonly string[] {
  const { message } = context;
  const pieces = Math.min(message.chunks ?? 1, CHUNKS_MAX);
  const created = { ...envelope(context), status: 'in_progress', output: [] };
  const events = [frame('response.created', { response: created })];
  outputOf(context).forEach((item, output_index) => {
    const [empty, delta, text] = streamed(item);
    events.push(frame('response.output_item.added', { output_index, item: empty }));
    for (const piece of split(text, pieces)) {
      events.push(frame(delta, { output_index, item_id: item['id'], delta: piece }));
    }
    events.push(frame('response.output_item.done', { output_index, item }));
  });
  const end = truncated(message) === undefined ? 'response.completed' : 'response.incomplete';
  return [...events, frame(end, { response: finalResponse(context) })];
}

/** An item as it begins, the event that extends it, and what it is extended by. */
function streamed(item: JsonObject): readonly [JsonObject, string, string] {
  const open = { ...item, status: 'in_progress' };
  switch (item['type']) {
    case 'function_call':
      return [
        { ...open, arguments: '' },
        'response.function_call_arguments.delta',
        stringOf(item['arguments']),
      ];
    case 'reasoning':
      return [
        { ...open, summary: [], encrypted_content: null },
        'response.reasoning_summary_text.delta',
        stringOf(objectOf(listOf(item['summary'])[0])?.['text']),
      ];
    default:
      return [
        { ...open, content: [] },
        'response.output_text.delta',
        stringOf(objectOf(listOf(item['content'])[0])?.['text']),
      ];
  }
}

function finalResponse(context: RenderContext): JsonObject {
  const reason = truncated(context.message);
  const { input, output, cacheRead, cacheWrite } = countedUsage(context);
  const whole = input + cacheRead + cacheWrite;
  return {
    ...envelope(context),
    status: reason === undefined ? statusOf(context.message) : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: [...outputOf(context)],
    usage: {
      input_tokens: whole,
      input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      output_tokens: output,
      total_tokens: whole + output,
    },
  };
}

function envelope({ request }: RenderContext): JsonObject {
  return {
    id: `${ID_PREFIX}${request.assistantMessages}`,
    object: 'response',
    model: request.model,
    error: null,
  };
}

function outputOf({ message, request }: RenderContext): readonly JsonObject[] {
  const turn = request.assistantMessages;
  const items: JsonObject[] = [];
  if (message.thinking !== undefined) {
    items.push({
      id: `rs_${turn}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: message.thinking }],
      encrypted_content: signatureOf(message.thinking),
    });
  }
  if (message.text !== undefined) {
    items.push({
      id: `msg_${turn}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: message.text, annotations: [] }],
    });
  }
  (message.calls ?? []).forEach((call, position) => {
    items.push({
      id: `fc_${turn}_${position}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id ?? `toolu_${turn}_${position}`,
      name: callName(call, request),
      arguments: inputText(call),
    });
  });
  return items;
}

/** Why the response is incomplete; scripts use one vendor's words for every protocol. */
function truncated({ stopReason }: ScriptedMessage): string | undefined {
  if (stopReason === 'max_tokens') return 'max_output_tokens';
  return stopReason === 'refusal' ? 'content_filter' : undefined;
}

function statusOf({ stopReason }: ScriptedMessage): string {
  const usual = [undefined, 'end_turn', 'tool_use'].includes(stopReason);
  return usual || stopReason === undefined ? 'completed' : stopReason;
}
