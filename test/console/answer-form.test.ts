/** An answer that does not fit the form of its question is no answer: the trail has the refusal alone. */
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { decisionEndpoints } from '../../console/routes/decisions.js';
import type { AuditEntry } from '../../pure/audit.js';

const ASK = {
  tenant: 'default',
  askId: 'r:0',
  runId: 'r',
  kind: 'input',
  outcome: 'pending',
  argsHash: '0'.repeat(64),
  roles: [],
  quorum: 1,
  policyVersion: '1',
  openedAt: 0,
  expiresAt: 1,
  by: [],
  elicitation: {
    connector: 'crm',
    message: 'Who?',
    mode: 'form',
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};

function appWith() {
  const trail: AuditEntry[] = [];
  const answered: unknown[] = [];
  const store = {
    getAsk: async () => ASK,
    takeRequest: async () => ({ kind: 'new', at: 0, refusals: 0 }),
    answerRequest: async () => undefined,
    noteRefusal: async () => undefined,
    appendAudit: async (_: string, entries: readonly AuditEntry[]) => void trail.push(...entries),
  };
  const run = {
    answer: async (_: string, { value }: { readonly value: unknown }) => {
      answered.push(value);
      return { delivered: 'update', verdict: { accepted: true, outcome: 'answered' } };
    },
  };
  const client = { forTenant: () => ({ ownRun: async () => run }) };
  const app = createApp({
    desk: {
      store,
      client,
      settings: parseConsole({}),
      clock: () => 0,
      say: () => undefined,
    } as unknown as Desk,
    endpoints: decisionEndpoints,
    logins: [
      async () => ({
        ok: true,
        person: { id: 'mia', name: 'mia', tenant: 'default', roles: ['r'], via: 'jwt' },
      }),
    ],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  const answer = async (value: unknown) =>
    await app.request('/v1/questions/r:0/answers', {
      method: 'POST',
      body: JSON.stringify({ value }),
      headers: {
        authorization: 'Bearer x',
        'content-type': 'application/json',
        'idempotency-key': 'answer-1',
      },
    });
  return { answer, trail, answered };
}

test('what does not fit is refused, and in the trail as that alone', async () => {
  const { answer, trail, answered } = appWith();
  const reply = await answer({ name: 7 });
  expect(reply.status).toBe(409);
  expect(await reply.json()).toMatchObject({ code: 'malformed' });
  expect(trail).toMatchObject([
    { kind: 'decision_refused', facts: { decision: 'answer', reason: 'malformed' } },
  ]);
  expect(answered).toEqual([]);
});

test('what fits is in the trail as an answer before it is sent', async () => {
  const { answer, trail, answered } = appWith();
  expect((await answer({ name: 'Ann' })).status).toBe(200);
  expect(trail.map(({ kind }) => kind)).toEqual(['answered']);
  expect(answered).toEqual([{ name: 'Ann' }]);
});
