/** A test is as closed as a definition: a word that is mistyped, or a value of another kind, would say nothing unheard. */
import { unknownField } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isPlain, isRecord, writtenDefect, type Rules } from '../../pure/options.js';

/** Errors: InvalidFixture for what is no object, a field that there is not, and one of another kind. Classes have fields of their own. */
export function checkFields(what: string, given: unknown, rules: Rules): void {
  if (isRecord(given) && isPlain(given)) refuseUnknown(what, given, Object.keys(rules));
  const defect = writtenDefect(what, given, rules);
  if (defect !== undefined) throw unfit(defect.message, defect.hint);
}

/** Errors: InvalidFixture for a field that there is not. */
export function refuseUnknown(what: string, given: object, fields: readonly string[]): void {
  const unknown = unknownField(given, fields);
  if (unknown !== undefined) throw unfit(`${what} has no field ${unknown.name}.`, unknown.hint);
}

export function unfit(message: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidFixture', message, { hint });
}
