/**
 * Checks values against the fields of a record as the newer tools do, and complains in their words. What has the
 * right meaning but another type is turned into that type; fields that nobody asked for are dropped.
 */
import { repr } from './python-repr.js';
import { typeName, type PyObject, type PyValue } from './python-value.js';
import { ToolError } from './tool-error.js';

export type Kind =
  'text' | 'whole' | 'number' | { readonly oneOf: readonly string[] } | { readonly listOf: Model };

export interface Model {
  readonly name: string;
  readonly fields: readonly (readonly [string, Kind])[];
}

interface Complaint {
  readonly at: readonly string[];
  readonly type: string;
  readonly message: string;
  readonly input: PyValue;
}

/** What a field of this kind makes of a value. */
type Checked = { readonly value: PyValue } | { readonly complaints: readonly Complaint[] };

const SHOWN_CHARS_MAX = 50;
/** The version is that of whoever recorded; comparisons leave it out (`same-text.ts`). */
const LINK = 'https://errors.pydantic.dev/2.11/v';

/** The record with its fields in their order. Errors: ToolError with every complaint. */
export function validated(model: Model, given: PyObject): PyObject {
  const checked = checkModel(model, given, []);
  if ('complaints' in checked) throw invalid(model.name, checked.complaints);
  return checked.value as PyObject;
}

function invalid(name: string, complaints: readonly Complaint[]): ToolError {
  const lines = complaints.map(
    ({ at, type, message, input }) =>
      `${at.join('.')}\n  ${message} [type=${type}, input_value=${shown(input)}, ` +
      `input_type=${typeName(input)}]\n    For further information visit ${LINK}/${type}`,
  );
  const noun = complaints.length === 1 ? 'error' : 'errors';
  return new ToolError(`${complaints.length} validation ${noun} for ${name}\n${lines.join('\n')}`);
}

/** Its beginning and its end, when it is long. */
function shown(input: PyValue): string {
  const letters = Array.from(repr(input));
  if (letters.length <= SHOWN_CHARS_MAX) return letters.join('');
  const half = SHOWN_CHARS_MAX / 2;
  return `${letters.slice(0, half).join('')}...${letters.slice(1 - half).join('')}`;
}

function checkModel(model: Model, given: PyObject, at: readonly string[]): Checked {
  const complaints: Complaint[] = [];
  const record: PyObject = new Map();
  for (const [name, kind] of model.fields) {
    const place = [...at, name];
    const value = given.get(name);
    const checked =
      value === undefined
        ? complaint({ at: place, type: 'missing', message: 'Field required', input: given })
        : check(kind, value, place);
    if ('value' in checked) record.set(name, checked.value);
    else complaints.push(...checked.complaints);
  }
  return complaints.length > 0 ? { complaints } : { value: record };
}

function complaint(one: Complaint): Checked {
  return { complaints: [one] };
}

function check(kind: Kind, input: PyValue, at: readonly string[]): Checked {
  const wrong = (type: string, message: string): Checked =>
    complaint({ at, type, message: `Input should be ${message}`, input });
  if (kind === 'text') {
    return typeof input === 'string' ? { value: input } : wrong('string_type', 'a valid string');
  }
  if (kind === 'whole') return wholeOf(input, wrong);
  if (kind === 'number') return numberOf(input, wrong);
  if ('oneOf' in kind) {
    const known = typeof input === 'string' && kind.oneOf.includes(input);
    return known ? { value: input } : wrong('literal_error', eitherOf(kind.oneOf));
  }
  if (!Array.isArray(input)) return wrong('list_type', 'a valid list');
  return listOf(kind.listOf, input, at);
}

type Wrong = (type: string, message: string) => Checked;

function wholeOf(input: PyValue, wrong: Wrong): Checked {
  if (typeof input === 'bigint') return { value: input };
  if (typeof input === 'boolean') return { value: input ? 1n : 0n };
  if (typeof input === 'number') {
    if (Number.isSafeInteger(input)) return { value: BigInt(input) };
    return wrong('int_from_float', 'a valid integer, got a number with a fractional part');
  }
  if (typeof input !== 'string') return wrong('int_type', 'a valid integer');
  const [, digits] = /^\s*([+-]?\d+)(?:\.0+)?\s*$/.exec(input) ?? [];
  if (digits !== undefined) return { value: BigInt(digits.replace('+', '')) };
  return wrong('int_parsing', 'a valid integer, unable to parse string as an integer');
}

function numberOf(input: PyValue, wrong: Wrong): Checked {
  if (typeof input === 'string') {
    const number = input.trim() === '' ? Number.NaN : Number(input);
    if (!Number.isNaN(number)) return { value: number };
    return wrong('float_parsing', 'a valid number, unable to parse string as a number');
  }
  const counts =
    typeof input === 'bigint' || typeof input === 'number' || typeof input === 'boolean';
  return counts ? { value: Number(input) } : wrong('float_type', 'a valid number');
}

function listOf(model: Model, input: readonly PyValue[], at: readonly string[]): Checked {
  const checked = input.map((entry, index) => {
    const place = [...at, String(index)];
    if (entry instanceof Map) return checkModel(model, entry, place);
    const message = `Input should be a valid dictionary or instance of ${model.name}`;
    return complaint({ at: place, type: 'model_type', message, input: entry });
  });
  const complaints = checked.flatMap((each) => ('complaints' in each ? each.complaints : []));
  if (complaints.length > 0) return { complaints };
  return { value: checked.flatMap((each) => ('value' in each ? [each.value] : [])) };
}

function eitherOf(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  return quoted.length === 1
    ? (quoted[0] ?? '')
    : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
}
