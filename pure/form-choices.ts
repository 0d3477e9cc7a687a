/** The choices of a field of a server's form (MCP), as people are shown them: one of a list, or several. */
import type { Json } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';

export interface NamedChoice {
  readonly value: string;
  readonly label: string;
}

/** Of a field that takes one text of a list; undefined: it takes anything else. */
export function oneOfChoices(part: Json): readonly NamedChoice[] | undefined {
  if (!isRecord(part)) return undefined;
  const { oneOf, enumNames } = part;
  if (Array.isArray(oneOf)) return titled(oneOf as readonly Json[]);
  return named(part['enum'] as Json | undefined, enumNames as Json | undefined);
}

/** Of a field that takes a list of texts of a list. */
export function someOfChoices(part: Json): readonly NamedChoice[] | undefined {
  if (!isRecord(part) || part['type'] !== 'array' || !isRecord(part['items'])) return undefined;
  const { anyOf, oneOf, ...items } = part['items'];
  const list = anyOf ?? oneOf;
  if (Array.isArray(list)) return titled(list as readonly Json[]);
  return named(items['enum'] as Json | undefined, items['enumNames'] as Json | undefined);
}

function named(
  values: Json | undefined,
  names: Json | undefined,
): readonly NamedChoice[] | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const labels = Array.isArray(names) ? (names as readonly Json[]) : [];
  const choices = (values as readonly Json[]).flatMap((value, place) => {
    const label = labels[place];
    return typeof value === 'string'
      ? [{ value, label: typeof label === 'string' ? label : value }]
      : [];
  });
  return choices.length === values.length ? choices : undefined;
}

function titled(list: readonly Json[]): readonly NamedChoice[] | undefined {
  const choices = list.flatMap((one) => {
    if (!isRecord(one)) return [];
    const { const: value, title } = one;
    if (typeof value !== 'string') return [];
    return [{ value, label: typeof title === 'string' ? title : value }];
  });
  return choices.length === list.length && choices.length > 0 ? choices : undefined;
}
