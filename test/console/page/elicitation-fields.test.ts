/** The form of a server's question: its fields, its choices, and its bounds before an answer is sent. */
import {
  choicesOf,
  formFieldsOf,
  readAnswer,
} from '../../../console/page/decide/elicitation-fields.js';

const SCHEMA = {
  type: 'object',
  required: ['name', 'share'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    share: { type: 'integer', minimum: 1, maximum: 100 },
    note: { type: 'string', default: 'none' },
    kind: {
      oneOf: [
        { const: 'a', title: 'Alpha' },
        { const: 'b', title: 'Beta' },
      ],
    },
    colours: {
      type: 'array',
      maxItems: 2,
      items: {
        anyOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
          { const: 'b', title: 'Blue' },
        ],
      },
    },
  },
};
const field = formFieldsOf(SCHEMA);
const said = (name: string, share: string) => ({ 'field-0': name, 'field-1': share });

test('what is written is the answer, with the defaults of the server', () => {
  expect(readAnswer(SCHEMA, field, said('Ann', '40'))).toEqual({
    ok: true,
    value: { name: 'Ann', share: 40, note: 'none' },
  });
  expect(readAnswer(SCHEMA, field, { ...said('Ann', '40'), 'field-3': '2' })).toMatchObject({
    value: { kind: 'b' },
  });
});

test.each([
  ['', '40', 'field-0', 'name is needed.'],
  ['A', '40', 'field-0', 'name has fewer than 2 characters.'],
  ['Annabel', '40', 'field-0', 'name has more than 5 characters.'],
  ['Ann', '0', 'field-1', 'share must be at least 1.'],
  ['Ann', '101', 'field-1', 'share must be at most 100.'],
  ['Ann', 'many', 'field-1', 'share must be a whole number, in digits.'],
])('%j and %j are complained about at %s', (name, share, fieldId, fault) => {
  expect(readAnswer(SCHEMA, field, said(name, share))).toEqual({ ok: false, fieldId, fault });
});

test('of a list of choices those that are ticked are the answer, as many as the form takes', () => {
  const ticked = (...places: readonly number[]) =>
    Object.fromEntries(places.map((place) => [`field-4-${place}`, true]));
  expect(readAnswer(SCHEMA, field, { ...said('Ann', '40'), ...ticked(0, 2) })).toMatchObject({
    value: { colours: ['r', 'b'] },
  });
  expect(readAnswer(SCHEMA, field, { ...said('Ann', '40'), ...ticked(0, 1, 2) })).toEqual({
    ok: false,
    fieldId: 'field-4',
    fault: 'colours takes at most 2 of its choices.',
  });
});

test('a length counts characters, not halves of them', () => {
  expect(readAnswer(SCHEMA, field, said('😀😀😀😀😀', '1'))).toMatchObject({ ok: true });
});

test('a form of one choice is buttons, unless two of them would look alike', () => {
  const one = (part: object) => choicesOf({ type: 'object', properties: { kind: part } });
  expect(one({ type: 'string', enum: ['a', 'b'], enumNames: ['Alpha', 'Beta'] })).toEqual({
    name: 'kind',
    named: [
      { value: 'a', label: 'Alpha' },
      { value: 'b', label: 'Beta' },
    ],
  });
  expect(one(SCHEMA.properties.kind)?.named).toHaveLength(2);
  expect(one({ enum: ['a', 'b'], enumNames: ['Yes', 'Yes'] })).toBeUndefined();
  expect(one({ type: 'string' })).toBeUndefined();
  expect(choicesOf(SCHEMA)).toBeUndefined();
  expect(choicesOf(undefined)).toBeUndefined();
});
