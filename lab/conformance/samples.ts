/** Arguments and answers that fit the schemas of a server: the least that is required, what has a default left out. */
import type { ServerDefinition } from '../../connectors/index.js';
import type { Json } from '../../core/json/json.js';

interface Schema {
  readonly type?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
}

/** A tool that takes a schema is given that of another tool, as the server listed it. */
export function argumentsOf(
  { name, inputSchema }: ServerDefinition,
  all: readonly ServerDefinition[],
): Json {
  const { properties = {}, required = [] } = inputSchema as Schema;
  return Object.fromEntries(
    required.map((field) => {
      const other = field === 'schema' && all.find((one) => one.name !== name);
      return [field, other ? other.inputSchema : valueOf(properties[field] ?? {})];
    }),
  );
}

/** Of a form. */
export function sampleOf(form: Json): Json {
  const { properties = {}, required = [] } = form as Schema;
  const open = required.filter((field) => properties[field]?.default === undefined);
  return Object.fromEntries(open.map((field) => [field, valueOf(properties[field] ?? {})]));
}

function valueOf(schema: Schema): Json {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'text';
  }
}
