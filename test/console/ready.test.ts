/** The desk tells probes whether it can do its work. */
import { parseConsole } from '../../authoring/index.js';
import type { HoldfastClient } from '../../client/index.js';
import { createDeskApp } from '../../console/desk-app.js';
import type { DeskStore } from '../../console/desk-store.js';

async function appWith(identity: () => Promise<unknown>) {
  const workerCount = async () => 0;
  const { app } = await createDeskApp(
    {
      client: { workerCount } as unknown as HoldfastClient,
      store: { identity } as unknown as DeskStore,
      settings: parseConsole({}),
      version: '0',
      localRoles: [],
      say: () => undefined,
    },
    { signal: new AbortController().signal, inProcess: true },
  );
  return app;
}

test('without a login: 200 while store and server answer', async () => {
  const app = await appWith(async () => ({ id: 'a', epoch: 0 }));
  const reply = await app.request('/ready');
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ ok: true, store: 'ok', temporal: 'ok' });
});

test('503 names what does not answer, and nothing of the error; the process itself is healthy', async () => {
  const app = await appWith(() => Promise.reject(new Error('postgres://me:secret@db')));
  const reply = await app.request('/ready');
  expect(reply.status).toBe(503);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  const text = await reply.text();
  expect(JSON.parse(text)).toMatchObject({ ok: false, store: 'unavailable', temporal: 'ok' });
  expect(text).not.toContain('secret');
  expect((await app.request('/health')).status).toBe(200);
});
