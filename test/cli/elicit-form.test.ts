/** The form of a server's question at a terminal: field by field, with bounds and lists of choices. */
import { fillForm } from '../../cli/chat/elicit-form.js';
import type { Json } from '../../core/json/json.js';
import type { Elicitation } from '../../core/state/elicitation.js';

const SCHEMA = {
  type: 'object',
  required: ['name', 'share', 'colours'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 10 },
    share: { type: 'integer', minimum: 1, maximum: 100 },
    kind: {
      oneOf: [
        { const: 'a', title: 'Alpha' },
        { const: 'b', title: 'Beta' },
      ],
    },
    colours: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { type: 'string', enum: ['red', 'green', 'blue'] },
    },
    sure: { type: 'boolean', default: false },
    mail: { type: 'string', format: 'email' },
  },
};

const form = (schema: Json = SCHEMA): Elicitation => ({
  connector: 'crm',
  message: 'Who pays?',
  mode: 'form',
  schema,
});
const address: Elicitation = {
  connector: 'crm',
  message: 'Log in.',
  mode: 'url',
  url: 'https://crm.example/login',
};

async function filled(asked: Elicitation, ...lines: readonly string[]) {
  const waiting = [...lines];
  const said: string[] = [];
  const answer = await fillForm(asked, {
    ask: (prompt) => {
      said.push(prompt);
      return Promise.resolve(waiting.shift());
    },
    line: (text) => void said.push(text),
  });
  return { answer, said: said.join('\n'), left: waiting };
}

test('each field is asked by name, kind and bounds, and the answer has what was typed', async () => {
  const { answer, said, left } = await filled(
    form(),
    'f',
    'Annabel',
    '40',
    'beta',
    '1, blue',
    '',
    '',
  );
  expect(answer).toEqual({
    action: 'accept',
    content: { name: 'Annabel', share: '40', kind: 'b', colours: ['red', 'blue'] },
  });
  expect(left).toEqual([]);
  expect(said).toContain('name (string, characters at least 2, characters at most 10)');
  expect(said).toContain('  2) Beta');
  expect(said).toContain(
    'colours (some of red, green, blue, choices at least 1, choices at most 2)',
  );
  expect(said).toContain('sure [false]:');
  expect(said).toContain('mail (string (email), optional)');
});

test.each([
  ['a text that is too short', ['f', 'A', 'Ann', '40', '', '1', '', ''], 'name does not fit'],
  [
    'nothing where an answer is needed',
    ['f', '', 'Ann', '40', '', '1', '', ''],
    'name does not fit',
  ],
  ['a number over its bound', ['f', 'Ann', '400', '40', '', '1', '', ''], 'share does not fit'],
  ['words in place of a number', ['f', 'Ann', 'many', '40', '', '1', '', ''], 'share does not fit'],
  [
    'a choice that is none',
    ['f', 'Ann', '40', 'gamma', '', '1', '', ''],
    'kind does not fit: it is no answer of the list',
  ],
  ['too many of a list', ['f', 'Ann', '40', '', '1,2,3', '1', '', ''], 'colours does not fit'],
  ['one that the list has not', ['f', 'Ann', '40', '', '9', '1', '', ''], 'colours does not fit'],
  ['no address of mail', ['f', 'Ann', '40', '', '1', '', 'nobody', ''], 'mail does not fit'],
])('%s is asked again, at that field', async (_, lines, words) => {
  const { answer, said, left } = await filled(form(), ...lines);
  expect(answer).toMatchObject({ action: 'accept', content: { name: 'Ann', share: '40' } });
  expect(said).toContain(words);
  expect(left).toEqual([]);
});

test.each([
  ['d', { action: 'decline' }],
  ['cancel', { action: 'cancel' }],
  ['l', null],
])('%s before the first field is the answer', async (word, wanted) => {
  expect((await filled(form(), 'what?', word)).answer).toEqual(wanted);
});

test.each([
  ['/decline', { action: 'decline' }],
  ['/cancel', { action: 'cancel' }],
  ['/later', null],
])('%s at a field leaves the form, and plain words of it are an answer', async (word, wanted) => {
  expect((await filled(form(), 'f', 'Ann', word)).answer).toEqual(wanted);
  const text = form({ type: 'object', properties: { note: { type: 'string' } } });
  expect((await filled(text, 'f', word.slice(1))).answer).toEqual({
    action: 'accept',
    content: { note: word.slice(1) },
  });
});

test('the end of the input answers nothing', async () => {
  expect((await filled(form(), 'f', 'Ann')).answer).toBeNull();
  expect((await filled(form())).answer).toBeNull();
});

test('an address is accepted in words alone', async () => {
  expect((await filled(address, 'yes', 'a')).answer).toEqual({ action: 'accept' });
  expect((await filled(address, 'decline')).answer).toEqual({ action: 'decline' });
});

test('hostile names and labels reach the terminal without what controls it', async () => {
  const hostile = form({
    type: 'object',
    properties: { '\u001B[2Jx': { enum: ['\u001B]52;c;AA\u0007'], description: '\u202Eevil' } },
  });
  // eslint-disable-next-line no-control-regex
  expect((await filled(hostile, 'f', '1')).said).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/);
});
