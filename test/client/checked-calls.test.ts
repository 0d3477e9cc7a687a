/** What a call cannot use is refused before anything is asked: a misspelt filter would give an empty list, or all there is. */
import { clientOver } from '../../client/connect.js';
import type { AskDecision } from '../../client/index.js';
import type { Link } from '../../client/link.js';

const getHandle = () => ({});
/** Whoever asks it for more has not been refused. */
const link = { tenant: 'default', temporal: { workflow: { getHandle }, schedule: { getHandle } } };
const client = clientOver(link as unknown as Link, async () => undefined);

type Calls = { readonly [call: string]: (...given: readonly unknown[]) => unknown };
const places: { readonly [place: string]: Calls } = {
  client: client as unknown as Calls,
  handle: client.handle('r1') as unknown as Calls,
  goal: client.goal('g1') as unknown as Calls,
  schedule: client.schedule('s1') as unknown as Calls,
};

/** As a caller meets it: thrown at once, or how the promise ends. */
async function refusalOf(place: string, call: string, given: readonly unknown[]): Promise<unknown> {
  try {
    await places[place]![call]!(...given);
    return undefined;
  } catch (error) {
    return error;
  }
}

const LISTS = ['listRuns', 'joinedRuns', 'listGoals', 'listAsks', 'listSessions', 'stuckRuns'];

test.each(LISTS)('%s of nothing, or of another kind, says which fields there are', async (call) => {
  for (const given of [[], [null], ['x'], [[]]]) {
    const what = given.length === 0 ? 'is missing' : 'cannot be used';
    expect(await refusalOf('client', call, given)).toMatchObject({
      code: 'InvalidTask',
      message: `The argument query of ${call} ${what}: it must be an object.`,
      hint: expect.stringMatching(/^Give an object\. The fields are .*limit/) as string,
      details: { path: 'query' },
    });
  }
});

test.each(LISTS)('%s wants a limit that is a whole number from 1, or none', async (call) => {
  const limit = { code: 'InvalidTask', details: { path: 'limit' } };
  expect(await refusalOf('client', call, [{}])).toMatchObject({
    ...limit,
    message: `The option limit of ${call} is missing: it must be a whole number from 1, or Infinity.`,
  });
  for (const given of [0, -1, 2.5, NaN, '5', null]) {
    expect(await refusalOf('client', call, [{ limit: given }])).toMatchObject(limit);
  }
  const unlimited = await refusalOf('client', call, [{ limit: Infinity }]);
  expect(unlimited).not.toMatchObject({ code: 'InvalidTask' });
});

const BY = { by: 'ann' };
const DECIDED = { ...BY, askId: 'a1', decision: 'approve' };
/** Each field that a decision has. */
const WHOLE: Required<AskDecision> = {
  by: 'ann',
  roles: [],
  reason: 'Yes.',
  askId: 'a1',
  decision: 'replace',
  value: null,
  args: 1,
  tool: 'pay',
  allowing: { amount: 1 },
  decidedAt: 0,
  nonce: 'n',
  updateId: 'u',
  argsHash: 'f0',
  recorded: true,
};
const found = (more: object) => [{ limit: 5, ...more }];

