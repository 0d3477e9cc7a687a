/** What a query may be asked: an option that nothing would come of is refused by name, before anything begins. */
import { query } from '../../client/index.js';
import { checkQuery } from '../../client/query/check-query.js';
import type { QueryRequest } from '../../client/query/options.js';
import { queriesOver } from '../../client/query/typed-output.js';

const refusalOf = (check: () => unknown): unknown => {
  try {
    return check();
  } catch (error) {
    return error;
  }
};

const withOptions = (options: object) => (): void =>
  checkQuery({ prompt: 'x', options: { agent: 'a', ...options } } as QueryRequest);

test.each<[string, unknown, RegExp]>([
  ['outputFormat', { type: 'json_schema' }, /schema/],
  ['outputFormat', { type: 'text', schema: {} }, /json_schema/],
  ['decider', 'x', /by/],
  ['decider', { by: 'x', roles: 'y' }, /roles/],
  ['closeOnReturn', 'no', /true or false/],
  ['maxBudgetUsd', '1', /number/],
  ['maxBudgetUsd', -1, /from 0/],
  ['maxTurns', Number.NaN, /number/],
  ['abortController', {}, /AbortController/],
  ['canUseTool', null, /function/],
  ['tools', 'facts.read', /list/],
  ['permissionMode', 'yolo', /one of .*plan/],
  ['fork', {}, /at/],
  ['runId', 7, /text/],
  ['settings', [], /object/],
])('options.%s as %j is refused, and told what it must be', (name, value, must) => {
  const refusal = refusalOf(withOptions({ [name]: value }));
  expect(refusal).toMatchObject({ code: 'InvalidTask' });
  expect(String(refusal)).toContain(`options.${name} cannot be used: it must be`);
  expect(String(refusal)).toMatch(must);
});

test('what fits, or is left out, is taken', () => {
  const outputFormat = { type: 'json_schema', schema: {} };
  const abortController = new AbortController();
  withOptions({ outputFormat, abortController, fork: { at: 'm' }, tools: [], cwd: undefined })();
  withOptions({ decider: { by: 'mia' }, maxBudgetUsd: 0.5, maxTurns: Infinity, continue: true })();
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'the query'],
  ['a text', 'Serve.', 'the query'],
  ['options that are none', { prompt: 'x', options: null }, 'options'],
  ['a client that is none', { prompt: 'x', options: { client: {} } }, 'options.client'],
  ['no client at all', { prompt: 'x', options: { client: null } }, 'options.client'],
  ['a connection that is none', { prompt: 'x', options: { connection: 7 } }, 'options.connection'],
  [
    'a run without its id',
    { runId: undefined, options: { connection: { address: 'nowhere' } } },
    'runId',
  ],
])('%s is refused as a query', (_, parameters, named) => {
  const refusal = refusalOf(() => query(parameters as never));
  expect(refusal).toMatchObject({ code: 'InvalidTask' });
  expect(String(refusal)).toContain(`${named} cannot be used`);
});

test('a misspelt option is told with the one that was meant', () => {
  expect(refusalOf(withOptions({ maxTurn: 3 }))).toMatchObject({
    message: 'options.maxTurn cannot be used: there is no such option here.',
    hint: expect.stringMatching(/^Did you mean maxTurns\? The options are canUseTool, /) as string,
  });
});

test('a list is no prompt', () => {
  const refusal = refusalOf(() => checkQuery({ prompt: ['hi'], options: { agent: 'a' } } as never));
  expect(String(refusal)).toContain('prompt cannot be used: it must be a text, a task or');
});

test.each(['x', 5, null, []])(
  '%j is no schema of an answer: no run is started for it',
  (output) => {
    const open = () => Promise.reject(new Error('not asked'));
    const request = { prompt: 'x', output, options: { agent: 'a' } };
    expect(refusalOf(() => queriesOver(open)(request as never))).toMatchObject({
      code: 'InvalidTask',
      message: 'The output is no schema.',
      hint: expect.stringContaining('z.object({…})') as string,
    });
  },
);

test('a client asked for no query says what a query is', () => {
  const open = () => Promise.reject(new Error('not asked'));
  const refusal = refusalOf(() => queriesOver(open)(undefined as never));
  expect(String(refusal)).toContain('it must be { prompt, options }');
});
