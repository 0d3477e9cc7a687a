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

import { keptTree, stored } from '../replay/setup.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';

let bundle: Bundle;
let runId: string;
beforeEach(async () => {
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

const isModelCall = ({ kind }: { readonly kind: string }): boolean => kind === 'call_model';

interface Asked {
  readonly messages?: readonly object[];
  readonly earlierMessages?: number;
  readonly missing?: string;
}

interface Body {
  readonly [field: string]: unknown;
  readonly request?: Asked;
  readonly answered?: Asked;
}

function newestOf(request: Asked): Asked {
  const { messages = [] } = request;
  const newest = { ...request, messages: messages.slice(-1) };
  return messages.length > 1 ? { ...newest, earlierMessages: messages.length - 1 } : newest;
}

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
  return { status: reply.status, body: (await reply.json()) as Body };
}

const told = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const stepsAt = (path = '') => get(`/v1/runs/${runId}/steps${path}`);

test('steps and moments are those of `holdfast inspect --json`', async () => {
  const record = await recordOfBundle(bundle);
  expect((await get(`/v1/runs/${runId}/steps`)).body).toEqual(told(toldIndex(record)));
  for (const { step } of record.fold.steps) {
    const { body } = await get(`/v1/runs/${runId}/steps/${step}`);
    expect(body).toEqual(told(await toldMoment(record, step)));
  }
});

describe('so many of the newest messages of a request', () => {
  test('are told with the number of those before them, and everything else is as it is', async () => {
    let left = 0;
    // In the second one a step answers one request and begins another.
    for (const name of ['approved', 'empty_response']) {
      bundle = await stored(name);
      const record = await recordOfBundle(bundle);
      for (const { step } of record.fold.steps) {
        const { request, answered, ...rest } = await toldMoment(record, step);
        const { body } = await stepsAt(`/${step}?messages=1`);
        const parts = {
          ...(request && { request: newestOf(request) }),
          ...(answered && { answered: newestOf(answered) }),
        };
        left += parts.request?.earlierMessages ?? 0;
        expect(body).toEqual(told({ ...rest, ...parts }));
      }
    }
    expect(left).toBeGreaterThan(0);
  });

  test('are the whole where a request has no more, and none where none are wanted', async () => {
    const { step } = (await recordOfBundle(bundle)).fold.steps.at(-1)!;
    const { body: whole } = await stepsAt(`/${step}`);
    expect((await stepsAt(`/${step}?messages=1000`)).body).toEqual(whole);
    const { messages = [], ...request } = whole.request!;
    expect((await stepsAt(`/${step}?messages=0`)).body.request).toEqual({
      ...request,
      messages: [],
      earlierMessages: messages.length,
    });
    for (const wrong of ['-1', '1.5', 'all']) {
      expect(await stepsAt(`/${step}?messages=${wrong}`)).toMatchObject({ status: 400 });
    }
  });

  test('are there of a request that is too large for a page as a whole', async () => {
    const large = async (name: string): Promise<number> => {
      bundle = await stored(name);
      // The first message of the user, under the hash that it had.
      const [hash, node] = Object.entries(bundle.nodes).find(([, { role }]) => role === 'user')!;
      const blocks = [{ type: 'text', text: 'x'.repeat(5 * 1024 * 1024) }];
      bundle = { ...bundle, nodes: { ...bundle.nodes, [hash]: { ...node, blocks } } };
      const { steps } = (await recordOfBundle(bundle)).fold;
      return steps.findLastIndex(({ effects }) => effects.some(isModelCall)) + 1;
    };
    const tooLarge = {
      step: expect.any(Number),
      call: expect.any(Number),
      missing: expect.stringContaining('The request is too large for this page.'),
    };
    const step = await large('approved');
    expect((await stepsAt(`/${step}`)).body.request).toEqual(tooLarge);
    const { request } = (await stepsAt(`/${step}?messages=1`)).body;
    expect(request).toMatchObject({ messages: [expect.anything()], earlierMessages: 2 });
    expect(request).not.toHaveProperty('missing');
    const both = await stepsAt(`/${await large('empty_response')}`);
    expect(both.body).toMatchObject({ request: tooLarge, answered: tooLarge });
  });

  test('of a goal there are none, and its moment is the same', async () => {
    bundle = await keptTree();
    for (const { step } of (await recordOfBundle(bundle)).fold.steps) {
      const whole = await stepsAt(`/${step}`);
      expect(whole).toMatchObject({ status: 200, body: { kind: 'goal' } });
      expect(await stepsAt(`/${step}?messages=1`)).toEqual(whole);
    }
  });
});

test('a moment with a question is told when it is shown, not ahead; any other is told ahead and noted nowhere', async () => {
  const asked: number[] = [];
  for (const { step } of (await recordOfBundle(bundle)).fold.steps) {
    const before = (await store.readAudit('default', { limit: 99 })).length;
    const ahead = await stepsAt(`/${step}?ahead=true`);
    expect(await store.readAudit('default', { limit: 99 })).toHaveLength(before);
    const shown = await stepsAt(`/${step}?ahead=false`);
    if (ahead.status === 409) asked.push(step);
    else expect(ahead).toEqual(shown);
  }
  // From the question to its answer.
  expect(asked).toEqual([3, 4]);
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
