/** What a query may be asked: an option that nothing would come of is refused by name, before anything begins. */
import { query } from '../../client/index.js';
import { checkQuery } from '../../client/query/check-query.js';
import type { QueryRequest } from '../../client/query/options.js';

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
