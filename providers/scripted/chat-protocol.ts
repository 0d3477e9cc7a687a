/** OpenAI's Chat Completions. */
import type { Json } from '../../core/json/json.js';
import { openAiFailure } from './openai-failure.js';
import type { Protocol } from './protocol.js';
import {
  CHUNKS_MAX,
  callName,
  countedUsage,
  inputText,
  signatureOf,
  split,
  type RenderContext,
} from './render.js';
import { listOf, objectOf, parsedObject, stringOf, type JsonObject } from './request-json.js';
import type { ScriptedCall, ScriptedMessage, ScriptedRequest } from './script.js';

/** Scripts use one vendor's words for every protocol; what is not among them is sent as it is. */
const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['refusal', 'content_filter'],
]);
const DONE = 'data: [DONE]\n\n';

export const CHAT_PROTOCOL: Protocol = {
  path: '/v1/chat/completions',
  parse: parseChat,
  events: chatEvents,
  whole: wholeChat,
  failure: openAiFailure,
  errorEvent: (type) => chunkFrame({ error: { message: `scripted ${type}`, type, code: null } }),
  // No event: a comment, as proxies send to keep a connection open.
  ping: ': ping\n\n',
};

function parseChat(body: string): Omit<ScriptedRequest, 'attempt'> | undefined {
  const root = parsedObject(body);
  if (root === undefined || !Array.isArray(root['messages'])) return undefined;
  const all = listOf(root['messages']).map((value) => objectOf(value) ?? {});
  const roles = all.map((message) => stringOf(message['role']));
  const mayCall = root['tool_choice'] !== 'none';
  return {
    model: stringOf(root['model']),
    system: stringOf(all[roles.indexOf('system')]?.['content']),
    messages: all.map((message, index) => ({
      role: roles[index] ?? '',
      content: contentOf(message),
    })),
    assistantMessages: roles.filter((role) => role === 'assistant').length,
    runId: stringOf(root['user']) || stringOf(root['prompt_cache_key']),
    maxTokens: numberOf(root['max_tokens']) || numberOf(root['max_completion_tokens']),
    tools: mayCall ? listOf(root['tools']).map(toolName) : [],
    stream: root['stream'] === true,
  };
}

function contentOf({ content = '' }: JsonObject): string | readonly Json[] {
  return Array.isArray(content) ? listOf(content) : stringOf(content);
}

function toolName(tool: Json): string {
  return stringOf(objectOf(objectOf(tool)?.['function'])?.['name']);
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function chatEvents(context: RenderContext): readonly string[] {
  const { message, request } = context;
  const deltas = Math.min(message.chunks ?? 1, CHUNKS_MAX);
  const events = [deltaFrame(context, { role: 'assistant', content: '' })];
  const add = (delta: JsonObject): void => void events.push(deltaFrame(context, delta));
  if (message.thinking !== undefined) {
    for (const piece of split(message.thinking, deltas)) add({ reasoning_content: piece });
    add({ thinking_blocks: [thinkingBlock(message.thinking)] });
  }
  if (message.text !== undefined) {
    for (const content of split(message.text, deltas)) add({ content });
  }
  (message.calls ?? []).forEach((call, index) => {
    const head = { index, ...callHead(call, request, index) };
    add({ tool_calls: [{ ...head, function: { name: callName(call, request), arguments: '' } }] });
    for (const piece of split(inputText(call), deltas)) {
      add({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  const finish = { index: 0, delta: {}, finish_reason: finishReasonOf(message) };
  const usage = chunkFrame({ ...envelope(context), choices: [], usage: usageOf(context) });
  return [...events, chunkFrame({ ...envelope(context), choices: [finish] }), usage, DONE];
}

function deltaFrame(context: RenderContext, delta: JsonObject): string {
  const choice = { index: 0, delta, finish_reason: null };
  return chunkFrame({ ...envelope(context), choices: [choice], usage: null });
}

function chunkFrame(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function wholeChat(context: RenderContext): string {
  const { message, request } = context;
  const calls = (message.calls ?? []).map((call, index) => ({
    ...callHead(call, request, index),
    function: { name: callName(call, request), arguments: inputText(call) },
  }));
  return JSON.stringify({
    ...envelope(context),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: message.text ?? null,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: finishReasonOf(message),
      },
    ],
    usage: usageOf(context),
  });
}

function envelope({ request }: RenderContext): JsonObject {
  return {
    id: `chatcmpl-${request.assistantMessages}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: request.model,
  };
}

function callHead(call: ScriptedCall, request: ScriptedRequest, position: number): JsonObject {
  // The number of the reply is in it: ids must be unique in a whole conversation.
  return { id: call.id ?? `toolu_${request.assistantMessages}_${position}`, type: 'function' };
}

function thinkingBlock(thinking: string): JsonObject {
  return { type: 'thinking', thinking, signature: signatureOf(thinking) };
}

function finishReasonOf(message: ScriptedMessage): string {
  const byContent = (message.calls ?? []).length > 0 ? 'tool_use' : 'end_turn';
  const reason = message.stopReason ?? byContent;
  return FINISH_REASONS.get(reason) ?? reason;
}

function usageOf(context: RenderContext): JsonObject {
  const { input, output, cacheRead, cacheWrite } = countedUsage(context);
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
  };
}
