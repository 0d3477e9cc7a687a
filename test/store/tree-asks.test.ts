/** Questions of a tree of runs, listed under its root. */
import type { Store } from '../../store/store.js';
import { askView, cleanUp, eventsFrom, newStore, SESSION_INIT } from './fixtures.js';

let store: Store;
beforeEach(async () => {
  ({ store } = await newStore());
});
afterAll(cleanUp);

const ROOM = { atOnce: 4, inAll: 4 };

function row(child: string, path: readonly string[]) {
  const place = { root: 'run', path, call: 'c' };
  const [parent, n] = [child.replace(/:a\d+$/, ''), 1];
  return { tenant: 'default', child, parent, n, digest: 'd', start: '{}', place };
}

let opened = 0;
async function asks(runId: string, tenant = 'default'): Promise<void> {
  opened += 1;
  const ask = { type: 'approval_requested', ...askView(`${runId}:q`), openedAt: opened } as const;
  const events = eventsFrom(0, [SESSION_INIT, ask]);
  await store.appendEvents({ tenant, runId, execution: 'e' }, events);
}

test('Questions are listed under each run above theirs, with their root and the agents on the way, in their own tenant only.', async () => {
  await store.registerChild(row('run:a1', ['desk', 'auditor']), ROOM);
  await store.registerChild(row('run:a1:a1', ['desk', 'auditor', 'clerk']), ROOM);
  const runs = ['run', 'run:a1', 'run:a1:a1', 'run:a2', 'runaway'];
  for (const runId of runs) await asks(runId);
  await asks('run:a1', 'other');
  const under = async (runId: string, tenant = 'default') =>
    (await store.listAsks(tenant, { under: runId, limit: 9 })).map((ask) => ask.runId);
  expect(await under('run')).toEqual(['run', 'run:a1', 'run:a1:a1']);
  expect(await under('run:a1')).toEqual(['run:a1', 'run:a1:a1']);
  expect(await under('run:a2')).toEqual(['run:a2']);
  expect(await under('run', 'other')).toEqual([]);
  expect(await store.countAsks('default', { under: 'run' })).toBe(3);
  const place = { root: 'run', agentPath: ['desk', 'auditor', 'clerk'] };
  expect(await store.getAsk('default', 'run:a1:a1:q')).toMatchObject(place);
  expect(await store.getRun('default', 'run:a1:a1')).toMatchObject(place);
  expect(await store.getAsk('default', 'run:q')).not.toHaveProperty('root');
});
