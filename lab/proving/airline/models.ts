/** What the newer airline tools ask of the records that a call brings. */
import type { BoundArguments } from '../domains/arguments.js';
import { typeName, type PyObject, type PyValue } from '../python/python-value.js';
import { ToolError } from '../python/tool-error.js';
import { validated, type Model } from '../python/validation.js';

export const FLIGHT: Model = {
  name: 'FlightInfo',
  fields: [
    ['flight_number', 'text'],
    ['date', 'text'],
  ],
};

export const PASSENGER: Model = {
  name: 'Passenger',
  fields: [
    ['first_name', 'text'],
    ['last_name', 'text'],
    ['dob', 'text'],
  ],
};

export const PAYMENT: Model = {
  name: 'Payment',
  fields: [
    ['payment_id', 'text'],
    ['amount', 'whole'],
  ],
};

export const CERTIFICATE: Model = { name: 'Certificate', fields: [['amount', 'number']] };

/** Of a new reservation, what the call says of it. */
export const RESERVATION: Model = {
  name: 'Reservation',
  fields: [
    ['origin', 'text'],
    ['destination', 'text'],
    ['flight_type', { oneOf: ['round_trip', 'one_way'] }],
    ['cabin', { oneOf: ['business', 'economy', 'basic_economy'] }],
    ['passengers', { listOf: PASSENGER }],
    ['payment_history', { listOf: PAYMENT }],
    ['total_baggages', 'whole'],
    ['nonfree_baggages', 'whole'],
    ['insurance', { oneOf: ['yes', 'no'] }],
  ],
};

/** A list of records, each checked; anything else is left as it is, for whoever uses it to complain. */
export function recordsIn(model: Model, args: BoundArguments, name: string): PyValue {
  const given = args.get(name) ?? null;
  const entries = entriesOf(given);
  const records = entries.filter((entry) => entry instanceof Map);
  return records.length === entries.length
    ? records.map((record) => validated(model, record))
    : given;
}

/** What a walk through a value meets, as in Python. */
export function entriesOf(value: PyValue): readonly PyValue[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Map) return [...value.keys()];
  throw new ToolError(`'${typeName(value)}' object is not iterable`);
}

/** Records that were checked; what is left of anything else has no such field. */
export function checkedRecords(value: PyValue, field: string): PyObject[] {
  const entries = entriesOf(value);
  return entries.map((entry) => {
    // A list of which not all are records was not checked, so none of them has fields.
    if (entry instanceof Map && entries.every((each) => each instanceof Map)) return entry;
    throw new ToolError(`'${typeName(entry)}' object has no attribute '${field}'`);
  });
}
