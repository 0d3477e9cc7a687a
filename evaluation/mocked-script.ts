/** The model of a case that has only mocked tools: it calls each in turn, once per result, then answers. */
import type { Json } from '../core/json/json.js';
import { answerOf } from './convert-script.js';
import type { CaseTool, JsonObject } from './fixture.js';
import type { Script } from './script.js';

const ANSWER = 'Done.';

export function mockedScript(tools: readonly CaseTool[]): Script {
  const calls = tools.flatMap((tool) => tool.results.map(() => tool));
  const replies = calls.map((tool, index) => ({
    times: 1,
    reply: answerOf({
      calls: [{ id: `call_${index + 1}`, tool: tool.name, input: sampleInput(tool, index + 1) }],
    }),
  }));
  return [...replies, { times: 1, reply: answerOf({ text: ANSWER }) }];
}

/**
 * Arguments that the tool's schema accepts. Each call has its own, because the same action over and over
 * is something else than one action per result.
 */
function sampleInput(tool: CaseTool, number: number): Json {
  const { inputSchema } = tool;
  if (typeof inputSchema === 'boolean') return { call: number };
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  if (required.length === 0) return { call: number };
  return Object.fromEntries(
    required.map((name) => [String(name), sampleOf(properties[String(name)], number)]),
  );
}

function sampleOf(schema: Json | undefined, number: number): Json {
  switch (isObject(schema) ? schema.type : undefined) {
    case 'number':
    case 'integer':
      return number;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return `mocked-${number}`;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