test.each<[string, string, readonly unknown[], string, RegExp]>([
  ['client', 'listRuns', found({ stauts: 'running' }), 'stauts', /^Did you mean status\?/],
  ['client', 'listRuns', found({ status: 'runing' }), 'status', /^Did you mean running\?/],
  ['client', 'listRuns', found({ kind: 'goals' }), 'kind', /^Did you mean goal\?/],
  ['client', 'listRuns', found({ agent: 7 }), 'agent', /^Correct agent/],
  ['client', 'listRuns', found({ costFrom: '5' }), 'costFrom', /^Correct costFrom/],
  ['client', 'listRuns', found({ before: 'r1' }), 'before', /^Correct before/],
  ['client', 'listGoals', found({ status: 'terminated' }), 'status', /status/],
  ['client', 'listGoals', found({ kind: 'run' }), 'kind', /^The options are /],
  ['client', 'listAsks', found({ run: 'r1' }), 'run', /runId/],
  ['client', 'listAsks', found({ kinds: ['aproval'] }), 'kinds', /^Correct kinds/],
  ['client', 'listAsks', found({ pendingOnly: true }), 'pendingOnly', /^The options are /],
  ['client', 'listSessions', found({ callr: 'ann' }), 'callr', /^Did you mean caller\?/],
  ['client', 'stuckRuns', found({ allTenants: 'yes' }), 'allTenants', /^Correct/],
  ['client', 'follow', ['r1', { snce: 3 }], 'snce', /^Did you mean since\?/],
  ['client', 'follow', ['r1', null], 'options', /^Give an object\. The fields are since/],
  ['client', 'follow', ['r1', { since: Infinity }], 'since', /^Correct since/],
  ['client', 'follow', ['r1', { tokensSince: 0.5 }], 'tokensSince', /^Correct tokensSince/],
  ['client', 'follow', [], 'runId', /^Give /],
  ['client', 'followTree', ['r1', { childrenMax: '5' }], 'childrenMax', /^Correct/],
  ['client', 'handle', [], 'runId', /^Give /],
  ['client', 'handle', [null], 'runId', /^Give /],
  ['client', 'handle', [{ runId: 'r1' }], 'runId', /^Give /],
  ['client', 'handle', [' '], 'runId', /^Give /],
  ['client', 'handle', ['r1', 7], 'tenant', /^Give /],
  ['client', 'goal', [], 'goalId', /^Give /],
  ['client', 'forTenant', [], 'tenant', /^Give /],
  ['client', 'ownRun', [5], 'runId', /^Give /],
  ['client', 'findAsk', [], 'askId', /^Give /],
  ['client', 'session', [], 'sessionId', /^Give /],
  ['client', 'transcript', [{}], 'id', /^Give /],
  ['client', 'waits', [], 'runId', /^Give /],
  ['client', 'restartGoal', ['g1', null], 'options', /^Give an object/],
  ['client', 'workerCount', [5], 'queue', /^Give /],
  ['handle', 'result', [{ timeout: 5 }], 'timeout', /^Did you mean timeoutMs\?/],
  ['handle', 'result', [{ timeoutMs: '5s' }], 'timeoutMs', /^Correct timeoutMs/],
  ['handle', 'result', [5_000], 'options', /The fields are timeoutMs, signal/],
  ['handle', 'outcome', [{ signal: new AbortController() }], 'signal', /^Correct signal/],
  ['handle', 'state', ['5'], 'limitMs', /^Give /],
  ['handle', 'events', [{ untilNw: true }], 'untilNw', /^Did you mean untilNow\?/],
  ['handle', 'events', [{ since: '3' }], 'since', /^Correct since/],
  ['handle', 'stream', [{ after: 3 }], 'after', /^Correct after/],
  ['handle', 'approve', ['a1'], 'decider', /^Give an object\. The fields are by, roles, reason/],
  ['handle', 'approve', ['a1', { by: 'ann' }, { amout: 5 }], 'amout', /^Did you mean amount\?/],
  ...[
    ['approve'],
    ['reject'],
    ['modify', {}],
    ['replace', { tool: 'pay' }],
    ['answer', { kind: 'stop' }],
  ].map(([call, ...between]): [string, string, readonly unknown[], string, RegExp] => [
    'handle',
    call as string,
    ['a1', ...between, { by: 'ann', role: ['lead'] }],
    'role',
    /^Did you mean roles\?/,
  ]),
  ['handle', 'reject', ['a1', { by: 'ann', raeson: 'No.' }], 'raeson', /^Did you mean reason\?/],
  ['handle', 'reject', ['a1', { by: 'ann', roles: 'lead' }], 'roles', /^Correct roles/],
  ['handle', 'reject', ['a1', {}], 'by', /^Correct by/],
  ['handle', 'replace', ['a1', { tol: 'pay' }, BY], 'tol', /^Did you mean tool\?/],
  ['handle', 'answer', ['a1', { kind: 'happend' }, BY], 'kind', /^Did you mean happened\?/],
  [
    'handle',
    'answer',
    ['a1', 'Yes.', BY],
    'answer',
    /^Give an object\. The fields are kind, value/,
  ],
  ['handle', 'decideOn', [{ ...DECIDED, role: [] }], 'role', /^Did you mean roles\?/],
  [
    'handle',
    'decideOn',
    [{ ...DECIDED, decision: 'aprove' }],
    'decision',
    /^Did you mean approve\?/,
  ],
  ['handle', 'decideOn', [{ ...DECIDED, allowing: { amout: 5 } }], 'allowing', /^Correct allowing/],
  ['handle', 'decideOn', [{ decision: 'approve', by: 'ann' }], 'askId', /^Correct askId/],
  ['goal', 'approve', ['a1', { by: 'ann', role: ['lead'] }], 'role', /^Did you mean roles\?/],
  ['goal', 'say', [{ type: 'pause' }, { role: ['lead'] }], 'role', /^Did you mean roles\?/],
  ['goal', 'setBudget', [{ maxCycles: 5 }, { role: [] }], 'role', /^Did you mean roles\?/],
  ['goal', 'setPace', [{ every: 5 }, { role: [] }], 'role', /^Did you mean roles\?/],
  ['goal', 'handoffGoal', ['g2', { role: [] }], 'role', /^Did you mean roles\?/],
  [
    'handle',
    'sendMessage',
    ['Hi.', { attachment: [] }],
    'attachment',
    /^Did you mean attachments\?/,
  ],
  ['handle', 'sendMessage', ['Hi.', { attachments: 'x' }], 'attachments', /^Correct attachments/],
  ['handle', 'sendMessage', ['Hi.', 5], 'message', /^Give an id, or \{ id, attachments \}\./],
  ['goal', 'result', [{ timeout: 5 }], 'timeout', /^Did you mean timeoutMs\?/],
  ['goal', 'watch', [{ snce: 5 }], 'snce', /^Did you mean since\?/],
  ['goal', 'brief', ['2'], 'n', /^Give /],
  ['goal', 'steer', ['Go on.', { wak: true }], 'wak', /^Did you mean wake\?/],
  ['goal', 'steer', ['Go on.', null], 'options', /The fields are by, id, roles, wake/],
  ['goal', 'pause', [{ role: ['lead'] }], 'role', /^Did you mean roles\?/],
  ['schedule', 'trigger', ['alow_all'], 'overlap', /^Did you mean allow_all\?/],
  ['schedule', 'backfill', [], 'span', /^Give /],
])('%s: %s(%j) is refused by %s', async (place, call, given, path, hint) => {
  expect(await refusalOf(place, call, given)).toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining(path) as string,
    hint: expect.stringMatching(hint) as string,
    details: { path },
  });
});

