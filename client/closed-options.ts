/** What callers say is closed: a limit under a misspelt name would be no limit, without a word. */
import type { KnownFields } from '../authoring/known-fields.js';
import { DEFAULT_BUDGET } from '../core/state/budget-fields.js';
import { HoldfastError } from '../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../core/state/settings.js';
import { didYouMean } from '../pure/nearest-names.js';
import {
  isRecord,
  kindOf,
  oneOf,
  optionDefect,
  words,
  type OptionRule,
  type Rules,
} from '../pure/options.js';
import { TASK_FIELDS } from '../pure/task-schema.js';

/** Where fields stand that are written a level too high: how it is written there, `?` for the field, and which they are. */
export type Parts = { readonly [written: string]: readonly string[] };

export const LIMIT_PARTS: Parts = {
  'budget: { ? }': [...Object.keys(DEFAULT_BUDGET), 'maxCostUsd'],
  'settings: { ? }': Object.keys(DEFAULT_SETTINGS),
};

/** Of the start of a run. */
const RUN_PARTS: Parts = { 'task: { ? }': TASK_FIELDS, ...LIMIT_PARTS };

/** Errors: InvalidTask for what is no object, else with the name of the first field which there is not. */
export function checkNames(
  options: unknown,
  known: KnownFields<Record<string, unknown>>,
  parts: Parts = RUN_PARTS,
): void {
  const names = Object.keys(known);
  if (!isRecord(options)) {
    const [kind, hint] = [kindOf(options), `Give an object. The fields are ${names.join(', ')}.`];
    throw new HoldfastError('InvalidTask', `An object belongs here, and not ${kind}.`, { hint });
  }
  const unknown = Object.entries(options).find(
    ([field, value]) => value !== undefined && !Object.hasOwn(known, field),
  );
  if (unknown === undefined) return;
  const name = unknown[0].slice(0, NAME_CHARS_SHOWN);
  const written = Object.keys(parts).find((one) => parts[one]?.includes(name));
  const hint =
    written === undefined
      ? `${didYouMean(name, names)}The fields are ${names.join(', ')}.`
      : `Write it into ${written.replace('?', `${name}: …`)}.`;
  throw new HoldfastError('InvalidTask', `${name} cannot be used: there is no such field here.`, {
    hint,
    details: { path: name },
  });
}

/** What a call takes, in order and by name: a value, or an object of options. */
type Taken = { readonly [argument: string]: OptionRule | Rules };
export type CallRules<Calls> = { readonly [call in keyof Calls]?: Taken };

/** These give something at once; a refusal of any other call is how its promise ends. */
const AT_ONCE = oneOf(
  ...words('handle goal schedule forTenant follow followTree events stream watch'),
);

type CallsByName = { readonly [call: string]: (...given: readonly unknown[]) => unknown };

/** The same calls, which look at what they are given. Errors: InvalidTask, with the name in `details.path`. */
export function checkedCalls<Calls extends object>(calls: Calls, rules: CallRules<Calls>): Calls {
  const entries = Object.entries(rules as { readonly [call: string]: Taken });
  const checked = entries.map(([name, taken]) => {
    const call = (calls as unknown as CallsByName)[name]!;
    const now = (...given: readonly unknown[]): unknown => {
      for (const [index, argument] of Object.keys(taken).entries()) {
        checkArgument(name, argument, { rule: taken[argument]!, value: given[index] });
      }
      return call(...given);
    };
    const later = async (...given: readonly unknown[]): Promise<unknown> => now(...given);
    return [name, AT_ONCE.fits(name) ? now : later];
  });
  return { ...calls, ...(Object.fromEntries(checked) as Partial<Calls>) };
}

interface Argument {
  readonly rule: OptionRule | Rules;
  readonly value: unknown;
}

function checkArgument(call: string, name: string, { rule, value }: Argument): void {
  const isValue = typeof rule['fits'] === 'function';
  const rules = (isValue ? { [name]: rule } : rule) as Rules;
  const isLeftOut = value === undefined && !Object.values(rules).some(({ isNeeded }) => isNeeded);
  const defect = isLeftOut
    ? undefined
    : optionDefect(call, isValue ? { [name]: value } : value, rules);
  if (defect === undefined) return;
  const { message, hint, path = name } = defect;
  throw new HoldfastError('InvalidTask', message, { hint, details: { path } });
}

const NAME_CHARS_SHOWN = 60;
