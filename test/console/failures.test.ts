/** Failures in groups, and runs found by what their results and events say, in the API. */
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import type { EventBody } from '../../core/state/event.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';

const NOW = Date.now();

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
  await ended('default', 'mine', '<script>alert(1)</script>');
  await ended('other', 'theirs', 'secret');
});
afterEach(() => store.close());

async function ended(tenant: string, runId: string, detail: string): Promise<void> {
  const result = { ...RESULT, runId, detail };
  const stop: EventBody = { type: 'stop', reason: result.stopReason, detail, by: 'limits' };
  const bodies: EventBody[] = [SESSION_INIT, stop, { type: 'run_result', result }];
  await store.appendEvents({ tenant, runId, execution: 'e' }, eventsFrom(0, bodies, NOW - 1_000));
}

async function get(path: string) {
  const person = { id: 'rita', name: 'Rita', tenant: 'default', roles: ['r'], via: 'jwt' } as const;
  const app = createApp({
    desk: {
      store,
      settings: parseConsole({}),
      clock: () => NOW,
      say: () => undefined,
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [async () => ({ ok: true, person })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  const reply = await app.request(
    path,
    { headers: { authorization: 'Bearer x' } },
    { incoming: { socket: { remoteAddress: '192.0.2.1' } } },
  );
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

test('groups are those of the own tenant alone, with the rule, the cost and the newest run', async () => {
  const { status, body } = await get('/v1/failures');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ended: 1,
    failed: 1,
    groups: [{ stopReason: 'max_cost', rule: 'limits', count: 1, newest: { runId: 'mine' } }],
  });
  expect(JSON.stringify(body)).not.toContain('theirs');
  expect((await get(`/v1/failures?since=${NOW}`)).body).toMatchObject({ groups: [] });
});

test('runs are found by their stop reason, and by nothing that there is not', async () => {
  const found = await get('/v1/runs?stopReason=max_cost&sort=cost');
  expect(found.body).toEqual({ items: [expect.objectContaining({ runId: 'mine' })] });
  expect((await get('/v1/runs?stopReason=timeout')).body).toMatchObject({ items: [] });
  expect((await get('/v1/runs?errorCode=timeout')).body).toMatchObject({ items: [] });
  expect((await get('/v1/runs?sort=beauty')).status).toBe(400);
  expect((await get('/v1/failures?since=soon')).status).toBe(400);
});

test('an order by cost, which has no next page, says that more runs fit', async () => {
  await ended('default', 'second', 'enough');
  const { body } = await get('/v1/runs?sort=cost&limit=1');
  expect(body).toEqual({ items: [expect.anything()], left: 'limit' });
  expect((await get('/v1/runs?sort=cost&limit=2')).body).not.toHaveProperty('left');
});

test('runs that did something else than one are found, of the own tenant alone, in the order of their starts', async () => {
  await ended('default', 'same', '<script>alert(1)</script>');
  const result = { ...RESULT, runId: 'other', stopReason: 'timeout' as const };
  const bodies: EventBody[] = [
    SESSION_INIT,
    { type: 'stop', reason: 'timeout', by: 'limits' },
    { type: 'run_result', result },
  ];
  const run = { tenant: 'default', runId: 'other', execution: 'e' };
  await store.appendEvents(run, eventsFrom(0, bodies, NOW - 500));
  const found = await get('/v1/runs?differsFrom=mine');
  expect(found.body).toMatchObject({ items: [{ runId: 'other' }] });
  expect((await get('/v1/runs?differsFrom=theirs')).body).toEqual({ items: [] });
  expect((await get('/v1/runs?differsFrom=nobody')).body).toEqual({ items: [] });
  expect((await get('/v1/runs?differsFrom=mine&sort=cost')).status).toBe(400);
});

test('a desk that has no server to ask lists what its store knows and says so, and finds no run that Temporal ended', async () => {
  const run = { tenant: 'default', runId: 'open', execution: 'e' };
  await store.appendEvents(run, eventsFrom(0, [SESSION_INIT], NOW));
  const items = [{ runId: 'open', status: 'running' }, { runId: 'mine' }];
  for (const path of ['/v1/runs', '/v1/runs?since=1', '/v1/runs?limit=2']) {
    expect((await get(path)).body).toMatchObject({ items, trouble: expect.any(String) });
  }
  const ended = await get('/v1/runs?costFrom=1');
  expect(ended.body).toEqual({ items: [expect.objectContaining({ runId: 'mine' })] });
  expect((await get('/v1/runs?limit=1')).body).toMatchObject({ next: expect.any(String) });
  const refused = await get('/v1/runs?status=terminated');
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
});
