/** People decide while the store is away: what they say reaches the run, counts once, and is in the trail once. */
import { postgresBinaries } from '../postgres-server.js';
import { APPROVER } from './support/agents.js';
import { idOf, newKey, type Name } from './support/desk.js';
import { startAwayWorld, type AwayWorld } from './support/store-away.js';
import { ofType, until } from './support/world.js';
import type { AskView } from '../../core/state/ask-view.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('while the store is away', () => {
  let away: AwayWorld;
  beforeAll(async () => {
    away = await startAwayWorld();
  });
  afterEach(() => away?.bringBack());
  afterAll(() => away?.stop());

  /** A run that waits for a person, with everything that it said so far in the store, which then goes away. */
  async function asked(runId: string, requireProof: boolean) {
    const { run, ask } = await away.scene.asked(runId, { settings: { requireProof } });
    await away.quiet(run);
    away.takeAway();
    return { run, ask };
  }

  async function decide(ask: AskView, over: object, { as = 'mia', key = newKey() } = {}) {
    const path = `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`;
    const body = { decision: 'approve', argsHash: ask.argsHash, ...over };
    return away.desk.post(path, body, { as: as as Name, key });
  }

  const kindsOf = async (runId: string) =>
    (await away.scene.trail(runId)).map(({ kind }) => kind).filter((kind) => kind !== 'asked');

  test('an approval at the terminal is sent once, and its tool runs when the store is back', async () => {
    const { run, ask } = await asked('approved', false);
    const words = ['approve', ask.askId, '--as', 'maria', '--role', 'manager', '--id', 'once-only'];
    const alone = await away.holdfast(...words);
    expect(alone).toMatchObject({ code: 1, err: expect.stringContaining('--run') });
    const named = [...words, '--run', run.runId];
    const sent = await away.holdfast(...named, '--json');
    expect(JSON.parse(sent.out)).toMatchObject({
      askId: ask.askId,
      status: 'sent',
      delivered: 'signal',
      storeAway: true,
    });
    await until('the vote', async () =>
      (await run.pendingApprovals()).length === 0 ? 1 : undefined,
    );
    // Sent again it is the same, although the question is closed by now.
    expect((await away.holdfast(...named)).out).toContain('sent. The store is away');
    expect(away.scene.effects('approved')).toEqual([]);
    away.bringBack();
    const { events, result } = await away.world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(away.scene.effects('approved')).toHaveLength(1);
    expect(ofType(events, 'approval_resolved')).toMatchObject([
      { outcome: 'approved', by: ['maria'] },
    ]);
    expect(await kindsOf('approved')).toEqual([
      'decided',
      'resolved',
      'effect_started',
      'effect_ended',
    ]);
    const [decided] = await away.scene.rowsOf('approved', 'decided');
    expect(decided).toMatchObject({
      by: 'maria',
      askId: ask.askId,
      facts: { decision: 'approve', argsHash: ask.argsHash, nonce: 'once-only', via: 'run' },
    });
  });

  test('the terminal says how to decide until the store is back, with commands that work', async () => {
    const { run, ask } = await asked('told-how', false);
    const answering = `${ask.askId} --run ${run.runId} --as NAME --role manager`;
    const inbox = await away.holdfast('approvals');
    expect(inbox).toMatchObject({
      code: 1,
      err: expect.stringMatching(/approvals [^`]*--run RUN/),
    });
    const listed = await away.holdfast('list', '--status', 'awaiting_approval');
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining(run.runId) });
    const shown = await away.holdfast('show', run.runId);
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(answering) });
    const own = await away.holdfast('approvals', '--run', run.runId);
    expect(own).toMatchObject({ code: 0, out: expect.stringContaining(answering) });
    expect(own.err).toContain('These are the questions of the run itself');
    const words = answering.replace('NAME', 'maria').split(' ');
    expect((await away.holdfast('approve', ...words)).out).toContain('sent. The store is away');
    away.bringBack();
    expect((await away.world.ended(run)).result.stopReason).toBe('completed');
    expect((await away.holdfast('show', run.runId)).out).not.toContain('--run ');
  });

  test.each(['/v1/runs', '/v1/runs/of-desk', '/v1/runs/of-desk/state', '/v1/inbox'])(
    'a desk says of %s that the store is away, and nothing of where it is',
    async (path) => {
      away.takeAway();
      const { status, body } = await away.desk.get(path);
      expect({ status, body }).toMatchObject({
        status: 503,
        body: {
          code: 'store_away',
          detail: expect.stringContaining('The store of the desk does not serve'),
          hint: expect.stringContaining('runId'),
        },
      });
      expect(JSON.stringify(body)).not.toMatch(/postgres|127\.0\.0\.1|ECONN/i);
    },
  );

  test('a rejection over the client stays one', async () => {
    const { run, ask } = await asked('rejected', false);
    const own = away.client.handle(run.runId);
    const sent = await own.reject(ask.askId, { ...APPROVER, reason: 'no receipt' });
    expect(sent).toEqual({ delivered: 'signal', storeAway: true });
    await until('the end of the question', async () =>
      (await run.pendingApprovals()).length === 0 ? 1 : undefined,
    );
    away.bringBack();
    const late = run.approve(ask.askId, { by: 'otto', roles: ['manager'] });
    await expect(late).rejects.toMatchObject({ code: 'DecisionRejected' });
    const { events } = await away.world.ended(run);
    expect(ofType(events, 'approval_resolved')).toMatchObject([{ outcome: 'rejected' }]);
    expect(away.scene.effects('rejected')).toEqual([]);
    expect(await away.scene.rowsOf('rejected', 'decided')).toHaveLength(1);
  });

  test('a desk signs it, and the same request when the store is back is no second one', async () => {
    const { run, ask } = await asked('at-the-desk', true);
    const unnamed = await decide(ask, {});
    expect(unnamed).toMatchObject({ status: 503, body: { code: 'store_away' } });
    const wrong = await decide(ask, { runId: run.runId, argsHash: '0'.repeat(64) }, { as: 'ann' });
    expect(wrong).toMatchObject({ status: 409, body: { code: 'mismatched' } });
    const others = await decide(ask, { runId: run.runId }, { as: 'bob' });
    expect(others.status).toBe(404);
    const key = newKey();
    const first = await decide(ask, { runId: run.runId }, { key });
    expect(first).toMatchObject({ status: 202, body: { state: 'sent', storeAway: true } });
    await until('the vote', async () =>
      (await run.pendingApprovals()).length === 0 ? 1 : undefined,
    );
    expect(await decide(ask, { runId: run.runId }, { key })).toMatchObject({ status: 202 });
    away.bringBack();
    await away.world.ended(run);
    const again = await until('the store at the desk', async () => {
      const answer = await decide(ask, { runId: run.runId }, { key });
      return answer.status === 200 ? answer : undefined;
    });
    expect(again.body).toMatchObject({ state: 'decided', outcome: 'approved' });
    const decided = await away.scene.rowsOf('at-the-desk', 'decided');
    expect(decided).toMatchObject([
      { by: idOf('mia'), facts: { via: 'run', kid: away.desk.signer.key.kid } },
    ]);
    expect(decided[0]?.facts.proof).toMatch(/^[0-9a-f]{128}$/);
    expect(await away.scene.rowsOf('at-the-desk', 'ignored')).toMatchObject([
      {
        facts: {
          askId: ask.askId,
          code: 'approval_mismatch',
          reason: 'mismatched',
          by: idOf('ann'),
        },
      },
    ]);
    expect(away.scene.effects('at-the-desk')).toHaveLength(1);
  });

  test('a desk shows the question of a run that is named, and owes the row of who saw it', async () => {
    const { run, ask } = await asked('seen', true);
    const path = `/v1/approvals/${encodeURIComponent(ask.askId)}`;
    const shown = await away.desk.get(`${path}?runId=${run.runId}`, 'rita');
    expect(shown).toMatchObject({ status: 200, body: { argsHash: ask.argsHash } });
    expect((await away.desk.post(`/v1/runs/${run.runId}/interrupt`, {})).status).toBe(202);
    away.bringBack();
    const { result } = await away.world.ended(run);
    expect(result.stopReason).toBe('interrupted');
    await until('the rows', async () => {
      const kinds = await kindsOf('seen');
      return kinds.includes('seen') && kinds.includes('interrupted') ? kinds : undefined;
    });
  });

  test('a decision signed with a key that the run does not know waits for the keys', async () => {
    const { run, ask } = await away.scene.asked('new-key', {});
    await away.quiet(run);
    const newer = await away.anotherDesk();
    away.takeAway();
    const path = `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`;
    const body = { decision: 'approve', argsHash: ask.argsHash, runId: run.runId };
    expect((await newer.post(path, body, { key: newKey() })).status).toBe(202);
    expect(away.scene.effects('new-key')).toEqual([]);
    away.bringBack();
    const { result } = await run.result({ timeoutMs: 60_000 }).then((ended) => ({ result: ended }));
    expect(result.stopReason).toBe('completed');
    expect(away.scene.effects('new-key')).toHaveLength(1);
    const [decided] = await away.scene.rowsOf('new-key', 'decided');
    expect(decided?.facts.kid).toBe(newer.signer.key.kid);
  });
});
