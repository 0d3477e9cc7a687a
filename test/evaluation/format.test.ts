import { parseFixture } from '../../evaluation/read-fixture.js';
import { FILE } from './setup.js';

const GOOD = { case_id: 'c1', expected: { stop_reason: 'completed' } };

function problemsOf(document: unknown): string {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  try {
    parseFixture(text, FILE);
  } catch (error) {
    expect(error).toMatchObject({ code: 'InvalidFixture' });
    return (error as Error).message;
  }
  return '';
}

function problemsWith(changes: object): string {
  return problemsOf({ ...GOOD, ...changes });
}

describe('a fixture is refused', () => {
  test.each([
    ['at the top', { modl: [] }, 'modl'],
    ['in a task', { task: { goal: 'x' } }, 'task.goal'],
    ['in a budget', { budget: { maxTurn: 1 } }, 'budget.maxTurn'],
    [
      'in a setting',
      { settings: { onToolFailure: { mode: 'stop', x: 1 } } },
      'settings.onToolFailure.x',
    ],
    ['in a policy rule', { policy: [{ tool: 't', decision: 'deny', why: '' }] }, 'policy[0].why'],
    [
      'in a condition',
      { policy: [{ tool: 't', decision: 'deny', when: { path: 'a', eq: 1 } }] },
      'policy[0].when.eq',
    ],
    ['in a tool', { tools: { t: { efect: 'read' } } }, 'tools.t.efect'],
    ['in a tool with dots', { tools: { 'a.b': { efect: 'read' } } }, 'tools["a.b"].efect'],
    [
      'in a tool result',
      { tools: { t: { results: [{ ok: 1, delay: 2 }] } } },
      'tools.t.results[0].delay',
    ],
    ['in an agent', { agents: { r: { model: [{ text: 'x' }], max: 1 } } }, 'agents.r.max'],
    ['in a session', { sessions: [{ id: 's', messages: [], x: 1 }] }, 'sessions[0].x'],
    ['in a reply', { model: [{ txt: 'x' }] }, 'model[0].txt'],
    [
      'in a repeated reply',
      { model: [{ repeat: 2, reply: { repeat: 2, reply: { txt: 'x' } } }] },
      'model[0].reply.reply.txt',
    ],
    [
      'in a call',
      { model: [{ calls: [{ id: 'a', tool: 't', input: {}, args: {} }] }] },
      'model[0].calls[0].args',
    ],
    [
      'in a broken stream',
      { model: [{ error: { status: 529 }, after: { txt: '' } }] },
      'model[0].after.txt',
    ],
    ['in a usage', { model: [{ text: 'x', usage: { in: 1 } }] }, 'model[0].usage.in'],
    ['in a summary', { compaction: [{ sumary: 'x' }] }, 'compaction[0].sumary'],
    ['in a hook', { hooks: { Stop: [{ blocking: true }] } }, 'hooks.Stop[0].blocking'],
    ['as a hook', { hooks: { PreStop: [] } }, 'hooks.PreStop'],
    [
      'in a pattern',
      { during: [{ on: { event: 'stop', id: 'a' }, do: { interrupt: true } }] },
      'during[0].on.id',
    ],
    [
      'in an action',
      {
        during: [
          { on: { start: true }, do: { resolveApproval: { decision: 'approve', who: 'x' } } },
        ],
      },
      'during[0].do.resolveApproval.who',
    ],
    ['in an expectation', { expected: { stop: 'completed' } }, 'expected.stop'],
    [
      'in an expected result',
      { expected: { results: { a: { cod: 'timeout' } } } },
      'expected.results.a.cod',
    ],
    [
      'in an expected request',
      { expected: { model_requests: [{ tools: [] }] } },
      'expected.model_requests[0].tools',
    ],
    [
      'in a negated event',
      { expected: { events: [{ not: { event: 'stop', k: 1 } }] } },
      'expected.events[0].not.k',
    ],
  ])('for an unknown key %s', (_, changes, path) => {
    expect(problemsWith(changes)).toContain(`${FILE}: ${path}: unknown key`);
  });

  test.each([
    ['an expectation of nothing', { expected: {} }, 'expected: expects nothing'],
    ['no expectation', { expected: undefined }, 'expected: is required'],
    [
      'a stop reason that is none',
      { expected: { stop_reason: 'done' } },
      'expected.stop_reason: must be one of "completed"',
    ],
    [
      'a word for several reasons',
      { expected: { stop_reason: 'budget_exceeded' } },
      'expected.stop_reason: stands for several reasons',
    ],
    [
      'a dialect of nothing',
      { expected: { dialect: 's000', answer: 'x' } },
      'expected.dialect: needs a stop_reason',
    ],
    [
      'a wrong type',
      { expected: { completed: 'yes' } },
      'expected.completed: must be true or false',
    ],
    ['a limit below zero', { budget: { maxTurns: -1 } }, 'budget.maxTurns: must be at least 0'],
    [
      'a limit that is no number',
      { budget: { maxTurns: 'many' } },
      'budget.maxTurns: must be a number, or must be "unlimited"',
    ],
    [
      'a call without arguments',
      { model: [{ calls: [{ id: 'a', tool: 't' }] }] },
      'model[0].calls[0]: needs input or rawInput',
    ],
    [
      'a call with both kinds of arguments',
      { model: [{ calls: [{ id: 'a', tool: 't', input: 1, rawInput: '1' }] }] },
      'model[0].calls[0]: has both',
    ],
    ['an empty reply', { model: [{}] }, 'model[0]: must not be empty'],
    [
      'a status that no model gives',
      { model: [{ error: { status: 418 } }] },
      'model[0].error.status: must be one of 429',
    ],
    [
      'a result of no form',
      { tools: { t: { results: [{}] } } },
      'tools.t.results[0].status: a tool result has one of',
    ],
    [
      'two actions in one',
      { during: [{ on: { start: true }, do: { interrupt: true, cancel: true } }] },
      'during[0].do: must be exactly one action',
    ],
    [
      'a correction without arguments',
      { during: [{ on: { start: true }, do: { resolveApproval: { decision: 'modify' } } }] },
      'resolveApproval.args: is needed',
    ],
    [
      'a hook name beside another event',
      { during: [{ on: { event: 'stop', name: 'Stop' }, do: { interrupt: true } }] },
      'during[0].on.name: goes with the event "hook" only',
    ],
    [
      'a duration that is none',
      { during: [{ on: { start: true }, do: { advance: 'soon' } }] },
      'advance: must be a whole number and ms, s, m, h or d',
    ],
    [
      'letters that are none',
      { expected: { history: 'UAR' } },
      'expected.history: must be letters U, A, R',
    ],
    [
      'a condition that asks nothing',
      { policy: [{ tool: 't', decision: 'deny', when: { path: 'a' } }] },
      'policy[0].when: must have at least 2 keys',
    ],
    ['an id with spaces', { case_id: 'a b' }, 'case_id: must be letters'],
    [
      'results in two places',
      { tools: { t: { results: [{ ok: 1 }] } }, mocked_tools: { t: [{ ok: 2 }] } },
      'mocked_tools: "t" has results under tools as well',
    ],
  ])('for %s', (_, changes, problem) => {
    expect(problemsWith(changes)).toContain(problem);
    expect(problemsWith(changes)).toContain(`${FILE}: `);
  });

  test('for JSON that is none, with the place', () => {
    expect(problemsOf('{\n  "case_id": "a",\n  oops\n}')).toBe(
      `${FILE}: line 3, column 3: expected a name in double quotes, found "o"`,
    );
  });

  test('for a key that is there twice, of which one would not be looked at', () => {
    const text =
      '{"case_id": "a", "expected": {"answer": "\\"answer\\":"},\n "expected": {"completed": true}}';
    expect(problemsOf(text)).toBe(`${FILE}: line 2, column 2: "expected" is there twice`);
    const below = '{"case_id": "a", "expected": {"completed": true, "complete\\u0064": true}}';
    expect(problemsOf(below)).toContain('"complete\\u0064" is there twice');
    const apart = '{"case_id": "a", "tools": {"t": {"results": [{"ok": 1}, {"ok": 2}]}}';
    expect(problemsOf(`${apart}, "expected": {"completed": true}}`)).toBe('');
  });

  test('for a key that means the prototype', () => {
    const text = '{"case_id": "a", "tools": {"__proto__": {}}, "expected": {"completed": true}}';
    expect(problemsOf(text)).toBe(`${FILE}: tools.__proto__: unknown key`);
  });

  test('for depth that no case needs', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    expect(problemsOf(`{"case_id": "a", "task": {"constraints": ${deep}}}`)).toContain('nested');
  });

  test('for everything that is wrong with it at once, misspelt keys first', () => {
    const problems = problemsWith({ goal: 1, title: 2, extra: 3 }).split('\n');
    expect(problems).toEqual([
      `${FILE}: extra: unknown key`,
      `${FILE}: title: must be a text`,
      `${FILE}: goal: must be a text`,
    ]);
  });

  test('with a list that ends, however much is wrong', () => {
    const keys = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 1]));
    const problems = problemsWith(keys).split('\n');
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe(`${FILE}: and 280 more`);
  });
});
