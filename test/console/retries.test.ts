/** Requests that are sent again, when what holds for now has changed, or the answer was lost. */
import { parseConsole } from '../../authoring/index.js';
import type { AskDecision } from '../../client/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { owedRows } from '../../console/owed.js';
import { ownName } from '../../console/http/own-name.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { askView, eventsFrom, SESSION_INIT } from '../store/fixtures.js';

let store: MemoryStore;
/** What becomes of each try; nothing: it is delivered. */
let failures: (HoldfastError | undefined)[];
let tries: AskDecision[];
let now: number;
/** No worker says at once what becomes of a decision. */
let isSilent: boolean;

beforeEach(async () => {
  store = await openMemoryStore();
  failures = [];
  tries = [];
  now = 1_000;
  isSilent = false;
});
afterEach(() => store.close());

const failure = (code: ErrorCode, reason?: string) =>
  new HoldfastError(code, 'No.', { hint: 'Again.', ...(reason && { details: { reason } }) });

/** The desk over a run that answers as the test says: what is on the way to it is not looked at here. */
function desk() {
  const next = () => {
    now += 10;
    const failed = failures.shift();
    if (failed !== undefined) throw failed;
  };
  const run = {
    async decideOn(wanted: AskDecision) {
      tries.push(wanted);
      next();
      if (isSilent) return { delivered: 'signal' };
      return { delivered: 'update', verdict: { accepted: true, outcome: 'approved' } };
    },
    answer: async () => {
      next();
      return { delivered: 'signal' };
    },
    interrupt: async () => next(),
    sendMessage: async () => next(),
  };
  const person = { id: 'mia', name: 'Mia', tenant: 'default', roles: ['r'], via: 'jwt' } as const;
  const app = createApp({
    desk: {
      store,
      client: { forTenant: () => ({ ownRun: async () => run }) },
      settings: parseConsole({}),
      clock: () => now,
      say: () => undefined,
      owed: owedRows(store, () => undefined),
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [async () => ({ ok: true, person })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  return async (path: string, body: object) => {
    const reply = await app.request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: 'Bearer x',
        'content-type': 'application/json',
        'idempotency-key': 'always-the-same',
      },
    });
    return {
      status: reply.status,
      body: (await reply.json()) as Record<string, unknown>,
      replayed: reply.headers.get('idempotent-replayed'),
    };
  };
}

async function events(...bodies: Parameters<typeof eventsFrom>[1]): Promise<void> {
  const all = eventsFrom(0, [SESSION_INIT, ...bodies]);
  await store.appendEvents({ tenant: 'default', runId: 'r1', execution: 'e1' }, all);
}

const kinds = async () =>
  (await store.readAudit('default', { limit: 100 })).map(({ kind }) => kind);

const ASKED = { ...askView('r1:0'), argsHash: 'f'.repeat(64) };
const decide = () =>
  desk()('/v1/approvals/r1%3A0/decisions', { decision: 'approve', argsHash: ASKED.argsHash });

test.each(['busy', 'unknown_ask', 'unknown_key'])(
  'a decision that was refused as %s is looked at again, as the same decision',
  async (reason) => {
    await events({ type: 'approval_requested', ...ASKED });
    failures = [failure('DecisionRejected', reason), failure('DecisionRejected', reason)];
    expect(await decide()).toMatchObject({ status: 409, body: { code: reason } });
    expect(await decide()).toMatchObject({ status: 409, body: { code: reason } });
    expect(await decide()).toMatchObject({ status: 200 });
    expect(await decide()).toMatchObject({ status: 200 });
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map(({ nonce }) => nonce)).size).toBe(1);
    expect(new Set(tries.map(({ decidedAt }) => decidedAt)).size).toBe(1);
    // Under a name that it has answered the run would say the same for ever.
    expect(new Set(tries.map(({ updateId }) => updateId)).size).toBe(3);
  },
);

