/** Between the death of a worker and the next one, the server gives up questions that it had handed over. */
import { askWorker } from '../../client/ask-worker.js';
import type { Link } from '../../client/link.js';

const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const link = {
  address: '127.0.0.1:7233',
  connection: { withDeadline: (_: number, work: () => Promise<unknown>) => work() },
} as unknown as Link;

function givenUp(code = CANCELLED): Error {
  const words = { code, details: 'context canceled', metadata: {} };
  return new Error('Failed to query Workflow', { cause: Object.assign(new Error('1'), words) });
}

test.each([
  ['gave up', CANCELLED],
  ['kept past a limit of its own', DEADLINE_EXCEEDED],
])('a question that the server %s is asked again', async (_, code) => {
  let times = 0;
  const ask = async (): Promise<string> => {
    times += 1;
    if (times === 1) throw givenUp(code);
    return Promise.resolve('waiting');
  };
  expect(await askWorker(link, { runId: 'one' }, ask)).toBe('waiting');
});

test('a question past its own time says that no worker answered', async () => {
  const ask = (): Promise<string> => Promise.reject(givenUp(DEADLINE_EXCEEDED));
  await expect(askWorker(link, { runId: 'one', limitMs: 500 }, ask)).rejects.toMatchObject({
    code: 'ServerUnavailable',
    message: expect.stringContaining('no worker answered'),
  });
});

test('questions that are given up for the whole time say so', async () => {
  const ask = (): Promise<string> => Promise.reject(givenUp());
  await expect(askWorker(link, { runId: 'one', limitMs: 500 }, ask)).rejects.toMatchObject({
    code: 'ServerUnavailable',
    hint: expect.stringContaining('Ask again in a moment'),
  });
});
