/** Between the death of a worker and the next one, the server gives up questions that it had handed over. */
import { askWorker } from '../../client/ask-worker.js';
import type { Link } from '../../client/link.js';

const CANCELLED = 1;
const link = {
  address: '127.0.0.1:7233',
  connection: { withDeadline: (_: number, work: () => Promise<unknown>) => work() },
} as unknown as Link;

function givenUp(): Error {
  const words = { code: CANCELLED, details: 'context canceled', metadata: {} };
  return new Error('Failed to query Workflow', { cause: Object.assign(new Error('1'), words) });
}

test('a question that the server gave up is asked again', async () => {
  let times = 0;
  const ask = async (): Promise<string> => {
    times += 1;
    if (times === 1) throw givenUp();
    return Promise.resolve('waiting');
  };
  expect(await askWorker(link, { runId: 'one' }, ask)).toBe('waiting');
});

test('questions that are given up for the whole time say so', async () => {
  const ask = (): Promise<string> => Promise.reject(givenUp());
  await expect(askWorker(link, { runId: 'one', limitMs: 500 }, ask)).rejects.toMatchObject({
    code: 'ServerUnavailable',
    hint: expect.stringContaining('Ask again in a moment'),
  });
});
