/** What callers say is closed: a limit under a misspelt name would be no limit, without a word. */
import type { KnownFields } from '../authoring/known-fields.js';
import { DEFAULT_BUDGET } from '../core/state/budget-fields.js';
import { HoldfastError } from '../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../core/state/settings.js';
import { didYouMean } from '../pure/nearest-names.js';
import { isRecord, kindOf, misfit, rules } from '../pure/options.js';
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

/** What of a start is for the client alone, so that no schema looks at it. */
const WAITING = rules('flag wait continue, wait openLimitMs, call onHeldUp');

/** Errors: InvalidTask with the name of the first one of another kind. */
export function checkWaiting(options: object): void {
  const unfit = misfit({ ...options }, WAITING);
  if (unfit === undefined) return;
  const { name, is } = unfit;
  throw new HoldfastError('InvalidTask', `${name} cannot be used: it must be ${is}.`, {
    hint: `Correct ${name}, or leave it out.`,
    details: { path: name },
  });
}

/** A pattern alone takes null for the text `null`. */
export function isTenant(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(value);
}

const NAME_CHARS_SHOWN = 60;
