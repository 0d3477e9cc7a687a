/** Which records are other ones than expected, and in which fields: by name, in bounded words. */
import type { ChangedRecords } from './expected-outcomes.js';
import { fromJson, sameValue, type PyObject, type PyValue } from './python/python-value.js';

const RECORDS_SHOWN_MAX = 5;
const FIELDS_SHOWN_MAX = 8;
const NAME_CHARS_MAX = 60;

/** One line for each record that differs, of the first few; empty when all are equal. */
export function recordDifferences(left: unknown, expected: ChangedRecords): readonly string[] {
  const seen = tablesOf(fromJson(left));
  const wanted = tablesOf(fromJson(expected));
  const lines: string[] = [];
  for (const table of namesIn(seen, wanted)) {
    const [own, other] = [tableOf(seen, table), tableOf(wanted, table)];
    for (const id of namesIn(own, other)) {
      const difference = differenceOf(own.get(id), other.get(id));
      if (difference !== undefined) lines.push(`${named(table)} ${named(id)} ${difference}`);
    }
  }
  const more = lines.length - RECORDS_SHOWN_MAX;
  return more <= 0
    ? lines
    : [...lines.slice(0, RECORDS_SHOWN_MAX), `and ${more} more records differ`];
}

function differenceOf(seen: PyValue | undefined, wanted: PyValue | undefined): string | undefined {
  if (seen === undefined) return 'is not changed';
  if (wanted === undefined) return 'is changed unexpectedly';
  if (sameValue(seen, wanted)) return undefined;
  if (!(seen instanceof Map) || !(wanted instanceof Map)) return 'is no record';
  const fields = namesIn(seen, wanted).filter((field) => !sameField(seen, wanted, field));
  const shown = fields.slice(0, FIELDS_SHOWN_MAX).map(named).join(', ');
  const more = fields.length - FIELDS_SHOWN_MAX;
  return `differs in ${shown}${more > 0 ? ` and ${more} more fields` : ''}`;
}

function sameField(left: PyObject, right: PyObject, field: string): boolean {
  const [one, other] = [left.get(field), right.get(field)];
  return one !== undefined && other !== undefined && sameValue(one, other);
}

function namesIn(left: PyObject, right: PyObject): readonly string[] {
  return [...new Set([...right.keys(), ...left.keys()])];
}

function tablesOf(value: PyValue): PyObject {
  return value instanceof Map ? value : new Map();
}

function tableOf(tables: PyObject, name: string): PyObject {
  return tablesOf(tables.get(name) ?? null);
}

function named(name: string): string {
  return name.replace(/\s/g, '_').slice(0, NAME_CHARS_MAX);
}
