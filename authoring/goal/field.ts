/** Fields of a goal's definition, and how a wrong one is told: by its path, and what would do. */
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { fitsBytes } from '../../core/json/json.js';
import { belongs } from '../field-places.js';
import { isPlain } from '../../pure/options.js';

export const NAME_HINT = 'it must begin with a letter and have 1 to 64 of A-Z a-z 0-9 . _ -';
export const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const PATH_HINT = 'it must be a dotted path of at most 500 characters';
const ROLE_CHARS_MAX = 100;
const ROLES_MAX = 20;
const DAY_MS = 86_400_000;
export const YEAR_MS = 366 * DAY_MS;
export const INPUT_BYTES_MAX = 16_384;

/** A schema for each field of T; others are refused by their name. */
export function closed<T>(fields: { readonly [Name in keyof Required<T>]: z.ZodType }) {
  return z.strictObject(fields, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'it must be an object';
      const unknown = String(issue.keys?.[0]).slice(0, 60);
      const elsewhere = belongs(unknown).slice(0, -2);
      const known = `it has no field ${JSON.stringify(unknown)}; fields are ${Object.keys(fields).join(', ')}`;
      return elsewhere === '' ? known : `${known}. ${elsewhere}`;
    },
  });
}

export const name = z.string(NAME_HINT).regex(NAME, NAME_HINT);

export function words(charsMax: number) {
  return z
    .string('it must be a text')
    .max(charsMax, `it is longer than ${charsMax} characters`)
    .refine((value) => value.trim() !== '', 'it must not be blank');
}

export function list<T extends z.ZodType>(item: T, [min, max]: readonly [number, number]) {
  return z
    .array(item, 'it must be a list')
    .min(min, `it needs at least ${min === 1 ? 'one entry' : `${min} entries`}`)
    .max(max, `it has more than ${max} entries`);
}

export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  const error = `it must be a whole number from ${min}${upTo}`;
  return z.int(error).min(min, error).max(max, error);
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, `it must be one of ${values.map((value) => `'${value}'`).join(', ')}`);
}

export function share() {
  const error = 'it must be a number from 0 to 1';
  return z.number(error).min(0, error).max(1, error);
}

export const microUsd = whole(1);
export const duration = whole(1, YEAR_MS);
export const roles = list(words(ROLE_CHARS_MAX), [1, ROLES_MAX]);
export const anyRoles = list(words(ROLE_CHARS_MAX), [0, ROLES_MAX]);
export const path = z
  .string(PATH_HINT)
  .max(500, PATH_HINT)
  .regex(/^[^.]+(\.[^.]+)*$/, PATH_HINT);

/** Depth is limited before: see normalGoal. */
export function json(bytesMax: number) {
  return z
    .unknown()
    .refine((value) => value === undefined || isJson(value), {
      error: 'it must be plain JSON',
      abort: true,
    })
    .refine(
      (value) => value === undefined || fitsBytes(value, bytesMax),
      `it must be JSON of at most ${bytesMax} bytes`,
    );
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return (
    typeof value === 'object' &&
    (Array.isArray(value) || isPlain(value)) &&
    Object.values(value).every(isJson)
  );
}

/** `subject` begins the message: `The goal`, `Goal invoices`. */
export function wrongField(subject: string, field: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `${subject}: ${field} cannot be used: ${why}.`, {
    hint: `Correct ${field} and start again.`,
    details: { path: field },
  });
}
