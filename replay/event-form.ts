/** What a field of an event may be, by its declaration: readers of bundles use fields as they are declared. */
import { ownValue, type Json, type StoredText } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';
import type { RecoveryStep } from '../core/state/recovery.js';
import type { RunResult } from '../core/state/result.js';

type Kind =
  | 'text'
  | 'number'
  | 'flag'
  | 'texts'
  | 'records'
  | 'recovery'
  | 'record'
  | 'result'
  | 'stored'
  | 'json';

type KindOf<T> = [Json] extends [T]
  ? 'json'
  : [T] extends [string]
    ? 'text'
    : [T] extends [number]
      ? 'number'
      : [T] extends [boolean]
        ? 'flag'
        : [T] extends [StoredText]
          ? 'stored'
          : [T] extends [readonly string[]]
            ? 'texts'
            : [T] extends [readonly RecoveryStep[]]
              ? 'recovery'
              : [T] extends [readonly unknown[]]
                ? 'records'
                : [T] extends [RunResult]
                  ? 'result'
                  : [T] extends [object]
                    ? 'record'
                    : 'json';

/** `?`: it may be absent. */
export type FormOf<T> = {
  readonly [Name in keyof T as Name extends 'type' ? never : Name]-?: object extends Pick<T, Name>
    ? `${KindOf<Exclude<T[Name], undefined>>}?`
    : KindOf<T[Name]>;
};

export type Form = { readonly [name: string]: Kind | `${Kind}?` };

/** Complete, which the compiler checks. */
export type FormsOf<Body extends { readonly type: string }> = {
  readonly [Type in Body['type']]: FormOf<Extract<Body, { readonly type: Type }>>;
};

const IS: { readonly [Of in Kind]: (value: unknown) => boolean } = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  texts: areTexts,
  records: (value) => Array.isArray(value) && value.every(isRecord),
  recovery: (value) =>
    Array.isArray(value) &&
    value.every((one) => isRecord(one) && (one['by'] === undefined || areTexts(one['by']))),
  record: isRecord,
  result: (value) => isRecord(value) && isRecord(value['counters']),
  stored: (value) =>
    isRecord(value) && (typeof value['text'] === 'string' || typeof value['preview'] === 'string'),
  json: () => true,
};

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** The first field that is not as it is declared; undefined: all are. */
export function oddField(
  value: { readonly [name: string]: unknown },
  form: Form,
): string | undefined {
  return fieldsOf(form).find(({ name, isOptional, is }) => {
    const field = ownValue(value, name);
    return field === undefined ? !isOptional : !is(field);
  })?.name;
}

interface Field {
  readonly name: string;
  readonly isOptional: boolean;
  readonly is: (value: unknown) => boolean;
}

/** A bundle has thousands of events of few forms. */
const known = new WeakMap<Form, readonly Field[]>();

function fieldsOf(form: Form): readonly Field[] {
  const before = known.get(form);
  if (before !== undefined) return before;
  const fields = Object.entries(form).map(([name, kind]) => {
    const isOptional = kind.endsWith('?');
    return { name, isOptional, is: IS[(isOptional ? kind.slice(0, -1) : kind) as Kind] };
  });
  known.set(form, fields);
  return fields;
}
