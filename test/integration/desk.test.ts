/** The approval desk on a real server: deciding, and every attack on a decision. */
import { checkAudit } from '../../cli/desk/audit-check.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { Decision } from '../../core/state/ask.js';
import type { Statement } from '../../core/state/statement.js';
import { isSignedBy } from '../../core/ask/verify.js';
import type { AuditRow } from '../../pure/audit.js';
import type { AskView } from '../../core/state/ask-view.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import {
  idOf,
  newKey,
  newSigner,
  startDesk,
  type Name,
  type Reply,
  type TestDesk,
} from './support/desk.js';
import { pay, openAsk, say, startWorld, until, warnings, type World } from './support/world.js';

let world: World;
let desk: TestDesk;
beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world);
});
afterAll(async () => {
  await desk?.stop();
  await world.stop();
});

interface Waiting {
  readonly run: RunHandle;
  readonly ask: AskView;
}

async function waiting(runId: string, more: object = {}): Promise<Waiting> {
  const run = await world.start({
    runId,
    replies: [pay('pay.asked'), say('Finished.')],
    settings: { requireProof: true },
    ...more,
  });
  const ask = await openAsk(run);
  const tenant = run.tenant;
  await until('the question in the store', () => world.store.getAsk(tenant, ask.askId));
  return { run, ask };
}

