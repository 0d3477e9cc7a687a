/** A test is as closed as a definition: a word that is mistyped, or a value of another kind, would say nothing unheard. */
import { unknownField } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isRecord, kindOf, misfit, type Rules } from '../../pure/options.js';

/** Errors: InvalidFixture for what is no object, a field that there is not, and one of another kind. Classes have fields of their own. */
export function checkFields(what: string, given: unknown, rules: Rules): void {
  const names = Object.keys(rules);
  if (!isRecord(given)) {
    throw unfit(
      `${what} is ${kindOf(given)}.`,
      `Give an object; the fields are ${names.join(', ')}.`,
    );
  }
  if (isPlain(given)) refuseUnknown(what, given, names);
  const wrong = misfit(given, rules);
  if (wrong === undefined) return;
  const { name, is, near } = wrong;
  throw unfit(`${what} cannot use its ${name}.`, `${near}Give ${is}.`);
}

/** Errors: InvalidFixture for a field that there is not. */
export function refuseUnknown(what: string, given: object, fields: readonly string[]): void {
  const unknown = unknownField(given, fields);
  if (unknown !== undefined) throw unfit(`${what} has no field ${unknown.name}.`, unknown.hint);
}

/** Of no class; objects of other realms are plain as well. */
function isPlain(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function unfit(message: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidFixture', message, { hint });
}
