/** Reads requests of the Messages API, as far as scripts need them. Total over any JSON. */
import type { Json } from '../../core/json/json.js';
import { listOf, objectOf, parsedObject, stringOf, type JsonObject } from './request-json.js';
import type { ScriptedRequest, ScriptedRequestMessage } from './script.js';

/** A request without its attempt; undefined when the body is not a JSON object with messages. */
export function parseRequest(body: string): Omit<ScriptedRequest, 'attempt'> | undefined {
  const root = parsedObject(body);
  const list = root?.['messages'];
  if (root === undefined || !Array.isArray(list)) return undefined;
  const messages = (list as readonly Json[]).map(messageOf);
  return {
    model: stringOf(root['model']),
    system: systemOf(root['system']),
    messages,
    assistantMessages: messages.reduce((n, each) => (each.role === 'assistant' ? n + 1 : n), 0),
    runId: stringOf(objectOf(root['metadata'])?.['user_id']),
    maxTokens: typeof root['max_tokens'] === 'number' ? root['max_tokens'] : 0,
    tools: offered(root).map((tool) => stringOf(objectOf(tool)?.['name'])),
    stream: root['stream'] === true,
  };
}

function offered(root: JsonObject): readonly Json[] {
  const mayCall = objectOf(root['tool_choice'])?.['type'] !== 'none';
  return mayCall ? listOf(root['tools']) : [];
}

function messageOf(value: Json): ScriptedRequestMessage {
  const message = objectOf(value);
  const content = message?.['content'];
  return {
    role: stringOf(message?.['role']),
    content: typeof content === 'string' ? content : listOf(content),
  };
}

function systemOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((block) => stringOf(objectOf(block)?.['text']))
    .join('\n');
}