test('a try whose answer was lost is asked for under its own name', async () => {
  await events({ type: 'approval_requested', ...ASKED });
  failures = [failure('DecisionRejected', 'busy'), failure('ServerUnavailable')];
  expect(await decide()).toMatchObject({ status: 409 });
  expect(await decide()).toMatchObject({ status: 503 });
  expect(await decide()).toMatchObject({ status: 200 });
  expect(tries[2]?.updateId).toBe(tries[1]?.updateId);
});

test('what a decision came to for good is kept', async () => {
  await events({ type: 'approval_requested', ...ASKED });
  failures = [failure('DecisionRejected', 'already_decided')];
  const first = await decide();
  expect(first).toMatchObject({ status: 409, body: { code: 'already_decided', hint: 'Again.' } });
  expect(first.replayed).toBeNull();
  expect(await decide()).toEqual({ ...first, replayed: 'true' });
  expect(tries).toHaveLength(1);
});

describe('a decision that was sent, and that the run has refused since', () => {
  const refused = (reason: string, code: string, more: object = {}) =>
    events({ type: 'approval_requested', ...ASKED }, {
      type: 'warning',
      code,
      message: 'Ignored.',
      about: {
        askId: 'r1:0',
        decision: 'approve',
        by: 'mia',
        argsHash: ASKED.argsHash,
        reason,
        nonce: tries[0]?.nonce,
        ...more,
      },
    } as never);

  beforeEach(async () => {
    isSilent = true;
    await events({ type: 'approval_requested', ...ASKED });
    expect(await decide()).toMatchObject({ status: 202, body: { state: 'sent' } });
  });

  test.each([
    ['late', 'approval_late'],
    ['role_missing', 'decision_ignored'],
    ['already_decided', 'decision_ignored'],
  ])('is told so when it is sent again: %s', async (reason, code) => {
    await refused(reason, code);
    const told = { status: 409, body: { code: reason } };
    expect(await decide()).toMatchObject(told);
    expect(await decide()).toMatchObject({ ...told, replayed: 'true' });
    expect(tries).toHaveLength(1);
  });

  test('is told so however much the trail has of the run', async () => {
    const seen = { at: 1, kind: 'seen', by: 'bob', runId: 'r1', facts: {} } as const;
    for (let page = 0; page < 3; page += 1) {
      await store.appendAudit('default', Array<typeof seen>(500).fill(seen));
    }
    await refused('late', 'approval_late');
    expect(await decide()).toMatchObject({ status: 409, body: { code: 'late' } });
  });

  test.each([
    ['another person', 'late', { by: 'bob' }],
    ['another action', 'late', { argsHash: 'e'.repeat(64) }],
    ['another decision of theirs', 'late', { nonce: 'n' }],
    ['the same decision, heard once more', 'unknown_ask', {}],
  ])('has its answer all the same when the refusal is that of %s', async (_, reason, more) => {
    await refused(reason, 'decision_ignored', more);
    expect(await decide()).toMatchObject({ status: 202, replayed: 'true' });
  });
});

test('an answer that is sent again has the same answer, also after it was taken', async () => {
  const question = { ...ASKED, kind: 'input' } as const;
  const answer = () => desk()('/v1/questions/r1%3A0/answers', { value: 'blue' });
  await events({ type: 'approval_requested', ...question });
  const first = await answer();
  expect(first).toMatchObject({ status: 202 });
  await events({ type: 'approval_requested', ...question }, {
    type: 'approval_resolved',
    askId: 'r1:0',
    outcome: 'answered',
    by: ['mia'],
  } as never);
  expect(await store.getAsk('default', 'r1:0')).toMatchObject({ outcome: 'answered' });
  expect(await answer()).toEqual({ ...first, replayed: 'true' });
});

const QUESTION = { ...ASKED, kind: 'input' } as const;
const answerBlue = () => desk()('/v1/questions/r1%3A0/answers', { value: 'blue' });

