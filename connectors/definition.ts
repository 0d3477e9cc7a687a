/**
 * What a server says of a tool, and the tool that a run gets of it.
 * Invariants: the hash covers all that the server says of a tool; nothing that a server says widens what a call may do,
 * but for `readOnlyHint` of a server that the configuration trusts; `idempotentHint` makes no key (MCP has none).
 */
import { CONNECTOR_PREFIX, isAllowedTool, type Connector } from '../authoring/connectors.js';
import { approvalOf } from '../authoring/approval.js';
import { digestOf, type Json } from '../core/json/json.js';
import { sideEffectOf, type ToolEffect, type ToolRecord } from '../core/state/tool.js';
import type { SdkTool } from './sdk.js';
import { schemaProblem } from './schema-problem.js';

const NAME_CHARS_MAX = 64;
const HASH_CHARS = 16;
const SHORT_HASH_CHARS = 8;
const DESCRIPTION_CHARS_MAX = 4_000;
const SERVER_NAME_CHARS_MAX = 128;
const SCHEMA_BYTES_MAX = 32 * 1024;
/** Keywords of JSON Schema with words for readers, and with values that calls are held against. */
const SAID: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** As the server gave it: what is hashed, kept and shown. */
export interface ServerDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
}

/** The tool of one run: what is frozen, and what the model is told. */
export interface PinnedTool {
  readonly record: ToolRecord;
  readonly definition: ServerDefinition;
}

export function definitionOf(tool: SdkTool): ServerDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  // A round trip leaves plain JSON.
  return JSON.parse(
    JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations }),
  ) as ServerDefinition;
}

export function definitionHash(definition: ServerDefinition): string {
  return digestOf(definition as unknown as Json);
}

/** Why no run may have this tool; undefined: it may. */
export function definitionProblem(definition: ServerDefinition): string | undefined {
  const { name, title = '', description = '', inputSchema, outputSchema, annotations } = definition;
  if (name.length === 0 || name.length > SERVER_NAME_CHARS_MAX) return 'its name is too long';
  if (description.length > DESCRIPTION_CHARS_MAX)
    return `its description has ${description.length} characters, the limit is ${DESCRIPTION_CHARS_MAX}`;
  // A person approves what is shown, so nothing is longer than what is shown.
  if (title.length > DESCRIPTION_CHARS_MAX)
    return `its title has ${title.length} characters, the limit is ${DESCRIPTION_CHARS_MAX}`;
  if (Buffer.byteLength(JSON.stringify(annotations ?? null)) > SCHEMA_BYTES_MAX)
    return `its annotations have more than ${SCHEMA_BYTES_MAX} bytes`;
  for (const [side, schema] of [
    ['input', inputSchema],
    ['output', outputSchema],
  ] as const) {
    if (schema === undefined) continue;
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    if (bytes > SCHEMA_BYTES_MAX)
      return `its ${side} schema has ${bytes} bytes, the limit is ${SCHEMA_BYTES_MAX}`;
    const problem = schemaProblem(schema);
    if (problem !== undefined) return `its ${side} schema ${problem}`;
  }
  return undefined;
}

/** Name of the tool here. Names that models cannot be told, or that are too long, carry a hash in place of the rest. */
export function toolNameOf(connector: string, tool: string): string {
  const plain = `${CONNECTOR_PREFIX}${connector}__${tool}`;
  if (plain.length <= NAME_CHARS_MAX && /^[A-Za-z0-9_-]+$/.test(tool)) return plain;
  const hash = digestOf(tool).slice(0, SHORT_HASH_CHARS);
  const room = NAME_CHARS_MAX - SHORT_HASH_CHARS - 1;
  return `${plain.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, room)}_${hash}`;
}

/** Undefined: the configuration lets no agent use it. */
export function pinnedTool(
  connector: Connector,
  definition: ServerDefinition,
): PinnedTool | undefined {
  if (!isAllowedTool(connector, definition.name)) return undefined;
  const { name: tool, inputSchema, outputSchema } = definition;
  const effect = effectOf(connector, definition);
  const name = toolNameOf(connector.name, tool);
  const hash = definitionHash(definition);
  const isChange = sideEffectOf(effect) === 'mutating';
  const given = Object.hasOwn(connector.tools.versions, tool)
    ? connector.tools.versions[tool]
    : undefined;
  // Another definition or another effect is another version: what was agreed to is never another thing.
  const pinned = digestOf({ hash, effect, required: connector.required }).slice(0, HASH_CHARS);
  const record: ToolRecord = {
    name,
    version: `${given ?? '1'}+${pinned}`,
    wireName: name,
    kind: 'mcp',
    effect,
    idempotency: isChange ? 'unknown' : 'natural',
    approval: approvalOf(name, effect, undefined),
    concurrencySafe: effect === 'read',
    timeoutMs: connector.timeoutMs,
    maxResultBytes: connector.maxResultBytes,
    schemaHash: digestOf(shownSchema(inputSchema)),
    ...(outputSchema !== undefined && { outputSchemaHash: digestOf(outputSchema) }),
    probes: false,
    ...(connector.required && { required: true as const }),
    mcp: { connector: connector.name, tool, hash },
  };
  return { record, definition };
}

function effectOf({ tools, trusted }: Connector, definition: ServerDefinition): ToolEffect {
  const { name, annotations } = definition;
  const declared = Object.hasOwn(tools.effects, name) ? tools.effects[name] : undefined;
  if (declared !== undefined) return declared;
  const hints = annotations as { readonly readOnlyHint?: unknown } | undefined;
  return trusted && hints?.readOnlyHint === true ? 'read' : 'unknown';
}

/** What models are told of a tool: characters that nobody sees could hold instructions that nobody has read. */
export function shownDescription({ title, description = '' }: ServerDefinition): string {
  const text = title === undefined || title === '' ? description : `${title}: ${description}`;
  return seen(text).slice(0, DESCRIPTION_CHARS_MAX);
}

/** The same of the schema of its input: of what it says, not of the names and values that it allows. */
export function shownSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(shownSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      return [key, SAID.has(key) && typeof value === 'string' ? seen(value) : shownSchema(value)];
    }),
  );
}

function seen(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, '');
}
