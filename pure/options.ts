/**
 * Options of calls that open something, as callers without types give them.
 * Invariants: an option under a name that there is not is refused, since it would count for nothing without a word; values
 * are never shown, since some are secret.
 */
import { HoldfastError } from '../core/state/errors.js';
import { didYouMean } from './nearest-names.js';

export interface OptionRule {
  /** After "it must be". */
  readonly is: string;
  readonly fits: (value: unknown) => boolean;
  /** Absent: it may be left out. */
  readonly isNeeded?: true;
  /** The only values, for whoever misspells one. */
  readonly words?: readonly string[];
  /** Where an object may stand in place of a value: its fields. */
  readonly fields?: Rules;
}

/** Of the options of one call, by their names. */
export type Rules = { readonly [name: string]: OptionRule };

/** One for each option, so that the compiler keeps the list whole. */
export type OptionRules<Options> = { readonly [name in keyof Required<Options>]: OptionRule };

type Words<Text extends string> = Text extends `${infer One} ${infer More}`
  ? One | Words<More>
  : Text;

/** A list of names, each of which the compiler knows. */
export function words<const Text extends string>(text: Text): readonly Words<Text>[] {
  return text.split(' ') as Words<Text>[];
}

/** The same for each of these names. */
export function each<const Text extends string, Rule = OptionRule>(rule: Rule, names: Text) {
  return Object.fromEntries(words(names).map((name) => [name, rule])) as {
    readonly [name in Words<Text>]: Rule;
  };
}

export const FLAG: OptionRule = {
  is: 'true or false',
  fits: (value) => typeof value === 'boolean',
};
export const CALLBACK: OptionRule = {
  is: 'a function',
  fits: (value) => typeof value === 'function',
};
export const TEXT: OptionRule = { is: 'a text that is not blank', fits: isText };
export const TEXTS: OptionRule = { is: 'a list of texts', fits: isTexts };
export const LIST: OptionRule = { is: 'a list', fits: Array.isArray };
export const FIELDS: OptionRule = {
  is: 'an object',
  // What a Map holds are no fields.
  fits: (value) => isRecord(value) && !(Symbol.iterator in value),
};
export const AMOUNT: OptionRule = {
  is: 'a number from 0',
  fits: (value) => typeof value === 'number' && value >= 0,
};
export const COUNT: OptionRule = {
  is: 'a whole number from 1',
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};

export const ANYTHING: OptionRule = { is: 'anything', fits: () => true };
export const WORDS: OptionRule = { is: 'a text', fits: (value) => typeof value === 'string' };

const KINDS = {
  any: ANYTHING,
  amount: AMOUNT,
  call: CALLBACK,
  count: COUNT,
  flag: FLAG,
  limit: {
    is: 'a whole number from 1, or Infinity',
    fits: (value: unknown) => value === Infinity || COUNT.fits(value),
  },
  list: LIST,
  ms: {
    is: 'a number of ms from 0',
    fits: (value: unknown) => Number.isFinite(value) && AMOUNT.fits(value),
  },
  number: { is: 'a whole number', fits: Number.isSafeInteger },
  object: FIELDS,
  signal: {
    is: 'the signal of an AbortController',
    fits: (value: unknown) => typeof value === 'object' && value !== null && 'aborted' in value,
  },
  text: TEXT,
  texts: TEXTS,
  wait: { ...AMOUNT, is: 'a number of ms from 0, or Infinity' },
  whole: {
    is: 'a whole number from 0',
    fits: (value: unknown) => value === 0 || COUNT.fits(value),
  },
  words: WORDS,
};
type Kind = keyof typeof KINDS;
type Listed<Text extends string> = Text extends `${infer Group}, ${infer More}`
  ? Listed<Group> | Listed<More>
  : Text extends `${Kind | `${Kind}!`} ${infer Names}`
    ? Words<Names>
    : never;

/** By kinds, `!` for what is needed: `text! runId, flag untilNow awaited`. */
export function rules<const Text extends string>(text: Text) {
  const groups = text.split(', ').map((group) => {
    const [kind = '', ...names] = group.split(/!? /);
    const rule: OptionRule = KINDS[kind as Kind];
    return each(group.includes('!') ? needed(rule) : rule, names.join(' '));
  });
  return Object.assign({}, ...groups) as { readonly [name in Listed<Text>]: OptionRule };
}

export function oneOf(...words: readonly string[]): OptionRule {
  return {
    is: `one of ${words.join(', ')}`,
    fits: (value) => words.some((one) => one === value),
    words,
  };
}

