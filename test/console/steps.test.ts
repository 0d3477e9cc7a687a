/** Steps of recorded runs in the API: whose they are, and what is kept of them. */
import { parseConsole } from '../../authoring/index.js';
import { createApp } from '../../console/app.js';
import type { Desk } from '../../console/desk.js';
import { records } from '../../console/records.js';
import { ENDPOINTS } from '../../console/routes/index.js';
import { views } from '../../console/trail.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import { recordOfBundle } from '../../replay/open-record.js';
import { toldIndex, toldMoment } from '../../replay/told-moment.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';

import { stored } from '../replay/setup.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';

let bundle: Bundle;
let runId: string;
beforeAll(async () => {
  bundle = await stored('approved');
  runId = bundle.run.runId;
});

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
  const source = { tenant: 'default', runId, execution: 'e' };
  await store.appendEvents(source, eventsFrom(0, [SESSION_INIT]));
});
afterEach(() => store.close());

async function get(path: string, { tenant = 'default', roles = ['r'] } = {}) {
  const person = { id: 'rita', name: 'Rita', tenant, roles, via: 'jwt' } as const;
  const app = createApp({
    desk: {
      store,
      settings: parseConsole({}),
      clock: () => 0,
      say: () => undefined,
      views: views(),
      owed: { write: async () => undefined },
      records: { open: () => recordOfBundle(bundle) },
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
  return { status: reply.status, body: await reply.json() };
}

const told = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('steps and moments are those of `holdfast inspect --json`', async () => {
  const record = await recordOfBundle(bundle);
  expect((await get(`/v1/runs/${runId}/steps`)).body).toEqual(told(toldIndex(record)));
  for (const { step } of record.fold.steps) {
    const { body } = await get(`/v1/runs/${runId}/steps/${step}`);
    expect(body).toEqual(told(await toldMoment(record, step)));
  }
});

test('a run of another tenant is not there, and a step that is not there is named', async () => {
  expect((await get(`/v1/runs/${runId}/steps`, { tenant: 'other' })).status).toBe(404);
  expect((await get(`/v1/runs/${runId}/steps/1`, { tenant: 'other' })).status).toBe(404);
  expect((await get(`/v1/runs/${runId}/steps`, { roles: [] })).status).toBe(403);
  const { status, body } = await get(`/v1/runs/${runId}/steps/9999`);
  expect(status).toBe(400);
  expect(body).toMatchObject({
    code: 'invalid',
    detail: expect.stringContaining('There is no step 9999'),
  });
});

describe('records', () => {
  const opening = (historiesOf: (tenant: string, runId: string) => Promise<never>) =>
    records({
      client: {
        forTenant: (tenant: string) => ({
          historiesOf: (runId: string) => historiesOf(tenant, runId),
        }),
      } as unknown as Desk['client'],
      store,
      clock: () => 0,
    });
  const wanted = (runId: string) => ({ tenant: 'default', runId, isOver: true });

  test('a run whose workflow is gone, or another tenant’s by now, is told as not recorded', async () => {
    const place = opening(async () => {
      throw new HoldfastError('RunNotFound', 'no');
    });
    await expect(place.open(wanted('r'))).rejects.toMatchObject({ code: 'HistoryMissing' });
  });

  test('one record is opened at a time, twice asked is once opened, and no more than 16 wait', async () => {
    let atOnce = 0;
    const asked: string[] = [];
    const place = opening(async (_, runId) => {
      asked.push(runId);
      expect((atOnce += 1)).toBe(1);
      await new Promise((soon) => setImmediate(soon));
      atOnce -= 1;
      throw new HoldfastError('ServerUnavailable', 'no');
    });
    const names = Array.from({ length: 16 }, (_, n) => `run-${n}`);
    const all = [...names, ...names].map((name) => place.open(wanted(name)));
    await expect(place.open(wanted('one more'))).rejects.toMatchObject({ status: 429 });
    await Promise.allSettled(all);
    expect(asked).toEqual(names);
  });
});
