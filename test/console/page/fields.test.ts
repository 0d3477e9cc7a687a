/** The form of a correction: what its fields say, before and after somebody has written in them. */
import { readField } from '../../../console/page/decide/read-fields.js';
import { fieldsOf, type Field } from '../../../console/page/decide/schema-fields.js';
import type { Json, Schema } from '../../../console/page/data/api-types.js';

const SCHEMA: Schema = {
  type: 'object',
  required: ['to', 'cents'],
  properties: {
    to: { type: 'string', description: 'Whose account' },
    cents: { type: 'integer' },
    rate: { type: 'number' },
    urgent: { type: 'boolean' },
    currency: { enum: ['EUR', 'USD'] },
    more: { type: 'array' },
    inner: { type: 'object', properties: { note: { type: 'string' } } },
  },
};
const ARGS: Json = { to: ' A-1\r\n', cents: 5, extra: [1] };

const idOf = (field: Field, name: string): string => {
  const fields = field.kind === 'object' ? field.fields : [];
  return fields.find((one) => one.name === name)?.id ?? '';
};

test('untouched they say exactly what is there, and nothing that is not', () => {
  for (const schema of [SCHEMA, undefined, {}]) {
    expect(readField(fieldsOf(schema, ARGS), {})).toEqual({ ok: true, value: ARGS });
  }
});

test('every argument of the schema has a field of its kind, every other one is edited as JSON', () => {
  const field = fieldsOf(SCHEMA, ARGS);
  const kinds = field.kind === 'object' ? field.fields.map(({ name, kind }) => [name, kind]) : [];
  expect(kinds).toEqual([
    ['to', 'text'],
    ['cents', 'number'],
    ['rate', 'number'],
    ['urgent', 'flag'],
    ['currency', 'choice'],
    ['more', 'json'],
    ['inner', 'object'],
    ['extra', 'json'],
  ]);
});

test('what is written counts: texts as they are, ticks, choices, numbers, JSON', () => {
  const field = fieldsOf(SCHEMA, ARGS);
  const drafts = {
    [idOf(field, 'to')]: 'A-2 ',
    [idOf(field, 'cents')]: ' 7 ',
    [idOf(field, 'urgent')]: false,
    [idOf(field, 'currency')]: '2',
    [idOf(field, 'more')]: '[true]',
    [idOf(field, 'extra')]: '',
  };
  expect(readField(field, drafts)).toEqual({
    ok: true,
    value: { to: 'A-2 ', cents: 7, urgent: false, currency: 'USD', more: [true] },
  });
});

test.each([
  ['cents', 'many', 'cents must be a whole number, in digits.'],
  ['cents', '', 'cents must be a whole number, in digits.'],
  ['cents', '1.5', 'cents must be a whole number, in digits.'],
  ['cents', '9999999999999999', 'cents has more digits than can be sent exactly.'],
  ['cents', '99999999999999999999', 'cents has more digits than can be sent exactly.'],
  ['rate', '0.12345678901234567890', 'rate has more digits than can be sent exactly.'],
  ['cents', '1e3', 'cents must be a whole number, in digits.'],
  ['rate', '1e3', 'rate must be a number.'],
  ['more', '{', 'more must be JSON.'],
])('%s cannot be %p, and the field is named', (name, text, fault) => {
  const field = fieldsOf(SCHEMA, ARGS);
  const fieldId = idOf(field, name);
  expect(readField(field, { [fieldId]: text })).toEqual({ ok: false, fault, fieldId });
});
