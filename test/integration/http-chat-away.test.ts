/** A chat whose store is away: answers and stops reach their runs, count once, and what was not sent is not lost. */
import { chatHandler, type ChatHandler } from '../../http/index.js';
import { postgresBinaries } from '../postgres-server.js';
import { AGENT, APPROVER } from './support/agents.js';
import { user } from './support/chats.js';
import { startAwayWorld, type AwayWorld } from './support/store-away.js';
import { ANY_RUN, ofType, pay, say, until } from './support/world.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('in a chat while the store is away', () => {
  let away: AwayWorld;
  let chat: ChatHandler;
  beforeAll(async () => {
    away = await startAwayWorld();
    away.world.script(ANY_RUN, [pay('pay.asked', 700), say('Paid.')]);
    chat = chatHandler({
      client: away.client,
      agent: AGENT,
      ownDecisions: true,
      authorize: ({ headers }) => ({
        actor: { id: APPROVER.by, roles: headers.has('x-no-role') ? [] : APPROVER.roles },
      }),
    });
  });
  afterEach(() => away?.bringBack());
  afterAll(() => away?.stop());

  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    chat(
      new Request(`http://localhost/api/chat${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );

  /** A chat that waits for an approval, with everything of it in the store, which then goes away. */
  async function asked(id: string) {
    const told = await (await post('', { id, messages: [user('u1', 'Pay.')] })).text();
    const [, approvalId = ''] = /"approvalId":"([^"]+)"/.exec(told) ?? [];
    const [, runId = ''] = /"runId":"([^"]+)"/.exec(told) ?? [];
    const run = away.world.client.handle(runId);
    await away.quiet(run);
    away.takeAway();
    const approval = { id: approvalId, approved: true };
    const parts = [{ type: 'tool-pay.asked', state: 'approval-responded', approval }];
    return { run, body: { id, messages: [{ id: 'a1', role: 'assistant', parts }] } };
  }

  test('an approval is sent to its run and counts once, also when it is sent again', async () => {
    const { run, body } = await asked('approved');
    const sent = await post('', body);
    expect(sent.status).toBe(202);
    expect(await sent.text()).toMatch(/The answer was sent/);
    // Where it has counted, the store alone knows whose it was.
    const again = await post('', body);
    const known = { 202: /The answer was sent|its question has ended/, 503: /unavailable/ };
    expect(await again.text()).toMatch(known[again.status as keyof typeof known]);
    await until('the vote', async () =>
      (await run.pendingApprovals()).length === 0 ? 1 : undefined,
    );
    away.bringBack();
    const { events, result } = await away.world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(away.scene.effects(run.runId)).toHaveLength(1);
    expect(ofType(events, 'approval_resolved')).toMatchObject([
      { outcome: 'approved', by: [APPROVER.by] },
    ]);
    const told = await until('the chat', async () => {
      const again = await post('', body);
      return again.status === 200 ? again.text() : undefined;
    });
    expect(told).toContain('Paid.');
    expect(told).not.toContain('data-holdfast-refused');
    expect(await away.scene.rowsOf(run.runId, 'decided')).toHaveLength(1);
  });

  test('an approval of somebody without the role is sent, and its run does not count it', async () => {
    const { run, body } = await asked('no-role');
    expect((await post('', body, { 'x-no-role': 'yes' })).status).toBe(202);
    expect((await post('', body)).status).toBe(202);
    away.bringBack();
    const { events, result } = await away.world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(ofType(events, 'warning')).toMatchObject([{ about: { reason: 'role_missing' } }]);
    expect(away.scene.effects(run.runId)).toHaveLength(1);
  });

  test('a message is not sent, and the answer says that it may be sent again', async () => {
    const { run } = await asked('message');
    const refused = await post('', { id: 'message', messages: [user('u2', 'Thanks.')] });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('Nothing is lost') as string,
      hint: 'Send the same request again: what it says counts once.',
    });
    away.bringBack();
    await run.interrupt();
    await away.world.ended(run);
  });

  test('a stop reaches the run', async () => {
    const { run } = await asked('stopped');
    await until('the run in the list of Temporal', async () => {
      const { status } = await post('/stopped/stop', {});
      return status === 204 ? true : undefined;
    });
    away.bringBack();
    const { result } = await away.world.ended(run);
    expect(result.stopReason).toBe('interrupted');
    expect(away.scene.effects(run.runId)).toEqual([]);
  });
});
