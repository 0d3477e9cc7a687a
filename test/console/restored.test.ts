/** What the desk says of a store whose place an older copy has taken, however often it is asked. */
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';

let store: MemoryStore;
let now: number;
beforeEach(async () => {
  store = await openMemoryStore();
  now = Date.now();
});
afterEach(() => store.close());

function deskOver(used: Partial<Desk['store']> = {}) {
  const person = { id: 'rita', name: 'Rita', tenant: 'default', roles: ['r'], via: 'jwt' } as const;
  const app = createApp({
    desk: {
      store: { ...store, ...used },
      settings: parseConsole({}),
      clock: () => now,
      say: () => undefined,
    } as unknown as Desk,
    endpoints: ENDPOINTS,
    logins: [async () => ({ ok: true, person })],
    version: 'test',
    signal: new AbortController().signal,
    page: () => undefined,
  });
  return async (path: string) => {
    const reply = await app.request(
      path,
      { headers: { authorization: 'Bearer x' } },
      { incoming: { socket: { remoteAddress: '192.0.2.1' } } },
    );
    expect(reply.status).toBe(200);
    return (await reply.json()) as Record<string, unknown>;
  };
}

const told = { by: 'mia', reason: 'the disk broke' };
const PATHS = ['/v1/store', '/v1/runs?stopReason=none', '/v1/effects?subject=A-1'];

test('nothing is said of a store that was never restored', async () => {
  const get = deskOver();
  for (const path of PATHS) expect(await get(path)).not.toHaveProperty('restoredAt');
});

test('every list says when it was noticed, and the trail is read once for all of them', async () => {
  await store.raiseEpoch({ at: now - 5, ...told });
  const readAudit = jest.fn(store.readAudit);
  const ofAllTenants = () => readAudit.mock.calls.filter(([tenant]) => tenant !== 'default').length;
  const get = deskOver({ readAudit });
  for (const path of [...PATHS, ...PATHS])
    expect(await get(path)).toMatchObject({ restoredAt: now - 5 });
  expect(ofAllTenants()).toBe(1);
  now += 10_000;
  expect(await get('/v1/store')).toMatchObject({ restoredAt: now - 10_005 });
  expect(ofAllTenants()).toBe(2);
});

test('a restoration is noticed by a desk that is open, within seconds', async () => {
  const get = deskOver();
  expect(await get('/v1/store')).toEqual({});
  await store.raiseEpoch({ at: now, ...told });
  now += 10_000;
  expect(await get('/v1/store')).toEqual({ restoredAt: now - 10_000 });
});

test('a store that is away for a moment keeps the desk from nothing, and is told as before', async () => {
  await store.raiseEpoch({ at: now, ...told });
  const identity = jest.fn(store.identity);
  const get = deskOver({ identity });
  await get('/v1/store');
  now += 10_000;
  identity.mockRejectedValueOnce(new HoldfastError('StoreUnavailable', 'away'));
  expect(await get('/v1/store')).toEqual({ restoredAt: now - 10_000 });
});