test('what fits, or is left out, is asked of the store', async () => {
  const asked: unknown[] = [];
  const store = {
    listSessions: async (...given: unknown[]) => {
      asked.push(...given);
      return [];
    },
  };
  const own = clientOver({ ...link, store } as unknown as Link, async () => undefined);
  const query = { limit: 3, caller: 'ann', before: { updatedAt: 1, sessionId: 's' } };
  await expect(own.listSessions(query)).resolves.toEqual([]);
  expect(asked).toEqual(['default', query]);
});

test('an argument is called an argument, and an option an option', async () => {
  expect(await refusalOf('client', 'handle', [])).toMatchObject({
    message: 'The argument runId of handle is missing: it must be a text that is not blank.',
    hint: 'Give a text that is not blank.',
  });
  expect(await refusalOf('client', 'handle', ['r1', 7])).toMatchObject({
    message: 'The argument tenant of handle cannot be used: it must be a text that is not blank.',
  });
});

test.each<[string, string, readonly unknown[]]>([
  ['client', 'follow', ['r1', { tokensSince: Infinity }]],
  ['client', 'followTree', ['r1', { tokensSince: Infinity }]],
  ['handle', 'sendMessage', ['Hi.', { id: 'm1', attachment: undefined }]],
  ['handle', 'sendMessage', ['Hi.', null]],
  ['handle', 'sendMessage', ['Hi.', 'm1']],
  ['handle', 'sendMessage', ['Hi.']],
  ['handle', 'reject', ['a1', { by: 'ann', roles: ['lead'], reason: '', role: undefined }]],
  ['handle', 'decideOn', [WHOLE]],
  ['handle', 'answer', ['a1', { kind: 'text', value: null }, { by: 'ann' }]],
  ['goal', 'say', [{ type: 'pause' }, { by: 'ann', roles: [], id: 'm1' }]],
])('%s: %s(%j) is taken', async (place, call, given) => {
  const refused = await refusalOf(place, call, given);
  expect((refused as { code?: string } | undefined)?.code).not.toBe('InvalidTask');
});
