/** A thread of workflow code loads its modules while its worker still loads its own. */
import { once } from 'node:events';
import type { Worker as Thread } from 'node:worker_threads';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { startWorker } from '../../worker/index.js';
import { beginThread, takeThread } from '../../worker/vm/thread-ahead.js';

const taken: Thread[] = [];

afterEach(async () => {
  await Promise.all(taken.splice(0).map((thread) => thread.terminate()));
});

function take(): Thread {
  const thread = takeThread();
  taken.push(thread);
  return thread;
}

function answers(thread: Thread): Promise<unknown[]> {
  thread.postMessage({ requestId: 1n, input: { type: 'destroy' } });
  return once(thread, 'message');
}

const agent = defineAgent({ name: 'clerk', model: 'scripted/model', instructions: 'Answer.' });

test('a worker takes the thread that is ahead, and the next worker begins another one', () => {
  beginThread();

  const [first, second] = [take(), take()];

  expect(second).not.toBe(first);
  expect(second.threadId).toBeGreaterThan(first.threadId);
});

test('one thread is ahead at a time', async () => {
  const ahead = beginThread();

  expect(beginThread()).toBeUndefined();
  await ahead?.end();
});

test('a thread that a worker has taken goes on when whoever began it has ended', async () => {
  const ahead = beginThread();
  const thread = take();

  await ahead?.end();

  await expect(answers(thread)).resolves.toMatchObject([{ result: { type: 'ok' } }]);
});

test('a start that fails leaves no thread behind', async () => {
  const started = startWorker({
    address: '127.0.0.1:1',
    namespace: 'default',
    taskQueue: 'nobody',
    storePlace: '/proc/no/such/store.db',
    config: defineConfig({ agents: [agent] }),
    providers: new Map(),
  });

  await expect(started).rejects.toMatchObject({ code: 'StoreUnavailable' });

  const next = beginThread();
  expect(next).toBeDefined();
  await next?.end();
});
