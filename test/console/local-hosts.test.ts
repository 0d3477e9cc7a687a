/** Which addresses a desk of local development serves, and under which names. */
import { request } from 'node:http';
import { parseConsole } from '../../authoring/index.js';
import { startConsole } from '../../console/console.js';
import type { ConsoleOptions } from '../../console/desk-app.js';
import { openMemoryStore, type Store } from '../../store/store.js';

let store: Store;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterAll(() => store.close());

const start = (host: string) =>
  startConsole({
    client: {} as ConsoleOptions['client'],
    store,
    settings: parseConsole({ host, port: 0 }),
    version: 'test',
    localRoles: ['manager'],
    say: () => undefined,
  });

/** As a browser asks that has come by another name. */
function statusUnder(url: string, name: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host: name, authorization: `Bearer ${token}` };
    const asked = request(`${url}/v1/me`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });
}

test.each(['127.0.0.1', '127.0.0.2', 'localhost'])(
  '%s is served under its own name',
  async (host) => {
    const desk = await start(host);
    try {
      const { port } = new URL(desk.url);
      const under = (name: string) => statusUnder(desk.url, name, desk.token ?? '');
      expect(await under(`${host}:${port}`)).toBe(200);
      expect(await under('localhost')).toBe(200);
      // A name that somebody else's DNS leads here.
      expect(await under(`rebound.example.org:${port}`)).toBe(404);
    } finally {
      await desk.stop();
    }
  },
);

test.each(['0.0.0.0', '::', 'desk.example.org', '128.0.0.1'])(
  '%s is refused: nobody could be told apart there',
  async (host) => {
    await expect(start(host)).rejects.toMatchObject({ code: 'InvalidConfig' });
  },
);
