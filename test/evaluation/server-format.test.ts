import { parseFixture } from '../../evaluation/read-fixture.js';
import { FILE } from './setup.js';

const GET = 'mcp__crm__get_contact';
const GOOD = {
  case_id: 'c1',
  mcp: { crm: { trusted: true } },
  tools: { [GET]: { kind: 'mcp', annotations: { readOnlyHint: true } } },
  expected: { stop_reason: 'completed' },
};

function problemsWith(changes: object): string {
  try {
    parseFixture(JSON.stringify({ ...GOOD, ...changes }), FILE);
  } catch (error) {
    expect(error).toMatchObject({ code: 'InvalidFixture' });
    return (error as Error).message;
  }
  return '';
}

const tool = (record: object) => ({ tools: { [GET]: { kind: 'mcp', ...record } } });
const during = (server: object) => ({ during: [{ on: { start: true }, do: { server } }] });

test('a case says what a server has, and what its connector says of it', () => {
  const { servers, tools } = parseFixture(JSON.stringify(GOOD), FILE);
  expect(servers.get('crm')).toMatchObject({ trusted: true, required: false, is: 'up' });
  expect(tools.get(GET)?.served).toEqual({
    server: 'crm',
    tool: 'get_contact',
    annotations: { readOnlyHint: true },
  });
});

test('a tool of a server that the case does not have is a tool like any other', () => {
  const fixture = parseFixture(
    JSON.stringify({ ...GOOD, mcp: undefined, tools: { [GET]: { kind: 'mcp' } } }),
    FILE,
  );
  expect(fixture.tools.get(GET)).toMatchObject({ effect: 'unknown', idempotency: 'unknown' });
  expect(fixture.tools.get(GET)?.served).toBeUndefined();
});

describe('a case is refused', () => {
  test.each([
    ['for an unknown key of a server', { mcp: { crm: { trust: true } } }, 'mcp.crm.trust: unknown'],
    ['for a server without a name', { mcp: {} }, 'mcp: must not be empty'],
    ['for a name that no connector has', { mcp: { CRM: {} }, tools: {} }, 'mcp.CRM: '],
    [
      'for a limit that no connector has',
      { mcp: { crm: { connectTimeoutMs: 90_000 } } },
      'mcp.crm: ',
    ],
    ['for a state that is none', { mcp: { crm: { is: 'gone' } } }, 'mcp.crm.is: must be one of'],
    ['for what nobody says of such a tool', tool({ concurrencySafe: true }), '.concurrencySafe: '],
    ['for an approval of its own', tool({ approval: 'never' }), `tools.${GET}.approval: `],
    ['for another kind', { tools: { [GET]: { effect: 'read' } } }, `tools.${GET}.kind: is "mcp"`],
    [
      'for a name that runs do not call it by',
      { tools: { 'mcp__crm__get.contact': { kind: 'mcp' } } },
      'runs call no tool of the server crm so',
    ],
    ['for a code of its error', tool({ results: [{ error: 'x', code: 'y' }] }), 'answer no code'],
    ['for a price', tool({ results: [{ ok: 1, costMicroUsd: 5 }] }), 'answer no costMicroUsd'],
    [
      'for a question that has neither form nor address',
      tool({ results: [{ input_required: { questions: { q: { message: 'x' } } } }] }),
      'has either a schema or a url',
    ],
    [
      'for a question that has both',
      tool({
        results: [{ input_required: { questions: { q: { message: '', schema: {}, url: 'u' } } } }],
      }),
      'has either a schema or a url',
    ],
    ['for a change of nothing', during({ name: 'crm' }), 'changes nothing'],
    [
      'for a change of another server',
      during({ name: 'erp', is: 'down' }),
      '"erp" is not in "mcp"',
    ],
    [
      'for a change of a tool that it does not have',
      during({ name: 'crm', tools: { read_order: null } }),
      '"read_order" is no tool of the server crm',
    ],
    [
      'for calls of a server that it does not have',
      { expected: { served: { erp: [] } } },
      'expected.served: the server "erp" is not in "mcp"',
    ],
    [
      'for an answer of servers by a tool of its own',
      { tools: { read_order: { results: [{ refused: 'x' }] } } },
      'tools.read_order: refused needs a server of "mcp"',
    ],
    [
      'for annotations of a tool of its own',
      { tools: { read_order: { annotations: {} } } },
      'tools.read_order.annotations: needs a server',
    ],
    [
      'for an answer of servers in a session',
      { sessions: [{ id: 's', messages: [{ results: { a: { malformed: 1 } } }] }] },
      'malformed is of tools of servers',
    ],
    [
      'for what a configuration says of a server, beside its agent',
      { agent: 'support' },
      'mcp.crm.trusted: is of the configuration',
    ],
    [
      'for what a configuration says of a tool, beside its agent',
      {
        agent: 'support',
        mcp: { crm: { is: 'down' } },
        tools: { [GET]: { kind: 'mcp', effect: 'read' } },
      },
      'effect: is of the configuration',
    ],
  ])('%s', (_, changes, problem) => {
    expect(problemsWith(changes)).toContain(problem);
  });
});
