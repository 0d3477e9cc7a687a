/** Tokens of connectors: one holder of the lease, no change of another version, logins that are taken once. */
import { cleanUp, newStore } from './fixtures.js';

afterEach(cleanUp);

const name = { tenant: 'default', connector: 'crm' };
const token = { keyId: 'k1', sealed: 'sealed' };
const kept = { ...name, server: 'digest', token, by: 'mia', at: 1 };

test('of those who want the next token one gets the lease, until it ends or the token is there', async () => {
  const { store } = await newStore();
  await store.keepConnectorToken(kept);
  const lease = (by: string, now: number, version = 1) =>
    store.leaseConnectorToken({ ...name, version, lease: by, now, until: now + 100 });
  const tries = await Promise.all(['a', 'b', 'c'].map((by) => lease(by, 1_000)));
  expect(tries.filter(Boolean)).toHaveLength(1);
  expect(await lease('d', 1_099)).toBe(false);
  expect(await lease('e', 1_100)).toBe(true);
  const next = { ...name, version: 1, token: { keyId: 'k1', sealed: 'next' }, at: 2 };
  expect(await store.renewConnectorToken({ ...next, lease: 'a' })).toBe(false);
  expect(await store.renewConnectorToken({ ...next, lease: 'e' })).toBe(true);
  expect(await lease('f', 2_000)).toBe(false);
  expect(await lease('f', 2_000, 2)).toBe(true);
  expect(await store.connectorToken(name)).toMatchObject({ version: 2, token: next.token });
});

test('whoever knows an older version asks nobody to log in again, and a login ends what was wanted', async () => {
  const { store } = await newStore();
  const wanted = { ...name, server: 'digest', at: 1, wanted: { scope: 'read' } };
  await store.wantConnectorLogin({ ...wanted, state: 'needs_login' });
  expect(await store.listWantedLogins(9)).toMatchObject([{ ...name, wanted: { scope: 'read' } }]);
  await store.keepConnectorToken(kept);
  await store.wantConnectorLogin({ ...wanted, version: 1, state: 'needs_login' });
  await store.wantConnectorLogin({ ...wanted, state: 'needs_login' });
  expect(await store.connectorToken(name)).toMatchObject({
    version: 2,
    state: 'ready',
    wanted: {},
  });
  expect(await store.listWantedLogins(9)).toEqual([]);
  await store.wantConnectorLogin({ ...wanted, version: 2, state: 'needs_scope' });
  expect(await store.connectorToken(name)).toMatchObject({ state: 'needs_scope', token });
});

test('a login outlives a look at another address, and no version comes again after it was dropped', async () => {
  const { store } = await newStore();
  const wanted = { ...name, state: 'needs_login', wanted: {} } as const;
  await store.keepConnectorToken(kept);
  await store.wantConnectorLogin({ ...wanted, server: 'other', at: 2 });
  expect(await store.connectorToken(name)).toMatchObject({ state: 'ready', token });
  await store.dropConnectorToken(name);
  await store.wantConnectorLogin({ ...wanted, server: 'other', at: 3 });
  await store.wantConnectorLogin({ ...wanted, server: 'third', at: 4 });
  expect(await store.connectorToken(name)).toMatchObject({ server: 'third', version: 4 });
  await store.keepConnectorToken({ ...kept, at: 5 });
  expect(await store.connectorToken(name)).toMatchObject({ state: 'ready', version: 5 });
});

test('a login that has begun is taken once, in time, by whoever began it', async () => {
  const { store } = await newStore();
  const login = { ...name, id: 'one', by: 'mia', pending: token, expiresAt: 100 };
  await store.keepConnectorLogin(login, 1);
  const take = (by: string, now: number, tenant = 'default') =>
    store.takeConnectorLogin({ tenant, id: 'one', by }, now);
  expect(await take('ann', 2)).toBeUndefined();
  expect(await take('mia', 2, 'acme')).toBeUndefined();
  expect(await take('mia', 100)).toBeUndefined();
  expect(await take('mia', 99)).toEqual(login);
  expect(await take('mia', 99)).toBeUndefined();
});

test('of many who take one login at once one gets it, and of many who drop one token', async () => {
  const { store } = await newStore();
  await store.keepConnectorToken(kept);
  const login = { ...name, id: 'one', by: 'mia', pending: token, expiresAt: 100 };
  await store.keepConnectorLogin(login, 1);
  const all = Array.from({ length: 10 });
  // Connections are open, so that all begin at once.
  await Promise.all(all.map(() => store.connectorToken(name)));
  const taken = await Promise.all(
    all.map(() => store.takeConnectorLogin({ tenant: 'default', id: 'one', by: 'mia' }, 2)),
  );
  expect(taken.filter((one) => one !== undefined)).toEqual([login]);
  const dropped = await Promise.all(all.map(() => store.dropConnectorToken(name)));
  expect(dropped.filter((one) => one !== undefined)).toMatchObject([{ ...name, token }]);
});

test('a tenant has a hundred logins under way at most, and the oldest go', async () => {
  const { store } = await newStore();
  for (let at = 1; at <= 103; at += 1) {
    const login = { ...name, id: `l${at}`, by: 'mia', pending: token, expiresAt: 1_000 + at };
    await store.keepConnectorLogin(login, 1);
  }
  const take = (id: string) => store.takeConnectorLogin({ tenant: 'default', id, by: 'mia' }, 2);
  expect(await take('l3')).toBeUndefined();
  expect(await take('l4')).toBeDefined();
  expect(await take('l103')).toBeDefined();
});
