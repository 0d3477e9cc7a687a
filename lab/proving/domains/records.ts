/** Typed access to the fields of a database record; a missing field means a broken database. */
import { HoldfastError } from '../../../core/state/errors.js';
import { isNumber, type PyNumber, type PyObject, type PyValue } from '../python/python-value.js';

export function textField(record: PyObject, field: string): string {
  const value = record.get(field);
  if (typeof value !== 'string') throw wrongField(field, 'a text');
  return value;
}

export function numberField(record: PyObject, field: string): PyNumber {
  const value = record.get(field);
  if (!isNumber(value)) throw wrongField(field, 'a number');
  return value;
}

export function objectField(record: PyObject, field: string): PyObject {
  const value = record.get(field);
  if (!(value instanceof Map)) throw wrongField(field, 'an object');
  return value;
}

export function listField(record: PyObject, field: string): PyValue[] {
  const value = record.get(field);
  if (!Array.isArray(value)) throw wrongField(field, 'a list');
  return value;
}

/** A field that is a list of objects; the objects are the record's own, not copies. */
export function objectsField(record: PyObject, field: string): PyObject[] {
  return listField(record, field).map((entry) => {
    if (!(entry instanceof Map)) throw wrongField(field, 'a list of objects');
    return entry;
  });
}

function wrongField(field: string, wanted: string): HoldfastError {
  return new HoldfastError(
    'InvalidTask',
    `The database has a record whose ${field} is not ${wanted}.`,
  );
}
