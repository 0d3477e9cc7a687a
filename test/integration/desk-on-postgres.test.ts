/** The desk's API with its store in PostgreSQL: what it does with a file, it does. */
import type { EventBody } from '../../core/state/event.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { askView, eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';
import { sceneOf, type Scene } from './support/open-question.js';
import { newKey, startDesk, type Name, type TestDesk } from './support/desk.js';
import { startWorld, type World } from './support/world.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

interface Listed {
  readonly items: readonly { readonly runId: string; readonly askId?: string }[];
  readonly total?: number;
  readonly next?: string;
}

onPostgres('the desk on PostgreSQL', () => {
  let world: World;
  let desk: TestDesk;
  let scene: Scene;
  beforeAll(async () => {
    world = await startWorld({ storePlace: await newPostgresUrl() });
    desk = await startDesk(world);
    scene = sceneOf(world, desk);
    // In a tenant of its own, so that what runs here is in nobody's way.
    for (const [index, runId] of ['past-0', 'past-1', 'past-2', 'Past-3'].entries()) {
      const ended: EventBody = {
        type: 'run_result',
        result: { ...RESULT, runId, costMicroUsd: 9 + index },
      };
      const view = askView(`${runId}:1`, { args: { to: 'Müller & Söhne', share: `10${index}%` } });
      const asked: EventBody = { type: 'approval_requested', ...view };
      const events = eventsFrom(0, [SESSION_INIT, index < 2 ? ended : asked]);
      await world.store.appendEvents({ tenant: 'other', runId, execution: 'e' }, events);
    }
  });
  afterAll(async () => {
    await desk?.stop();
    await world?.stop();
  });

  async function listed(path: string, as: Name = 'bob'): Promise<Listed> {
    const { status, body } = await desk.get(path, as);
    expect(status).toBe(200);
    return body as unknown as Listed;
  }
  const runsOf = async (query: string) =>
    (await listed(`/v1/runs?${query}`)).items.map(({ runId }) => runId);
  const asksOf = async (query: string) =>
    (await listed(`/v1/inbox?${query}`)).items.map(({ askId }) => askId);

  test('lists and filters runs by status, agent and cost', async () => {
    expect(await runsOf('')).toEqual(['past-2', 'past-1', 'past-0', 'Past-3']);
    expect(await runsOf('status=awaiting_approval')).toEqual(['past-2', 'Past-3']);
    expect(await runsOf('agent=refund&costFrom=10')).toEqual(['past-1']);
    expect(await runsOf('costTo=9')).toEqual(['past-0']);
    expect(await runsOf('agent=Refund')).toEqual([]);
  });

  test('searches the inbox, and takes what is looked for as it is', async () => {
    expect(await asksOf('')).toEqual(['Past-3:1', 'past-2:1']);
    expect(await asksOf('search=m%C3%9CLLER')).toHaveLength(2);
    expect(await asksOf('search=PAST-2')).toEqual(['past-2:1']);
    expect(await asksOf('search=103%25')).toEqual(['Past-3:1']);
    expect(await asksOf('search=%25&runId=past-2')).toEqual(['past-2:1']);
    expect(await asksOf('search=10_%25')).toEqual([]);
    expect(await asksOf('kind=input')).toEqual([]);
    expect(await listed('/v1/inbox?limit=1')).toMatchObject({ total: 2, next: expect.any(String) });
  });

  test('gives every row once, page by page', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 9; page += 1) {
      const { items, next } = await listed(`/v1/runs?limit=1${cursor}`);
      seen.push(...items.map(({ runId }) => runId));
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen).toEqual(['past-2', 'past-1', 'past-0', 'Past-3']);
    expect((await desk.get('/v1/runs?cursor=none', 'bob')).status).toBe(400);
  });

  test('a decision sent twice, also at once, is one decision with one answer', async () => {
    const { run, ask } = await scene.asked('decided-twice');
    const path = `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`;
    const key = newKey();
    const body = { decision: 'approve', argsHash: ask.argsHash };
    const both = await Promise.all([
      desk.post(path, body, { key }),
      desk.post(path, body, { key }),
    ]);
    both.push(await desk.post(path, body, { key }));
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(both.map(({ text }) => text)).size).toBe(1);
    const other = await desk.post(path, { ...body, decision: 'reject' }, { key });
    expect(other.status).toBe(422);
    const late = await desk.post(
      path,
      { ...body, decision: 'reject' },
      { key: newKey(), as: 'ann' },
    );
    expect(late.status).toBe(409);
    await world.ended(run);
    expect(scene.effects('decided-twice')).toHaveLength(1);
    const { rows } = (await desk.get('/v1/audit?runId=decided-twice', 'ann')).body as {
      rows: { kind: string }[];
    };
    const kinds = rows.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['asked', 'resolved', 'effect_started']));
    expect(kinds.filter((kind) => kind === 'resolved')).toHaveLength(1);
  });

  test('a freeze is set once under one key, seen, and lifted once', async () => {
    const key = newKey();
    const body = { scope: { kind: 'tool', pattern: 'pay.*' }, reason: 'fraud wave' };
    const both = await Promise.all([0, 1].map(() => desk.post('/v1/freezes', body, { key })));
    expect(new Set(both.map(({ text }) => text)).size).toBe(1);
    const { items } = (await desk.get('/v1/freezes')).body as { items: { id: string }[] };
    expect(items).toMatchObject([{ scope: { pattern: 'pay.*' }, inForce: true }]);
    const lift = `/v1/freezes/${items[0]?.id}/lift`;
    expect((await desk.post(lift, {}, { as: 'bob' })).status).toBe(404);
    expect((await desk.post(lift, {})).status).toBe(200);
    expect((await desk.post(lift, {})).status).toBe(404);
    expect((await desk.get('/v1/effects?subject=A1')).status).toBe(200);
  });
});
