/** Trees of runs as the store tells them: rows below a run, and what each run paid by route. */
import { readTree } from '../../client/read/run-tree.js';
import { rowsBelow } from '../../store/rows-below.js';
import type { Store } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore, SESSION_INIT } from './fixtures.js';

let store: Store;
beforeEach(async () => {
  ({ store } = await newStore());
});
afterAll(cleanUp);

const ROOT = { tenant: 'default', runId: 'run' };
const MANY = 450;

function row(child: string, n = 1) {
  const parent = child.replace(/:[ac]\d+$/, '');
  return { tenant: 'default', child, parent, n, digest: 'd', start: '{}' };
}

const usage = { input: 10, output: 2, cacheRead: 3, cacheWrite: 0 };

function reply(model: string, costMicroUsd: number) {
  return {
    type: 'model_response',
    call: 1,
    messageId: 'm',
    // Words and arguments that look like a reply are none.
    text: { text: '{"type":"model_response","costMicroUsd":9}' },
    calls: [{ id: 'c', tool: 't', args: { type: 'model_response', costMicroUsd: 9 } }],
    stopReason: 'end_turn',
    model,
    usage,
    costMicroUsd,
  } as const;
}

async function paid(
  runId: string,
  replies: readonly (readonly [string, number])[],
  tenant = 'default',
) {
  const source = { tenant, runId, execution: 'e' };
  const bodies = replies.map(([model, cost]) => reply(model, cost));
  const like = { type: 'warning', code: 'x', message: 'y', about: { type: 'model_response' } };
  await store.appendEvents(
    source,
    eventsFrom(0, [SESSION_INIT, ...bodies, like as unknown as typeof SESSION_INIT]),
  );
}

test('Rows below a run come parents first over all generations, as many as are asked for.', async () => {
  for (let n = 1; n <= MANY; n += 1) await store.registerChild(row(`run:c${n}`, n));
  await store.registerChild(row('run:c1:a1'));
  await store.registerChild(row('run:c1:a1:a1'));
  const wanted = { depth: 8, count: 1_000 };
  const { rows, leftOut } = await rowsBelow(store, ROOT, wanted);
  expect([rows.length, leftOut]).toEqual([MANY + 2, false]);
  expect(rows.slice(-2).map(({ child }) => child)).toEqual(['run:c1:a1', 'run:c1:a1:a1']);
  const less = await rowsBelow(store, ROOT, { depth: 1, count: 1_000 });
  expect([less.rows.length, less.leftOut]).toEqual([MANY, false]);
  const few = await rowsBelow(store, ROOT, { depth: 8, count: MANY });
  expect([few.rows.length, few.leftOut]).toEqual([MANY, true]);
});

test('What a tree paid is added up by route from replies alone, in its own tenant.', async () => {
  await store.registerChild(row('run:a1'));
  await store.registerChild(row('run:a2', 2));
  await paid('run', [
    ['dear', 100],
    ['cheap', 1],
  ]);
  await paid('run:a1', [['dear', 50]]);
  await paid('run:a1', [['dear', 7_000]], 'other');
  const tree = await readTree(store, ROOT);
  expect(tree?.routes).toEqual([
    {
      model: 'dear',
      calls: 2,
      usage: { ...usage, input: 20, output: 4, cacheRead: 6 },
      costMicroUsd: 150,
    },
    { model: 'cheap', calls: 1, usage, costMicroUsd: 1 },
  ]);
  expect(tree?.runs).toMatchObject([
    { runId: 'run', depth: 0 },
    { runId: 'run:a1', parent: 'run', depth: 1, routes: [{ costMicroUsd: 50 }] },
    { runId: 'run:a2', parent: 'run', status: 'not_begun', routes: [] },
  ]);
  expect(await readTree(store, { tenant: 'other', runId: 'run' })).toBeUndefined();
});
