/** Live forks that are refused: beside workers of older releases, and under an id that something else has. */
import type { Link } from '../../../client/link.js';
import { startFork } from '../../../client/runs/start-fork.js';
import type { Fork } from '../../../core/state/fork.js';
import { HoldfastError } from '../../../core/state/errors.js';
import { openMemoryStore, type MemoryStore } from '../../../store/store.js';
import { eventsFrom, SESSION_INIT } from '../../store/fixtures.js';

const QUEUE = { namespace: 'default', taskQueue: 'other queue' };
const CODE = { agents: ['a'], tools: [], hooks: [], providers: [] };

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

interface Started {
  readonly workflowId: string;
  readonly memo?: object;
}

/** A server that knows these ids; what has an id already stays as it is. */
function server(...ids: readonly string[]) {
  const sent: string[] = [];
  const there = new Map<string, object>(ids.map((id) => [id, {}]));
  const describe = async (id: string) => {
    const found = there.get(id);
    if (found === undefined) throw new HoldfastError('RunNotFound', `There is no run ${id}.`);
    return found;
  };
  const start = async (_: string, { workflowId, memo }: Started) => {
    sent.push(workflowId);
    if (!there.has(workflowId)) there.set(workflowId, { memo });
  };
  const workflow = { getHandle: (id: string) => ({ describe: () => describe(id) }), start };
  const connection = { withDeadline: (_: number, work: () => unknown) => work() };
  return { sent, there, link: { connection, temporal: { workflow } } as unknown as Partial<Link> };
}

function fork(link: Partial<Link> = server().link, more: object = {}) {
  const start = { v: 1, agent: 'a', task: { goal: 'Do it.' } };
  const state = { run: { tenant: 'default', runId: 'parent', start }, step: 3, outcomes: [] };
  const place = { namespace: 'default', taskQueue: 'holdfast', ...link } as unknown as Link;
  const options = { fork: state as unknown as Fork, store, runId: 'fork', wait: false };
  return startFork(place, { ...options, ...more });
}

const isKnown = async () => (await store.getFork('default', 'fork')) !== undefined;

test('a live fork is refused while a worker of an older release is at work on any queue, and nothing is written', async () => {
  await store.announceServed({ ...QUEUE, worker: 'w1', code: CODE, schema: 22 });
  await expect(fork()).rejects.toMatchObject({
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
  await fork();
  expect(await isKnown()).toBe(true);
});

test('a misspelt option starts no fork, and nothing is written', async () => {
  await expect(fork(undefined, { runid: 'mine' })).rejects.toMatchObject({
    code: 'InvalidTask',
    details: { path: 'runid' },
    hint: expect.stringContaining('runId'),
  });
  expect(await isKnown()).toBe(false);
});

test('the same fork again under its id is that fork', async () => {
  const { link, sent } = server();
  await fork(link);
  expect(await fork(link)).toMatchObject({ runId: 'fork' });
  expect(sent).toEqual(['fork', 'fork']);
});

test('another fork under the id of one is refused, also where the first was never started', async () => {
  const { link, sent } = server();
  const before = { tenant: 'default', runId: 'fork', parent: 'parent', step: 3 };
  await store.putFork({ ...before, body: '{"message":"other"}', at: 1 });
  await expect(fork(link)).rejects.toMatchObject({
    code: 'RunExists',
    message: expect.stringContaining('other changes'),
    hint: expect.stringContaining('another id'),
    details: { runId: 'fork' },
  });
  expect(sent).toEqual([]);
});

test('of two forks that take one id at once, the second is refused', async () => {
  const { link, sent } = server();
  const late = { getFork: async () => undefined, putFork: store.putFork };
  await store.putFork({
    tenant: 'default',
    runId: 'fork',
    parent: 'p',
    step: 1,
    body: '{}',
    at: 1,
  });
  await expect(fork(link, { store: late })).rejects.toMatchObject({ code: 'RunExists' });
  expect(sent).toEqual([]);
});

test.each([
  ['a run that the server knows', 'ordinary'],
  ['the recorded run itself', 'parent'],
])('the id of %s makes no fork of it, and nothing is written', async (_, runId) => {
  const { link, sent } = server('ordinary');
  await expect(fork(link, { runId })).rejects.toMatchObject({
    code: 'RunExists',
    message: expect.stringContaining('Another run or goal'),
  });
  expect(await store.forksOf('default', 'parent', 10)).toEqual([]);
  expect(sent).toEqual([]);
});

test('a run that Temporal has forgotten keeps its id', async () => {
  const run = { tenant: 'default', runId: 'fork', execution: 'e1' };
  await store.appendEvents(run, eventsFrom(0, [SESSION_INIT]));
  await expect(fork()).rejects.toMatchObject({ code: 'RunExists' });
  expect(await isKnown()).toBe(false);
});

test('a run that has taken the id of a fork since its row was written is not handed over as that fork', async () => {
  const { link, there } = server();
  await fork(link);
  for (const other of [{}, { memo: { holdfastFork: 'of another state' } }]) {
    there.set('fork', other);
    await expect(fork(link)).rejects.toMatchObject({
      code: 'RunExists',
      message: expect.stringContaining('Another run or goal'),
    });
  }
});

test('a fork that has ended and that Temporal has forgotten is not started once more', async () => {
  const { link, sent, there } = server();
  await fork(link);
  const run = { tenant: 'default', runId: 'fork', execution: 'e1' };
  await store.appendEvents(run, eventsFrom(0, [SESSION_INIT]));
  expect(await fork(link)).toMatchObject({ runId: 'fork' });
  there.delete('fork');
  await expect(fork(link)).rejects.toMatchObject({
    code: 'RunExists',
    message: expect.stringContaining('forgotten'),
  });
  expect(sent).toEqual(['fork', 'fork']);
});

test('a store without the calls of forks is refused before anything is written', async () => {
  const { link, sent } = server();
  const { putFork } = store;
  await expect(fork(link, { store: { putFork } })).rejects.toMatchObject({
    code: 'InvalidTask',
    details: { path: 'store' },
  });
  expect(sent).toEqual([]);
});
