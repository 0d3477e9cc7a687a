/** Definitions are closed: a field that is mistyped would be no policy, no budget and no approval without a word. */

import { didYouMean } from '../pure/nearest-names.js';
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
    hint: `${belongs(unknown[0]) || didYouMean(unknown[0], names)}The fields are ${names.join(', ')}.`,
  };
}

const NAME_CHARS_SHOWN = 60;
