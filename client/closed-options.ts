/** What callers say is closed: a limit under a misspelt name would be no limit, without a word. */
import { unknownField, type KnownFields } from '../authoring/known-fields.js';
import { DEFAULT_BUDGET } from '../core/state/budget-fields.js';
import { HoldfastError } from '../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../core/state/settings.js';

const PARTS: { readonly [part: string]: object } = {
  budget: { ...DEFAULT_BUDGET, maxCostUsd: 0 },
  settings: DEFAULT_SETTINGS,
};

/** Errors: InvalidTask that names the first field which there is not. */
export function checkNames(options: unknown, known: KnownFields<Record<string, unknown>>): void {
  const unknown = unknownField(Object(options) as object, known);
  if (unknown === undefined) return;
  const name = unknown.name.slice(1, -1);
  const part = Object.keys(PARTS).find(
    (one) => Object.hasOwn(known, one) && Object.hasOwn(PARTS[one]!, name),
  );
  const hint = part === undefined ? unknown.hint : `Write it into ${part}: { ${name}: … }.`;
  throw new HoldfastError('InvalidTask', `${name} cannot be used: there is no such field here.`, {
    hint,
    details: { path: name },
  });
}
