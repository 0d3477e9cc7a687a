/**
 * JSON as Python's `json` module reads and writes it: key order kept, `int` and `float` told
 * apart, `", "` and `": "` between the parts, everything outside ASCII escaped.
 */
import { HoldfastError } from '../../../core/state/errors.js';
import { formatFloat } from './python-number.js';
import { NESTING_MAX, type PyObject, type PyValue } from './python-value.js';

/** `json.dumps(value)`. */
export function dumpJson(value: PyValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return dumpFloat(value);
  if (typeof value === 'string') return dumpString(value);
  if (Array.isArray(value)) return `[${value.map(dumpJson).join(', ')}]`;
  const entries = [...value].map(([key, entry]) => `${dumpString(key)}: ${dumpJson(entry)}`);
  return `{${entries.join(', ')}}`;
}

/** A text that is equal exactly for equal values: like {@link dumpJson}, with sorted keys. */
export function dumpCanonical(value: PyValue): string {
  if (Array.isArray(value)) return `[${value.map(dumpCanonical).join(',')}]`;
  if (!(value instanceof Map)) return dumpJson(value);
  const keys = [...value.keys()].sort();
  return `{${keys.map((key) => `${dumpString(key)}:${dumpCanonical(value.get(key) ?? null)}`).join(',')}}`;
}

function dumpFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return formatFloat(value);
}

function dumpString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Parses JSON text; throws a {@link HoldfastError} with the position of the first fault. */
export function parseJson(text: string): PyValue {
  const cursor: Cursor = { text, at: 0 };
  const value = readValue(cursor, 0);
  skipSpace(cursor);
  if (cursor.at < text.length) throw fault(cursor, 'text after the value');
  return value;
}

interface Cursor {
  readonly text: string;
  at: number;
}

function readValue(cursor: Cursor, depth: number): PyValue {
  if (depth > NESTING_MAX) throw fault(cursor, `nested deeper than ${NESTING_MAX} levels`);
  skipSpace(cursor);
  switch (cursor.text[cursor.at]) {
    case '{':
      return readObject(cursor, depth);
    case '[':
      return readList(cursor, depth);
    case '"':
      return readString(cursor);
    default:
      return readScalar(cursor);
  }
}

function readObject(cursor: Cursor, depth: number): PyObject {
  const result: PyObject = new Map();
  cursor.at += 1;
  if (takes(cursor, '}')) return result;
  do {
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== '"') throw fault(cursor, 'a key was expected');
    const key = readString(cursor);
    if (!takes(cursor, ':')) throw fault(cursor, "':' was expected");
    result.set(key, readValue(cursor, depth + 1));
  } while (takes(cursor, ','));
  if (!takes(cursor, '}')) throw fault(cursor, "',' or '}' was expected");
  return result;
}

function readList(cursor: Cursor, depth: number): PyValue[] {
  const result: PyValue[] = [];
  cursor.at += 1;
  if (takes(cursor, ']')) return result;
  do {
    result.push(readValue(cursor, depth + 1));
  } while (takes(cursor, ','));
  if (!takes(cursor, ']')) throw fault(cursor, "',' or ']' was expected");
  return result;
}

function readString(cursor: Cursor): string {
  const pattern = /"(?:[^"\\]|\\.)*"/y;
  const quoted = match(cursor, pattern);
  if (quoted === undefined) throw fault(cursor, 'a string without end');
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw fault(cursor, 'a malformed string');
  }
}

const LITERALS = new Map<string, null | boolean>([
  ['null', null],
  ['true', true],
  ['false', false],
]);

function readScalar(cursor: Cursor): PyValue {
  const literal = match(cursor, /null|true|false/y);
  if (literal !== undefined) return LITERALS.get(literal) ?? null;
  const number = match(cursor, /-?(?:0|[1-9]\d{0,400})(?:\.\d+)?(?:[eE][+-]?\d{1,4})?/y);
  if (number === undefined) throw fault(cursor, 'a value was expected');
  return /[.eE]/.test(number) ? Number(number) : BigInt(number);
}

function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function takes(cursor: Cursor, mark: string): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== mark) return false;
  cursor.at += 1;
  return true;
}

function skipSpace(cursor: Cursor): void {
  match(cursor, /[ \t\r\n]*/y);
}

function fault(cursor: Cursor, what: string): HoldfastError {
  return new HoldfastError('InvalidTask', `Not JSON: ${what} at character ${cursor.at}.`);
}
