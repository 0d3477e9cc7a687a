/** Definitions are closed: a field that is mistyped would be no policy, no budget and no approval without a word. */

import { didYouMean } from '../pure/nearest-names.js';
import { isRecord } from '../pure/options.js';
import { belongs } from './field-places.js';

/** Each field of a definition, so that the compiler keeps the list whole. */
export type KnownFields<Definition> = { readonly [Name in keyof Required<Definition>]: true };

/** The first field that there is not, quoted, and what fields there are; undefined: every field is known. */
export function unknownField(
  definition: object,
  known: KnownFields<Record<string, unknown>> | readonly string[],
): { readonly name: string; readonly hint: string } | undefined {
  const names: readonly string[] = Array.isArray(known) ? known : Object.keys(known);
  const unknown = Object.entries(definition).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  );
  if (unknown === undefined) return undefined;
  return {
    name: JSON.stringify(unknown[0].slice(0, NAME_CHARS_SHOWN)),
    hint: `${belongs(unknown[0]) || didYouMean(unknown[0], names)}The fields are ${names.join(', ') || 'none'}.`,
  };
}

/** Why a part of a definition cannot be used: it is no object, or has a field that there is not. */
export function partDefect(
  part: string,
  value: unknown,
  known: KnownFields<Record<string, unknown>>,
): { readonly what: string; readonly hint: string } | undefined {
  if (!isRecord(value)) {
    const hint = `Write an object; the fields are ${Object.keys(known).join(', ')}.`;
    return { what: `${part} is ${shown(value)}`, hint };
  }
  const unknown = unknownField(value, known);
  if (unknown === undefined) return undefined;
  return { what: `${part}.${unknown.name.slice(1, -1)} is unknown`, hint: unknown.hint };
}

/** Total: what cannot be used may be no JSON at all. */
export function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return `${value}n`.slice(0, VALUE_CHARS_SHOWN);
  try {
    return (JSON.stringify(value) ?? typeof value).slice(0, VALUE_CHARS_SHOWN);
  } catch {
    return typeof value;
  }
}

const NAME_CHARS_SHOWN = 60;
const VALUE_CHARS_SHOWN = 200;
