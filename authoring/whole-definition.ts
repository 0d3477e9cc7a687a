/** A definition as a whole: an object of known fields, each with a value. */
import { HoldfastError, type ErrorCode } from '../core/state/errors.js';
import { isRecord, kindOf } from '../pure/options.js';
import { unknownField } from './known-fields.js';

/** Why the fields of a definition cannot be used: there is one that is unknown, or none of its value. */
export function fieldDefect(
  definition: object,
  known: Parameters<typeof unknownField>[1],
): { readonly what: string; readonly hint: string } | undefined {
  const unknown = unknownField(definition, known);
  if (unknown !== undefined)
    return { what: `there is no field ${unknown.name}`, hint: unknown.hint };
  const empty = Object.entries(definition).find(([, value]) => value === null)?.[0];
  if (empty === undefined) return undefined;
  return {
    what: `"${empty}" is null`,
    hint: `Give ${empty} a value, or leave it out where it has a default.`,
  };
}

/** Errors: `code`, for what is no object. `written`: the call as it is written. */
export function checkDefinition(written: string, definition: unknown, code: ErrorCode): void {
  if (isRecord(definition)) return;
  const call = written.replace(/\(.*/, '');
  throw new HoldfastError(code, `${call} takes an object, and got ${kindOf(definition)}.`, {
    hint: `Write ${written}.`,
  });
}
