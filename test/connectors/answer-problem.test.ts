/** Answers to a server's question, before they are sent. */
import { answerProblem } from '../../connectors/index.js';
import type { Elicitation } from '../../core/state/elicitation.js';

const FORM: Elicitation = {
  connector: 'crm',
  message: 'Who pays?',
  mode: 'form',
  schema: {
    type: 'object',
    required: ['name', 'share'],
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 5 },
      share: { type: 'integer', minimum: 1, maximum: 100 },
      kind: { type: 'string', enum: ['cash', 'card'] },
    },
  },
};
const ADDRESS: Elicitation = {
  connector: 'crm',
  message: 'Log in.',
  mode: 'url',
  url: 'https://crm.example/login',
};

test.each([
  [{ name: 'Ann', share: 40 }],
  ['{"name":"Ann","share":"40"}'],
  [{ action: 'accept', content: { name: 'Ann', share: 1, kind: 'card' } }],
  ['decline'],
  [{ action: 'cancel' }],
])('%j fits its form', async (answer) => {
  expect(await answerProblem(FORM, answer)).toBeUndefined();
});

test.each([
  [{ name: 'Ann' }, /share/],
  [{ name: 'A', share: 40 }, /name/],
  [{ name: 'Annabel', share: 40 }, /name/],
  [{ name: 'Ann', share: 101 }, /share/],
  [{ name: 'Ann', share: 1.5 }, /share/],
  [{ name: 'Ann', share: 1, kind: 'gold' }, /kind/],
  ['Ann', /name|share/],
])('%j does not fit, and the field is named', async (answer, field) => {
  expect(await answerProblem(FORM, answer)).toMatch(field);
});

test('an address takes accept, decline or cancel and nothing else', async () => {
  for (const said of ['accept', 'decline', 'cancel', { action: 'accept' }]) {
    expect(await answerProblem(ADDRESS, said)).toBeUndefined();
  }
  expect(await answerProblem(ADDRESS, 'I was there')).toMatch(/accept, decline or cancel/);
});
