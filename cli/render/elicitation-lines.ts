/** What the server of a tool asks, on a card: its address, or the fields of its form. */
import type { Json } from '../../core/json/json.js';
import type { Elicitation } from '../../core/state/elicitation.js';
import { oneOfChoices, someOfChoices, type NamedChoice } from '../../pure/form-choices.js';
import { inert } from './inert.js';

const FIELDS_MAX = 30;
const URL_CHARS_MAX = 2_000;

type Node = { readonly [name: string]: Json };

export function elicitationLines({
  connector,
  mode,
  schema,
  url,
  problem,
  again,
}: Elicitation): readonly string[] {
  const asks = mode === 'url' ? 'wants you to open an address, which nothing here opens' : 'asks';
  return [
    `The server ${inert(connector)} ${asks}:`,
    ...(mode === 'url' ? [`  ${inert(url ?? '', URL_CHARS_MAX)}`] : fieldLines(schema)),
    ...(problem === undefined ? [] : [`The answer before did not fit: ${inert(problem)}`]),
    ...(again === true ? ['An answer begins the call anew.'] : []),
    '',
  ];
}

/** What to type in place of the answer. */
export function elicitationAnswer({ mode }: Elicitation): string {
  return mode === 'url' ? 'accept' : "'JSON'";
}

function fieldLines(schema: Json | undefined): readonly string[] {
  const { properties, required } = nodeOf(schema);
  const needed = Array.isArray(required) ? required : [];
  const fields = Object.entries(nodeOf(properties));
  const lines = fields
    .slice(0, FIELDS_MAX)
    .map(([name, field]) => `  ${fieldLine(name, nodeOf(field), needed.includes(name))}`);
  const more = fields.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

/** Name, kind and bounds of a field, and what its server says about it. */
export function fieldLine(name: string, field: Node, isNeeded: boolean): string {
  const { title, description, minimum, maximum, minLength, maxLength, minItems, maxItems } = field;
  const bounds = [
    boundOf('at least', minimum),
    boundOf('at most', maximum),
    boundOf('characters at least', minLength),
    boundOf('characters at most', maxLength),
    boundOf('choices at least', minItems),
    boundOf('choices at most', maxItems),
  ].flat();
  const said = [kindOf(field), ...bounds, ...(isNeeded ? [] : ['optional'])].join(', ');
  const about = [title, description].filter((text) => typeof text === 'string').join(': ');
  return inert(`${name} (${said})${about === '' ? '' : ` ${about}`}`);
}

function kindOf(field: Node): string {
  const one = oneOfChoices(field);
  if (one !== undefined) return `one of ${labelsOf(one)}`;
  const some = someOfChoices(field);
  if (some !== undefined) return `some of ${labelsOf(some)}`;
  const { type, format } = field;
  const kind = typeof type === 'string' ? type : 'any value';
  return typeof format === 'string' ? `${kind} (${format})` : kind;
}

function labelsOf(choices: readonly NamedChoice[]): string {
  return choices
    .map(({ value, label }) => (label === value ? value : `${value} (${label})`))
    .join(', ');
}

function boundOf(name: string, bound: Json | undefined): readonly string[] {
  return typeof bound === 'number' ? [`${name} ${bound}`] : [];
}

function nodeOf(value: Json | undefined): Node {
  const isNode = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isNode ? (value as Node) : {};
}