const decide = (ask: AskView, over: object = {}, as: Name = 'mia', key = newKey()) =>
  desk.post(
    `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
    { decision: 'approve', argsHash: ask.argsHash, ...over },
    { as, key },
  );

const effects = (runId: string) => world.service.visits(runId, 'effect');

async function rows(runId: string, tenant = 'default'): Promise<readonly AuditRow[]> {
  const about = await world.store.readAudit(tenant, { runId, limit: 1_000 });
  expect((await checkAudit(world.store, tenant, [])).fault).toBeUndefined();
  return about;
}

const kinds = (about: readonly AuditRow[]) => about.map(({ kind }) => kind);

test('what was shown, decided and executed is in the trail, in this order', async () => {
  const { run, ask } = await waiting('decided');
  const shown = await desk.get(`/v1/approvals/${encodeURIComponent(ask.askId)}`);
  expect(shown.body).toMatchObject({ args: { order: 'A1', amountCents: 500 }, outcome: 'pending' });
  expect(await decide(ask)).toMatchObject({ status: 200, body: { outcome: 'approved' } });
  expect((await world.ended(run)).result.completed).toBe(true);
  expect(effects('decided')).toHaveLength(1);
  const told = await rows('decided');
  expect(kinds(told).slice(0, 3)).toEqual(['asked', 'seen', 'decided']);
  expect([...kinds(told)].sort()).toEqual([
    'asked',
    'decided',
    'effect_ended',
    'effect_started',
    'resolved',
    'seen',
  ]);
  expect(told.find(({ kind }) => kind === 'decided')).toMatchObject({
    by: idOf('mia'),
    facts: { decision: 'approve', argsHash: ask.argsHash, kid: desk.signer.key.kid },
  });
  expect(told.find(({ kind }) => kind === 'effect_started')).toMatchObject({
    facts: { tool: 'pay.asked', argsHash: ask.argsHash, approvedBy: [idOf('mia')] },
  });
});

describe('A1, straight to Temporal: no effect, a row each', () => {
  const base = (ask: AskView): Decision => ({
    v: 1,
    askId: ask.askId,
    argsHash: ask.argsHash,
    decision: 'approve',
    by: 'eve',
    roles: ['manager'],
    decidedAt: Date.now(),
    nonce: newKey(),
  });
  const place = (runId: string, { policyVersion }: AskView, tenant = 'default') =>
    ({ tenant, runId, kind: 'approval', policyVersion }) as const;

  test('unsigned, of another key, of another run, of another tenant, altered, replayed', async () => {
    const { run, ask } = await waiting('forged');
    const signal = (decision: object) =>
      world.raw.workflow.getHandle('forged').signal('resolveApproval', decision);
    const ours = desk.signer.signDecision(place('forged', ask), base(ask));
    const foreign = newSigner().signDecision(place('forged', ask), base(ask));
    const attacks: readonly object[] = [
      base(ask),
      foreign,
      { ...foreign, kid: desk.signer.key.kid },
      desk.signer.signDecision(place('decided', ask), base(ask)),
      desk.signer.signDecision(place('forged', ask, 'other'), base(ask)),
      { ...ours, by: 'mallory' },
      { ...ours, roles: ['manager', 'chief'] },
      { ...ours, decision: 'reject' },
    ];
    for (const attack of attacks) await signal(attack);
    const ignored = await until('a row each', async () => {
      const found = (await rows('forged')).filter(({ kind }) => kind === 'ignored');
      return found.length >= attacks.length ? found : undefined;
    });
    expect(ignored).toHaveLength(attacks.length);
    expect(effects('forged')).toEqual([]);
    // The desk's own decision still counts, once, however often it is sent.
    expect(await decide(ask, { decision: 'reject' })).toMatchObject({ status: 200 });
    await signal(ours);
    const { events } = await world.ended(run);
    expect(effects('forged')).toEqual([]);
    expect(warnings(events).filter((code) => code === 'decision_unproven')).toHaveLength(
      attacks.length,
    );
  });

  test('as an Update it is refused with no more than the reason', async () => {
    const { run, ask } = await waiting('update');
    const delivery = await run.decide(base(ask));
    expect(delivery).toMatchObject({ verdict: { accepted: false, reason: 'unproven' } });
    await run.interrupt();
    await world.ended(run);
    expect(effects('update')).toEqual([]);
  });

  test('a start cannot do without what the configuration demands', async () => {
    const { config } = await import('./support/agents.js');
    const served = config({ serviceUrl: world.service.url });
    const settings = { ...served.defaults.settings, requireProof: true };
    const strict = { ...served, defaults: { ...served.defaults, settings } };
    await world.serve({ config: strict, taskQueue: 'strict' });
    const { connect } = await import('../../client/index.js');
    const client = await connect({ ...world.place, taskQueue: 'strict', store: world.store });
    const start = { agent: 'desk', task: 'Serve.', settings: { requireProof: false } };
    await expect(client.start({ ...start, runId: 'strict' })).rejects.toThrow('proofs');
    await client.close();
  });
});

test('A2: a request that is sent again is the same decision; its key means nothing else', async () => {
  const { run, ask } = await waiting('again');
  const key = newKey();
  const first = await decide(ask, {}, 'mia', key);
  const second = await decide(ask, {}, 'mia', key);
  expect(second).toMatchObject({ status: first.status, body: first.body });
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(await decide(ask, { decision: 'reject' }, 'mia', key)).toMatchObject({ status: 422 });
  expect(await decide(ask, {}, 'ann')).toMatchObject({ status: 409 });
  await world.ended(run);
  expect(effects('again')).toHaveLength(1);
});

test('A3: a decision on other arguments than the question has is refused before it is sent', async () => {
  const { run, ask } = await waiting('mismatched');
  const other = await decide(ask, { argsHash: 'f'.repeat(64) });
  expect(other).toMatchObject({ status: 409, body: { code: 'mismatched' } });
  const args = { order: 'A1', amountCents: 200 };
  expect(await decide(ask, { decision: 'modify', args }, 'ann')).toMatchObject({ status: 200 });
  const { result } = await world.ended(run);
  expect(result.completed).toBe(true);
  expect(effects('mismatched')).toHaveLength(1);
  expect(kinds(await rows('mismatched'))).toContain('decision_refused');
});

test('A4: forty people at once make one outcome', async () => {
  const { run, ask } = await waiting('race');
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      decide(
        ask,
        { decision: index % 2 === 0 ? 'approve' : 'reject' },
        index % 4 < 2 ? 'mia' : 'ann',
      ),
    ),
  );
  const counted = answers.filter(({ status }) => status === 200);
  // The run of a busy machine is heard too late for an answer: such a decision is sent, and the trail tells the rest.
  const late = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status === 409);
  expect(answers.filter((each) => ![...counted, ...late, ...refused].includes(each))).toEqual([]);
  await world.ended(run);
  const resolved = (await rows('race')).filter(({ kind }) => kind === 'resolved');
  expect(resolved).toHaveLength(1);
  const outcome = resolved[0]?.facts.outcome;
  const told = counted.map(({ body }) => body?.outcome);
  expect(told).toEqual(late.length > 0 && told.length === 0 ? [] : [outcome]);
  expect(effects('race')).toHaveLength(outcome === 'approved' ? 1 : 0);
});

test('A4: whoever comes too late for a run that has ended hears who decided', async () => {
  const { run, ask } = await waiting('decided-before');
  expect(await decide(ask, { decision: 'reject' }, 'mia')).toMatchObject({ status: 200 });
  await world.ended(run);
  const late = await decide(ask, {}, 'ann');
  const detail: unknown = expect.stringContaining(
    `The question is rejected by ${idOf('mia')} (counted `,
  );
  expect(late).toMatchObject({ status: 409, body: { code: 'run_closing', detail } });
});

test('A4: after the run has ended a decision has no effect', async () => {
  const { run, ask } = await waiting('ended-before');
  await run.interrupt();
  await world.ended(run);
  expect(await decide(ask)).toMatchObject({ status: 409 });
  expect(effects('ended-before')).toEqual([]);
});

describe('A5 and X1: who may not', () => {
  const refused = (runId: string, reply: Reply, status: number) => {
    expect(reply.status).toBe(status);
    expect(effects(runId)).toEqual([]);
    expect(reply.text).not.toContain(runId);
  };

  test('without the role, on the own request, without any role, without a login', async () => {
    const caller = idOf('ann');
    const { run, ask } = await waiting('refusing', {
      task: { goal: 'Serve the customer.', caller },
    });
    for (const who of ['clerk', 'ann'] as const) {
      const reply = await decide(ask, {}, who);
      refused('refusing', reply, 403);
      // A token refuses both.
      expect(reply.body?.['hint']).toMatch(/ login/);
      expect(reply.text).not.toMatch(/--as|--role/);
    }
    refused('refusing', await decide(ask, {}, 'nobody'), 403);
    const wrong = { authorization: 'Bearer hf_service_wrong' };
    refused('refusing', await desk.get('/v1/approvals', 'mia', wrong), 401);
    expect(effects('refusing')).toEqual([]);
    const told = await rows('refusing');
    expect(told.filter(({ kind }) => kind === 'decision_refused')).toMatchObject([
      { by: idOf('clerk'), facts: { reason: 'role_missing' } },
      { by: idOf('ann'), facts: { reason: 'own_request' } },
    ]);
    await run.interrupt();
    await world.ended(run);
  });

  test('what belongs to another tenant looks like what is not there, on every route', async () => {
    const theirs = await waiting('theirs-run', { tenant: 'other' });
    const { ask } = theirs;
    const id = encodeURIComponent(ask.askId);
    const body = { decision: 'approve', argsHash: ask.argsHash };
    const paths = (run: string, question: string): readonly (() => Promise<Reply>)[] => [
      () => desk.get(`/v1/runs/${run}`),
      () => desk.get(`/v1/runs/${run}/events`),
      () => desk.get(`/v1/runs/${run}/stream`),
      () => desk.get(`/v1/runs/${run}/transcript`),
      () => desk.get(`/v1/approvals/${question}`),
      () => desk.get(`/v1/questions/${question}`),
      () => desk.post(`/v1/approvals/${question}/decisions`, body, { key: newKey() }),
      () => desk.post(`/v1/questions/${question}/answers`, { value: 1 }, { key: newKey() }),
      () => desk.post(`/v1/runs/${run}/messages`, { text: 'hello' }),
      () => desk.post(`/v1/runs/${run}/interrupt`, {}),
      () => desk.post(`/v1/freezes/${run === 'nowhere' ? 'frz_0' : 'frz_theirs'}/lift`, {}),
    ];
    const frozen = { id: 'frz_theirs', scope: { kind: 'tenant' }, by: 'bob' } as const;
    await world.store.setFreeze('other', { ...frozen, reason: 'wave', at: Date.now() });
    const before = (await world.store.auditHead('default')).seq;
    const foreign = await Promise.all(paths('theirs-run', id).map((send) => send()));
    const missing = await Promise.all(paths('nowhere', 'nowhere%3A0').map((send) => send()));
    foreign.forEach((reply, index) => {
      expect(reply.status).toBe(404);
      expect(reply.text).toBe(missing[index]?.text);
      expect(reply.text).not.toContain('theirs');
    });
    for (const [list, theirId] of [
      ['/v1/runs?limit=200', 'theirs-run'],
      ['/v1/approvals?state=all&limit=200', 'theirs-run'],
      ['/v1/freezes', 'frz_theirs'],
    ] as const) {
      expect((await desk.get(list)).text).not.toContain(theirId);
      expect((await desk.get(list, 'bob')).text).toContain(theirId);
    }
    await world.store.liftFreeze('other', { id: 'frz_theirs', at: Date.now(), by: 'bob' });
    const denied = await world.store.readAudit('default', { after: before, limit: 1_000 });
    expect(denied.filter(({ kind }) => kind === 'access_denied')).toHaveLength(22);
    expect(effects('theirs-run')).toEqual([]);
    expect(await decide(ask, {}, 'bob')).toMatchObject({ status: 200 });
    await theirs.run.result({ timeoutMs: 30_000 });
    expect(effects('theirs-run')).toHaveLength(1);
  });

  test('the trail is for those who may read it, and its head is signed', async () => {
    expect((await desk.get('/v1/audit', 'mia')).status).toBe(403);
    const head = await desk.get('/v1/audit/head', 'ann');
    expect(head.body).toMatchObject({ tenant: 'default', kid: desk.signer.key.kid });
    expect((await desk.get('/v1/audit?limit=5', 'bob')).text).not.toContain('"default"');
  });
});

test('the trail has all that was decided, and a row can be proven by itself', async () => {
  const { ask } = await waiting('said');
  const grant = {
    matcher: { tool: 'pay.asked', when: [{ path: 'order', equals: 'A1' }] },
    uses: 2,
    expiresInMs: 60_000,
  };
  const reason = 'As agreed.';
  // Whether the run takes it or not: it has been said.
  await decide(ask, { reason, grant });
  const row = (await rows('said')).find(({ kind }) => kind === 'decided')!;
  expect(row.facts).toMatchObject({ decision: 'approve', reason, grant });
  const { decision, question, argsHash, policyVersion, roles, decidedAt, nonce, content, kid } =
    row.facts as unknown as Statement & {
      question: Statement['kind'];
    };
  const { tenant, runId = '', askId = '', by = '' } = row;
  const place = { v: 1, tenant, runId, askId, kind: question, argsHash, policyVersion } as const;
  const statement = { ...place, decision, content, by, roles, decidedAt, nonce, kid };
  const signature = row.facts.proof as string;
  expect(isSignedBy([desk.signer.key], { statement, signature })).toBe(true);
  const altered = { ...statement, content: 'f'.repeat(64) };
  expect(isSignedBy([desk.signer.key], { statement: altered, signature })).toBe(false);
});

test.each<[string, (runId: string) => string]>([
  ['a run with what it waits for', (runId) => `/v1/runs/${runId}`],
  ['a page of its events', (runId) => `/v1/runs/${runId}/events?limit=100`],
  ['its stream of events', (runId) => `/v1/runs/${runId}/stream`],
  [
    'the grounds of the question',
    (runId) => `/v1/inbox/${encodeURIComponent(`${runId}:0`)}/grounds`,
  ],
  ['the inbox', (runId) => `/v1/inbox?search=${runId}`],
  ['its card in the inbox', (runId) => `/v1/inbox/${encodeURIComponent(`${runId}:0`)}`],
  ['the list of approvals', (runId) => `/v1/approvals?runId=${runId}`],
])('who looks at %s has seen the question', async (what, path) => {
  const runId = `looked-at-${what.replaceAll(' ', '-')}`;
  const { run, ask } = await waiting(runId);
  const of = path(runId).replace(encodeURIComponent(`${runId}:0`), encodeURIComponent(ask.askId));
  const looking = desk.get(of, 'ann');
  const seen = () => rows(runId).then((all) => all.filter(({ kind }) => kind === 'seen'));
  await until('the row', async () => ((await seen()).length > 0 ? true : undefined));
  // By another way it is the same that they see.
  await desk.get(`/v1/approvals/${encodeURIComponent(ask.askId)}`, 'ann');
  await run.interrupt();
  await world.ended(run);
  await looking;
  expect(await seen()).toMatchObject([
    { by: idOf('ann'), askId: ask.askId, facts: { argsHash: ask.argsHash } },
  ]);
});

const approveAt = (where: TestDesk, ask: AskView) =>
  where.post(
    `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
    { decision: 'approve', argsHash: ask.argsHash },
    { key: newKey() },
  );

test('a new key decides on runs that were begun under the one before', async () => {
  const { run, ask } = await waiting('rotated');
  const signer = newSigner();
  const next = await startDesk(world, { signer });
  try {
    const reply = await approveAt(next, ask);
    expect(reply).toMatchObject({ status: 200, body: { outcome: 'approved' } });
    expect((await run.result({ timeoutMs: 30_000 })).completed).toBe(true);
    expect(effects('rotated')).toHaveLength(1);
  } finally {
    await next.stop();
  }
});

test('a key that nobody trusts moves no run on, and says how it is trusted', async () => {
  const stranger = await startDesk(world, { trusted: false });
  try {
    const { run, ask } = await waiting('untrusted');
    const { executionId } = await run.execution();
    const refused = await approveAt(stranger, ask);
    expect(refused).toMatchObject({ status: 409, body: { code: 'key_untrusted' } });
    expect(refused.body?.hint).toContain('holdfast keys trust');
    expect(await run.execution()).toMatchObject({ executionId, closed: false });
    const key = { tenant: ALL_TENANTS, ...stranger.signer.key, at: Date.now(), by: 'op' };
    await world.store.addDeskKey(key);
    expect(await approveAt(stranger, ask)).toMatchObject({ status: 200 });
    await world.ended(run);
  } finally {
    await stranger.stop();
  }
});

test('a revoked key decides nothing any more', async () => {
  const signer = newSigner();
  const lost = await startDesk(world, { signer });
  try {
    const { run, ask } = await waiting('revoked');
    const { executionId } = await run.execution();
    const change = { tenant: ALL_TENANTS, kid: signer.key.kid, at: Date.now(), by: 'op' };
    await world.store.changeDeskKey({ ...change, to: 'revoked' });
    const refused = await approveAt(lost, ask);
    expect(refused).toMatchObject({ status: 409, body: { code: 'key_revoked' } });
    expect(refused.body?.hint).toMatch(/holdfast keys rotate.*restart the console/);
    expect(await lost.get('/v1/audit/head', 'ann')).toMatchObject({
      status: 409,
      body: { code: 'key_revoked' },
    });
    expect(await run.execution()).toMatchObject({ executionId, closed: false });
    // Who has the key alone needs no desk. The run knew it; whoever executes asks which ones count now.
    const { kind, policyVersion } = ask;
    const where = { tenant: 'default', runId: 'revoked', kind, policyVersion } as const;
    const { askId, argsHash } = ask;
    const said = {
      v: 1,
      askId,
      argsHash,
      decision: 'approve',
      by: 'mia',
      roles: ['manager'],
    } as const;
    const stolen = { ...said, decidedAt: Date.now(), nonce: newKey() };
    expect(await run.decide(signer.signDecision(where, stolen))).toMatchObject({
      verdict: { accepted: true },
    });
    const { events } = await world.ended(run);
    expect(effects('revoked')).toEqual([]);
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'tool_finished', code: 'permission_denied' }),
      ]),
    );
    expect(kinds(await rows('revoked'))).toContain('effect_refused');
  } finally {
    await lost.stop();
  }
});

test('nothing of a token, a path or a stack is in the log of the console', () => {
  const said = desk.log.join('\n');
  expect(said).not.toMatch(/hf_service|node_modules|\bat .*:\d+:\d+/);
});
