/** Live forks beside workers of older releases. */
import type { Link } from '../../../client/link.js';
import { startFork } from '../../../client/runs/start-fork.js';
import type { Fork } from '../../../core/state/fork.js';
import { openMemoryStore, type MemoryStore } from '../../../store/store.js';

const QUEUE = { namespace: 'default', taskQueue: 'other queue' };
const CODE = { agents: ['a'], tools: [], hooks: [], providers: [] };

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

function fork(link: Partial<Link>, more: object = {}) {
  const start = { v: 1, agent: 'a', task: { goal: 'Do it.' } };
  const state = { run: { tenant: 'default', runId: 'parent', start }, step: 3, outcomes: [] };
  const place = { namespace: 'default', taskQueue: 'holdfast', ...link } as unknown as Link;
  const options = { fork: state as unknown as Fork, store, runId: 'fork', wait: false };
  return startFork(place, { ...options, ...more });
}

const isKnown = async () => (await store.getFork('default', 'fork')) !== undefined;

test('a live fork is refused while a worker of an older release is at work on any queue, and nothing is written', async () => {
  await store.announceServed({ ...QUEUE, worker: 'w1', code: CODE, schema: 22 });
  await expect(fork({})).rejects.toMatchObject({
    code: 'ForkRefused',
    message: expect.stringContaining('older release'),
    details: { worker: 'w1', taskQueue: 'other queue' },
  });
  expect(await isKnown()).toBe(false);
});

test('workers of this release, of other namespaces, and those that have ended refuse no fork', async () => {
  await store.announceServed({ ...QUEUE, worker: 'w1', code: CODE });
  await store.announceServed({ ...QUEUE, namespace: 'n', worker: 'w2', code: CODE, schema: 22 });
  await store.announceServed({ ...QUEUE, worker: 'w3', code: CODE, schema: 22 });
  await store.endServed('w3');
  // There is no server here.
  await expect(fork({})).rejects.not.toMatchObject({ code: 'ForkRefused' });
  expect(await isKnown()).toBe(true);
});

test('a misspelt option starts no fork, and nothing is written', async () => {
  await expect(fork({}, { runid: 'mine' })).rejects.toMatchObject({
    code: 'InvalidTask',
    details: { path: 'runid' },
    hint: expect.stringContaining('runId'),
  });
  expect(await isKnown()).toBe(false);
});