export const needed = (rule: OptionRule): OptionRule => ({ ...rule, isNeeded: true });

/** The first option that is missing or does not fit; undefined: all are as they must be. */
export function misfit(
  given: { readonly [name: string]: unknown },
  rules: Rules,
):
  | { readonly name: string; readonly what: string; readonly is: string; readonly near: string }
  | undefined {
  for (const [name, { is, fits, isNeeded, words: known = [] }] of Object.entries(rules)) {
    const value = given[name];
    if (value === undefined ? !isNeeded : fits(value)) continue;
    const what = value === undefined ? 'is missing' : 'cannot be used';
    return { name, what, is, near: didYouMean(value, known) };
  }
  return undefined;
}

export interface OptionDefect {
  readonly message: string;
  readonly hint: string;
  /** The option; absent: there are none at all. */
  readonly path?: string;
}

/** Errors: InvalidConfig, which names the option. */
export function checkOptions(call: string, given: unknown, rules: Rules): void {
  const defect = optionDefect(call, given, rules);
  if (defect === undefined) return;
  throw new HoldfastError('InvalidConfig', defect.message, { hint: defect.hint });
}

/** The first thing that is wrong with what a call is given. */
export function optionDefect(call: string, given: unknown, rules: Rules): OptionDefect | undefined {
  const names = Object.keys(rules);
  const known = `The options are ${names.join(', ')}.`;
  if (!isRecord(given)) {
    const message = `${call} takes an object of options, and got ${kindOf(given)}.`;
    return { message, hint: known };
  }
  const path = unknownIn(given, names);
  if (path !== undefined) {
    const hint = `${didYouMean(path, names)}${known}`;
    return { message: `${call} has no option ${path}.`, hint, path };
  }
  const wrong = misfit(given, rules);
  if (wrong === undefined) return undefined;
  const { name, what, is, near } = wrong;
  const message = `The option ${name} of ${call} ${what}: it must be ${is}.`;
  return { message, hint: `${near}Correct ${name}.`, path: name };
}

/** The same of an object with fields that somebody has written: a reply, a test. One of a class has fields of its own. */
export function writtenDefect(
  what: string,
  given: unknown,
  rules: Rules,
): Pick<OptionDefect, 'message' | 'hint'> | undefined {
  const names = Object.keys(rules);
  if (!isRecord(given)) {
    const hint = `Give an object; the fields are ${names.join(', ')}.`;
    return { message: `${what} is ${kindOf(given)}.`, hint };
  }
  const unknown = isPlain(given) ? unknownIn(given, names) : undefined;
  if (unknown !== undefined) {
    const hint = `${didYouMean(unknown, names)}The fields are ${names.join(', ')}.`;
    return { message: `${what} has no field ${JSON.stringify(unknown)}.`, hint };
  }
  const wrong = misfit(given, rules);
  if (wrong === undefined) return undefined;
  const { name, is, near } = wrong;
  return { message: `${what} cannot use its ${name}.`, hint: `${near}Give ${is}.` };
}

/** Of no class; objects of other realms are plain as well. */
export function isPlain(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What an object names, also by the getters and constants of its classes; a method is no field. */
export function fieldsOf(given: object): { readonly [name: string]: unknown } {
  const above: string[] = [];
  for (let at = given; !isPlain(at);) {
    at = Object.getPrototypeOf(at) as object;
    above.push(...Object.getOwnPropertyNames(at));
  }
  const inherited = [...new Set(above)].map((name) => [name, Reflect.get(given, name)] as const);
  const fields = inherited.filter(([, value]) => typeof value !== 'function');
  return { ...Object.fromEntries(fields), ...given };
}

/** The first name that there is not, as much of it as is shown. */
function unknownIn(
  given: { readonly [name: string]: unknown },
  names: readonly string[],
): string | undefined {
  return Object.keys(given)
    .find((name) => given[name] !== undefined && !names.includes(name))
    ?.slice(0, NAME_CHARS_SHOWN);
}

/** In words, without the value itself. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return `a ${typeof value}`;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** An object that can name fields; what a Map or a date holds are none, and a class may have them on its prototype. */
export function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (isPlain(value) || Object.keys(value).length > 0) return true;
  return Object.prototype.toString.call(value) === '[object Object]' && hasMembers(value);
}

function hasMembers(given: object): boolean {
  if (isPlain(given)) return false;
  const above = Object.getPrototypeOf(given) as object;
  const names = Object.getOwnPropertyNames(above);
  return names.some((name) => name !== 'constructor') || hasMembers(above);
}

const NAME_CHARS_SHOWN = 60;
