/** Goals in the API: what is told of them, what stands behind their evidence, and what people say to them. */
import { parseConsole } from '../../authoring/index.js';
import { joinerOver } from '../../client/read/joiner.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { owedRows } from '../../console/owed.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { views } from '../../console/trail.js';
import { planChanges } from '../../console/goals/goal-card.js';
import { RECEIVED } from '../../core/goal/verdicts.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalView } from '../../core/state/goal/view.js';
import type { PlanStep } from '../../core/state/goal/memory.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { askView, eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { GOAL, OBJECTIVE, storeGoal } from './stored-goal.js';

let store: MemoryStore;
let view: GoalView | undefined;
let told: { readonly said: string; readonly args: readonly unknown[] }[];
let failure: HoldfastError | undefined;
/** What the goal says to what it takes. */
let message: string | undefined;

beforeEach(async () => {
  store = await openMemoryStore();
  told = [];
  failure = undefined;
  message = undefined;
  view = undefined;
});
afterEach(() => store.close());

/** The desk over a goal that takes what it is told: what is on the way to it is not looked at here. */
function desk({ tenant = 'default', roles = ['r'], access = {}, deciders = [] as string[] } = {}) {
  const goal = new Proxy(
    { state: async () => view ?? Promise.reject(new Error('no worker')) } as object,
    {
      get: (target, name) =>
        Reflect.get(target, name) ??
        (async (...args: readonly unknown[]) => {
          if (failure !== undefined) throw failure;
          told.push({ said: String(name), args });
          const who = args.at(-1) as { readonly id: string };
          return { delivered: 'update', id: who.id, ...(message !== undefined && { message }) };
        }),
    },
  );
  const person = { id: 'rita', name: 'Rita', tenant, roles, via: 'jwt' } as const;
  const app = createApp({
    desk: {
      store,
      client: {
        namespace: 'default',
        forTenant: () => ({
          ownRun: async () => undefined,
          goal: () => goal,
          ...joinerOver({ store, tenant, client: async () => 'No server answers.' }),
        }),
      },
      settings: parseConsole({ access }),
      deciders,
      tools: [],
      clock: Date.now,
      say: () => undefined,
      views: views(),
      owed: owedRows(store, () => undefined),
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [async () => ({ ok: true, person })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
  const reply = async (response: Response | Promise<Response>) => {
    const { status, body } = {
      status: (await response).status,
      body: await (await response).json(),
    };
    return { status, body: body as Record<string, never> };
  };
  return {
    get: (path: string) => reply(app.request(path, { headers })),
    post: (path: string, body: object, key = 'request-1') =>
      reply(
        app.request(path, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { ...headers, 'idempotency-key': key },
        }),
      ),
  };
}

const at = (more = '') => `/v1/goals/${GOAL}${more}`;
const evidenceAt = (id: string) => at(`/evidence?id=${encodeURIComponent(id)}`);
const BY_PEOPLE = ['goal_told', 'decision_refused', 'access_denied'];
const trail = async () =>
  (await store.readAudit('default', { limit: 100 })).filter(({ kind }) => BY_PEOPLE.includes(kind));

test('goals are listed apart from runs, with what they have spent, page by page', async () => {
  await storeGoal(store);
  await storeGoal(store, { goalId: 'second' });
  const first = await desk().get('/v1/goals?limit=1');
  expect(first.body).toMatchObject({
    items: [{ goalId: 'second', objective: OBJECTIVE, spentMicroUsd: 74_000 }],
    next: expect.any(String),
  });
  const rest = await desk().get(`/v1/goals?limit=1&cursor=${String(first.body.next)}`);
  expect(rest.body).toMatchObject({ items: [{ goalId: GOAL, budgetMicroUsd: 1_000_000 }] });
  expect((await desk().get('/v1/goals?status=awaiting_approval')).body).toMatchObject({
    items: [{ goalId: 'second' }, { goalId: GOAL }],
  });
  expect((await desk().get('/v1/goals?agent=nobody')).body).toEqual({ items: [] });
  const runs = (await desk().get('/v1/runs')).body as unknown as { items: { runId: string }[] };
  expect(runs.items.map(({ runId }) => runId)).not.toContain(GOAL);
});

test('under the address of a run a goal says that the id is that of a goal', async () => {
  await storeGoal(store);
  expect((await desk().get(`/v1/runs/${GOAL}`)).body).toMatchObject({ kind: 'goal' });
  expect((await desk().get(`/v1/runs/${GOAL}:c1`)).body).not.toHaveProperty('kind');
});

test('a goal hears nothing that is said to runs: the refusal names where goals are told', async () => {
  await storeGoal(store);
  const said = [
    { word: 'interrupt', body: {} },
    { word: 'messages', body: { text: 'Go on.' } },
  ];
  for (const { word, body } of said) {
    expect(await desk().post(`/v1/runs/${GOAL}/${word}`, body)).toMatchObject({
      status: 409,
      body: { code: 'not_applicable', hint: expect.stringContaining(at('/stop')) },
    });
  }
  const kinds = (await store.readAudit('default', { limit: 100 })).map(({ kind }) => kind);
  expect(kinds).not.toContain('interrupted');
  expect(kinds).not.toContain('message_sent');
});

test('a goal comes with its definition and memory, also while no worker answers', async () => {
  const { view: live } = await storeGoal(store);
  const away = await desk().get(at());
  expect(away.body).toMatchObject({
    goalId: GOAL,
    definition: { objective: OBJECTIVE, constraints: ['Nothing is paid.'] },
    record: {
      plan: { revision: 3, steps: [{ id: 'list', evidence: ['c1/look'] }, {}, {}] },
      reviews: [{ n: 1, decision: 'go_on' }],
      childRuns: [{ runId: 'invoices:c1' }],
      notes: [{ text: 'Supplier 17 pays late.' }],
      log: [{ kind: 'progress' }, { kind: 'person' }],
    },
    pending: [{ askId: 'invoices:g1' }],
  });
  expect(away.body).not.toHaveProperty('view');
  view = live;
  expect((await desk().get(at())).body).toMatchObject({
    view: { status: 'sleeping', reservedMicroUsd: 0, budget: { maxCycles: 10 } },
  });
  // The id may be another tenant's in Temporal.
  view = { ...live, tenant: 'other' };
  expect((await desk().get(at())).body).not.toHaveProperty('view');
});

test('nothing of another tenant is told, and a run is no goal', async () => {
  await storeGoal(store);
  await store.appendEvents(
    { tenant: 'default', runId: 'r1', execution: 'e1' },
    eventsFrom(0, [SESSION_INIT]),
  );
  for (const path of ['', '/events', '/brief', '/evidence?id=c1%2Flook', '/stream']) {
    expect([path, (await desk({ tenant: 'other' }).get(at(path))).status]).toEqual([path, 404]);
    expect([path, (await desk().get(`/v1/goals/r1${path}`)).status]).toEqual([path, 404]);
  }
  expect((await desk({ tenant: 'other' }).post(at('/wake'), {})).status).toBe(404);
  expect(told).toEqual([]);
});

test('events come from a number on', async () => {
  await storeGoal(store);
  const { body } = await desk().get(at('/events?since=2&limit=2'));
  expect(body).toMatchObject({ events: [{ type: 'plan_changed' }, { type: 'cycle_started' }] });
});

test('the brief of a cycle: what was said to the agent, what was quoted, tokens by section', async () => {
  await storeGoal(store);
  const newest = (await desk().get(at('/brief'))).body;
  expect(newest).toMatchObject({
    n: 2,
    runId: 'invoices:c2',
    tokens: 51,
    sections: { objective: 9, people: 12, notes: 30 },
    task: expect.stringContaining('rita (proven) says'),
    context: [{ origin: 'note', cycle: 1, by: 'clerk', text: 'Supplier 17 pays late.' }],
  });
  expect((await desk().get(at('/brief?n=1'))).body).toMatchObject({ n: 1 });
  expect((await desk().get(at('/brief?n=9'))).status).toBe(404);
  const digest = String(newest.hash);
  expect((await desk().get(at(`/brief?digest=${digest}`))).body).toMatchObject({ hash: digest });
  // The store has other texts too, which are no briefs.
  const { $blob: other } = await store.putBlob('default', '{"secret":1}');
  expect((await desk().get(at(`/brief?digest=${other}`))).status).toBe(404);
});

test('a brief is shown of the goal that a question or a cycle of it names, of no other', async () => {
  await storeGoal(store);
  const text = JSON.stringify({ task: { goal: 'Pay them all.' }, context: [] });
  const { $blob: digest } = await store.putBlob('default', text);
  expect((await desk().get(at(`/brief?digest=${digest}`))).status).toBe(404);
  const asked = { n: 3, agent: 'clerk', brief: digest, slice: {} };
  const card = { type: 'approval_requested', ...askView(`${GOAL}:g7`), args: asked } as const;
  await storeGoal(store, { goalId: 'other', extra: [card] });
  const named = `/v1/goals/other/brief?digest=${digest}`;
  expect((await desk().get(`${named}&n=3`)).body).toMatchObject({ task: 'Pay them all.' });
  expect((await desk().get(`${named}&n=2`)).status).toBe(404);
  expect((await desk().get(at(`/brief?digest=${digest}`))).status).toBe(404);
});

test('what the goal has and has not looked at is sent, not taken', async () => {
  await storeGoal(store);
  ({ message } = RECEIVED);
  expect(await desk().post(at('/plan'), { steps: [], revision: 3 })).toMatchObject({
    status: 202,
    body: { state: 'sent', message },
  });
  message = 'Paused already.';
  expect(await desk().post(at('/pause'), {}, 'request-2')).toMatchObject({
    status: 200,
    body: { state: 'taken', message },
  });
});

test('behind an id of evidence stands the call with its row of the ledger', async () => {
  await storeGoal(store);
  expect((await desk().get(evidenceAt('c1/write'))).body).toEqual({
    id: 'c1/write',
    kind: 'call',
    runId: 'invoices:c1',
    cycle: 1,
    at: expect.any(Number),
    seq: 4,
    tool: 'books.write',
    args: { month: 3 },
    content: { text: '{"matched":5}' },
    ledger: {
      key: 'invoices:c1:write:1',
      state: 'recorded',
      attempt: 1,
      tool: 'books.write',
      source: 'tool',
    },
  });
  expect((await desk().get(evidenceAt('c1/look'))).body).not.toHaveProperty('ledger');
  expect((await desk().get(evidenceAt('effect/invoices:c1:write:1'))).body).toMatchObject({
    kind: 'effect',
    tool: 'books.write',
    ledger: { state: 'recorded' },
    args: { month: 3 },
  });
});

test('behind it stands the check with its whole result, or the answer of a person', async () => {
  const goal = await storeGoal(store);
  expect((await desk().get(evidenceAt('check/open_invoices/2'))).body).toMatchObject({
    kind: 'check',
    runId: GOAL,
    check: { value: 7, best: 7, known: true },
    content: { text: '{"count":7,"oldest":"2026-01-03"}' },
  });
  await goal.tell({
    type: 'approval_resolved',
    askId: 'invoices:g1',
    outcome: 'approved',
    by: ['rolf'],
    waitedMs: 5,
  });
  expect((await desk().get(evidenceAt('ask/invoices:g1'))).body).toMatchObject({
    kind: 'ask',
    ask: { outcome: 'approved', by: ['rolf'], question: 'Start cycle 3 of the goal?' },
  });
});

test.each([
  ['a call of a goal tool', 'c1/plan'],
  ['a call that is not there', 'c1/none'],
  ['a cycle that the goal has not registered', 'c7/look'],
  ['no id at all', 'everything'],
  ['another goal that this one does not go on with', 'second#c1/look'],
  ['an effect of another goal', 'effect/second:c1:write:1'],
  ['an answer to another goal', 'ask/second:g1'],
])('no evidence is %s', async (_, id) => {
  await storeGoal(store);
  await storeGoal(store, { goalId: 'second' });
  expect((await desk().get(evidenceAt(id))).status).toBe(404);
});

const STEP = { id: 'rest', title: 'Ask about the rest' };

test.each([
  ['steer', { text: 'Start with the oldest.', wake: true }, 'steer'],
  ['pause', {}, 'pause'],
  ['resume', {}, 'resume'],
  ['wake', {}, 'wake'],
  ['review', { objectiveValid: true, because: 'Still wanted.' }, 'review'],
  ['budget', { budget: { maxCostMicroUsd: 2_000_000 } }, 'setBudget'],
  ['plan', { steps: [STEP], revision: 3 }, 'setPlan'],
  ['pace', { pace: { everyMs: 60_000 } }, 'setPace'],
  ['stop', {}, 'stop'],
  ['cancel', {}, 'cancel'],
])('%s is said to the goal once, by whom is in the trail', async (path, body, said) => {
  await storeGoal(store);
  const first = await desk().post(at(`/${path}`), body);
  expect(first).toMatchObject({ status: 200, body: { goalId: GOAL, state: 'taken' } });
  expect(await desk().post(at(`/${path}`), body)).toEqual(first);
  expect(told.map((one) => one.said)).toEqual([said]);
  expect(told[0]?.args.at(-1)).toMatchObject({
    by: 'rita',
    roles: ['r'],
    id: String(first.body.messageId),
  });
  expect(await trail()).toMatchObject([
    {
      kind: 'goal_told',
      by: 'rita',
      runId: GOAL,
      facts: { type: said, messageId: String(first.body.messageId) },
    },
  ]);
});

test('a message that the goal refuses is told, and is in the trail as refused', async () => {
  await storeGoal(store);
  failure = new HoldfastError('StalePlan', 'The plan has changed.', {
    hint: 'Look at the plan again.',
    details: { reason: 'stale_plan' },
  });
  const stale = await desk().post(at('/plan'), { steps: [], revision: 1 });
  expect(stale).toMatchObject({ status: 409, body: { code: 'stale_plan' } });
  failure = new HoldfastError('MessageRefused', 'No.', {
    hint: 'Let another person say it.',
    details: { reason: 'role_missing' },
  });
  const budget = { budget: { maxCostMicroUsd: 9 } };
  const refused = await desk().post(at('/budget'), budget, 'request-2');
  expect(refused).toMatchObject({ status: 403, body: { code: 'role_missing' } });
  expect(await trail()).toMatchObject([
    { kind: 'goal_told' },
    { kind: 'decision_refused', facts: { decision: 'setPlan', reason: 'stale_plan' } },
    { kind: 'goal_told', facts: { said: budget } },
    { kind: 'decision_refused', facts: { decision: 'setBudget', reason: 'role_missing' } },
    { kind: 'access_denied' },
  ]);
});

test.each([
  ['steer', { text: ' ' }],
  ['steer', { text: 'x'.repeat(4_001) }],
  ['budget', { budget: {} }],
  ['budget', { budget: { maxTurns: 5 } }],
  ['plan', { steps: [{ id: 'a', title: '' }] }],
  ['pace', { pace: { everyMs: 0 } }],
  ['wake', { because: 'now' }],
])('what no goal can take is refused before anything is noted: %s %j', async (path, body) => {
  await storeGoal(store);
  expect((await desk().post(at(`/${path}`), body)).status).toBe(400);
  expect([told, await trail()]).toEqual([[], []]);
});

test('goals are steered by those who decide, or by the roles that the configuration names', async () => {
  await storeGoal(store);
  const status = async (rights: Parameters<typeof desk>[0], path = '/wake') =>
    (await desk(rights).post(at(path), {}, `request-${JSON.stringify(rights)}${path}`)).status;
  expect(await status({ roles: ['clerk'], deciders: ['manager'] })).toBe(403);
  expect(await status({ roles: ['manager'], deciders: ['manager'] })).toBe(200);
  const named = { access: { steer: ['owner'], interrupt: ['chief'] }, deciders: ['manager'] };
  expect(await status({ ...named, roles: ['manager'] })).toBe(403);
  expect(await status({ ...named, roles: ['owner'] })).toBe(200);
  // Ending a goal is as stopping a run.
  expect(await status({ ...named, roles: ['owner'] }, '/stop')).toBe(403);
  expect(await status({ ...named, roles: ['chief'] }, '/stop')).toBe(200);
});

test('the card of a cycle says which cycle, agent, brief and money; nothing of it stands in a task', async () => {
  await storeGoal(store);
  const { body } = await desk().get('/v1/inbox/invoices%3Ag1');
  expect(body).toMatchObject({
    question: 'Start cycle 3 of the goal?',
    goal: {
      about: 'cycle',
      objective: OBJECTIVE,
      cycle: 3,
      agent: 'clerk',
      brief: 'b'.repeat(64),
      slice: { maxCostMicroUsd: 100_000 },
    },
  });
  expect((await desk().get('/v1/inbox/invoices%3Ag1/grounds')).body).toMatchObject({
    origins: [],
    sources: [],
  });
});

test('the card of a question that expired names who had approved it, where more had to', async () => {
  const goal = await storeGoal(store, { asks: false });
  await goal.tell(
    { type: 'approval_requested', ...askView('invoices:g2', { quorum: 2 }) },
    {
      type: 'approval_resolved',
      askId: 'invoices:g2',
      outcome: 'expired',
      by: ['ana'],
      waitedMs: 9,
    },
  );
  const { body } = await desk().get('/v1/inbox/invoices%3Ag2');
  expect(body).toMatchObject({ outcome: 'expired', by: [], approvedBy: ['ana'] });
});

test('the card of a changed plan shows what would change', async () => {
  const goal = await storeGoal(store, { asks: false });
  const proposed = await store.putBlob(
    'default',
    JSON.stringify({
      v: 1,
      plan: {
        revision: 4,
        steps: [{ id: 'list', title: 'List all', status: 'done', by: 'agent' }],
      },
    }),
  );
  await goal.tell({
    type: 'approval_requested',
    askId: 'invoices:g2',
    kind: 'approval',
    question: 'agent wants to change the plan.',
    args: { memory: proposed.$blob, open: 0, done: 1 },
    argsHash: 'a'.repeat(64),
    roles: [],
    quorum: 1,
    policyVersion: 'p1',
    openedAt: 1,
    expiresAt: Date.now() + 60_000,
  });
  expect((await desk().get('/v1/inbox/invoices%3Ag2')).body).toMatchObject({
    goal: {
      about: 'plan_change',
      plan: [
        { id: 'list', change: 'changed', after: { title: 'List all' } },
        { id: 'match', change: 'dropped' },
        { id: 'rest', change: 'dropped' },
      ],
    },
  });
});

test('steps that are alike are none of a change', () => {
  const one: PlanStep = { id: 'a', title: 'A', status: 'open', by: 'agent' };
  expect(planChanges([one], [{ ...one, by: 'rita' }])).toEqual([]);
  expect(planChanges([], [one])).toEqual([
    { id: 'a', change: 'added', after: { title: 'A', status: 'open' } },
  ]);
});
