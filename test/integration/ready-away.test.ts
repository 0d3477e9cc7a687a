/** The desk's readiness while its store is away: said at once, without a login, and over when the store is back. */
import { postgresBinaries } from '../postgres-server.js';
import { startAwayWorld, type AwayWorld } from './support/store-away.js';
import { until } from './support/world.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('a desk', () => {
  let away: AwayWorld;
  beforeAll(async () => void (away = await startAwayWorld()));
  afterAll(() => away.stop());

  async function ready() {
    const reply = await fetch(`${away.desk.url}/ready`);
    return { status: reply.status, ...((await reply.json()) as object) };
  }

  test('is ready, not ready without its store, and ready again', async () => {
    expect(await ready()).toEqual({ status: 200, ok: true, store: 'ok', temporal: 'ok' });
    for (const take of [away.takeAway, away.silence]) {
      take();
      const found = await until('the desk to miss its store', async () => {
        const said = await ready();
        return said.status === 503 ? said : undefined;
      });
      const store = expect.stringMatching(/^(?:timeout|unavailable)$/);
      expect(found).toMatchObject({ ok: false, temporal: 'ok', store });
      expect(JSON.stringify(found)).not.toMatch(/postgres|127\.0\.0\.1/);
      away.bringBack();
      await until('the desk to have its store', async () =>
        (await ready()).status === 200 ? true : undefined,
      );
    }
  }, 300_000);
});