/** The question is answered, and this is what the model reads. */
const answeredWith = (text: string, by: string) =>
  events(
    { type: 'approval_requested', ...QUESTION },
    { type: 'approval_resolved', askId: 'r1:0', outcome: 'answered', by: [by] } as never,
    { type: 'tool_finished', callId: 'c1', status: 'ok', content: { text } } as never,
  );

test.each([
  ['another person', 'blue', 'bob'],
  ['the same person with other words', 'red', 'mia'],
])(
  'an answer that is sent again is refused, when that of %s was read after all',
  async (_, text, by) => {
    await events({ type: 'approval_requested', ...QUESTION });
    expect(await answerBlue()).toMatchObject({ status: 202 });
    await answeredWith(text, by);
    const refused = { status: 409, body: { code: 'already_decided' } };
    expect(await answerBlue()).toMatchObject(refused);
    expect(await answerBlue()).toMatchObject({ ...refused, replayed: 'true' });
  },
);

test('an answer that was read counts for the one who sends it again, also when the word on it was lost', async () => {
  await events({ type: 'approval_requested', ...QUESTION });
  failures = [failure('ServerUnavailable')];
  expect(await answerBlue()).toMatchObject({ status: 503 });
  await answeredWith('blue', 'mia');
  const counts = { status: 200, body: { state: 'decided', outcome: 'answered' } };
  expect(await answerBlue()).toMatchObject(counts);
  expect(await answerBlue()).toMatchObject({ ...counts, replayed: 'true' });
});

test.each([
  ['interrupt', {}, 'interrupted'],
  ['messages', { text: 'Hello.' }, 'message_sent'],
])('the trail says of %s when a run did not get it', async (path, body, kind) => {
  await events();
  failures = [failure('RunNotFound')];
  expect(await desk()(`/v1/runs/r1/${path}`, body)).toMatchObject({ status: 409 });
  expect(await kinds()).toEqual([kind, 'decision_refused']);
  expect(await desk()(`/v1/runs/r1/${path}`, body)).toMatchObject({ status: 202 });
  expect(await kinds()).toEqual([kind, 'decision_refused', kind]);
});

test.each([
  ['this very decision', 'mia', 'always-the-same', 200],
  ['another decision of this person', 'mia', 'another', 409],
  ['a decision of somebody else', 'bob', 'always-the-same', 409],
])(
  'a decision that comes again to a run that has ended and that counted %s: %s, %s, %i',
  async (_what, by, key, status) => {
    const id = { id: by, tenant: 'default', via: 'jwt' } as never;
    const facts = { via: 'run', nonce: ownName(id, key), argsHash: ASKED.argsHash };
    const resolved = { type: 'approval_resolved', askId: 'r1:0', callId: 'c1' } as const;
    const counted = { ...resolved, outcome: 'approved', by: [by] } as never;
    await events({ type: 'approval_requested', ...ASKED }, counted);
    const row = { at: 5, kind: 'decided', by, runId: 'r1', askId: 'r1:0', facts } as const;
    await store.appendAudit('default', [row]);
    failures = [failure('DecisionRejected', 'run_closing')];
    expect((await decide()).status).toBe(status);
  },
);

test('a decision that its own person has corrected since does not count when it comes again to a run that has ended', async () => {
  const id = { id: 'mia', tenant: 'default', via: 'jwt' } as never;
  const nonce = ownName(id, 'always-the-same');
  const resolved = { type: 'approval_resolved', askId: 'r1:0', callId: 'c1' } as const;
  const counted = { ...resolved, outcome: 'rejected', by: ['mia'] } as never;
  await events({ type: 'approval_requested', ...ASKED }, counted);
  const about = { at: 5, by: 'mia', runId: 'r1', askId: 'r1:0' } as const;
  const facts = { nonce, argsHash: ASKED.argsHash };
  await store.appendAudit('default', [
    { ...about, kind: 'decided', facts: { ...facts, via: 'run' } },
    { ...about, kind: 'decision_refused', facts: { ...facts, reason: 'already_decided' } },
  ]);
  failures = [failure('DecisionRejected', 'run_closing')];
  expect((await decide()).status).toBe(409);
});
