/** What a call cannot use is refused before anything is asked: a misspelt filter would give an empty list, or all there is. */
import { clientOver } from '../../client/connect.js';
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

test.each(LISTS)(
  '%s of nothing, or of another kind, says which options there are',
  async (call) => {
    for (const [given, kind] of [
      [[], 'nothing'],
      [[null], 'null'],
      [['x'], 'a string'],
      [[[]], 'a list'],
    ] as const) {
      expect(await refusalOf('client', call, given)).toMatchObject({
        code: 'InvalidTask',
        message: `${call} takes an object of options, and got ${kind}.`,
        hint: expect.stringMatching(/^The options are .*limit/) as string,
        details: { path: 'query' },
      });
    }
  },
);

test.each(LISTS)('%s wants a limit that is a whole number from 1, or none', async (call) => {
  const limit = { code: 'InvalidTask', details: { path: 'limit' } };
  expect(await refusalOf('client', call, [{}])).toMatchObject({
    ...limit,
    message: `The option limit of ${call} is missing: it must be a whole number from 1.`,
  });
  for (const given of [0, -1, 2.5, NaN, '5', null]) {
    expect(await refusalOf('client', call, [{ limit: given }])).toMatchObject(limit);
  }
  const unlimited = await refusalOf('client', call, [{ limit: Infinity }]);
  expect(unlimited).not.toMatchObject({ code: 'InvalidTask' });
});

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
  ['client', 'follow', ['r1', null], 'options', /^The options are /],
  ['client', 'follow', [], 'runId', /^Correct runId/],
  ['client', 'followTree', ['r1', { childrenMax: '5' }], 'childrenMax', /^Correct/],
  ['client', 'handle', [], 'runId', /^Correct runId/],
  ['client', 'handle', [null], 'runId', /^Correct runId/],
  ['client', 'handle', [{ runId: 'r1' }], 'runId', /^Correct runId/],
  ['client', 'handle', [' '], 'runId', /^Correct runId/],
  ['client', 'handle', ['r1', 7], 'tenant', /^Correct tenant/],
  ['client', 'goal', [], 'goalId', /^Correct goalId/],
  ['client', 'forTenant', [], 'tenant', /^Correct tenant/],
  ['client', 'ownRun', [5], 'runId', /^Correct runId/],
  ['client', 'findAsk', [], 'askId', /^Correct askId/],
  ['client', 'session', [], 'sessionId', /^Correct sessionId/],
  ['client', 'transcript', [{}], 'id', /^Correct id/],
  ['client', 'waits', [], 'runId', /^Correct runId/],
  ['client', 'restartGoal', ['g1', null], 'options', /^Correct options/],
  ['client', 'workerCount', [5], 'queue', /^Correct queue/],
  ['handle', 'result', [{ timeout: 5 }], 'timeout', /^Did you mean timeoutMs\?/],
  ['handle', 'result', [{ timeoutMs: '5s' }], 'timeoutMs', /^Correct timeoutMs/],
  ['handle', 'result', [5_000], 'options', /^The options are timeoutMs, signal/],
  ['handle', 'outcome', [{ signal: new AbortController() }], 'signal', /^Correct signal/],
  ['handle', 'state', ['5'], 'limitMs', /^Correct limitMs/],
  ['handle', 'events', [{ untilNw: true }], 'untilNw', /^Did you mean untilNow\?/],
  ['handle', 'events', [{ since: '3' }], 'since', /^Correct since/],
  ['handle', 'stream', [{ after: 3 }], 'after', /^Correct after/],
  ['handle', 'approve', ['a1'], 'decider', /^Correct decider/],
  ['handle', 'approve', ['a1', { by: 'ann' }, { amout: 5 }], 'amout', /^Did you mean amount\?/],
  ['handle', 'sendMessage', ['Hi.', { attachment: [] }], 'message', /^Correct message/],
  ['goal', 'result', [{ timeout: 5 }], 'timeout', /^Did you mean timeoutMs\?/],
  ['goal', 'watch', [{ snce: 5 }], 'snce', /^Did you mean since\?/],
  ['goal', 'brief', ['2'], 'n', /^Correct n/],
  ['goal', 'steer', ['Go on.', { wak: true }], 'wak', /^Did you mean wake\?/],
  ['goal', 'steer', ['Go on.', null], 'options', /^The options are /],
  ['goal', 'pause', [{ role: ['lead'] }], 'role', /^Did you mean roles\?/],
  ['schedule', 'trigger', ['alow_all'], 'overlap', /^Did you mean allow_all\?/],
  ['schedule', 'backfill', [], 'span', /^Correct span/],
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
