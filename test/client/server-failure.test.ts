/** What is said of a Temporal server that a call has reached and that gives no answer, and of one that is not there. */
import { connectFailure, serverFailure } from '../../client/server-failure.js';

const place = { address: '127.0.0.1:7233', namespace: 'default', taskQueue: 'holdfast' };
const UNAVAILABLE = 14;
const DEADLINE = 4;

function refusal(code: number, details: string): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
}

test.each([
  'database or disk is full',
  'disk I/O error: no space left on device',
  'Not enough hosts to serve the request',
  'persistence is not available',
])('a server that says why runs: %s', async (details) => {
  const error = refusal(UNAVAILABLE, details);
  for (const failure of [serverFailure(error, place), await connectFailure(error, place)]) {
    expect(failure.code).toBe('ServerUnavailable');
    expect(failure.message).toBe(
      `The Temporal server at 127.0.0.1:7233 runs, and cannot do this now: ${details}`,
    );
    expect(failure.hint).toContain('disk');
  }
});

test.each([
  'Deadline exceeded after 10.001s,LB pick: 0.001s,remote_addr=127.0.0.1:7233',
  // Of a server without disk, after the attempts that the SDK makes.
  'Deadline exceeded after 0.000s,waiting for metadata filters',
])('a call that had no answer in time may count later: %s', (details) => {
  const { message, hint } = serverFailure(refusal(DEADLINE, details), place);
  expect(message).toContain('gave no answer in time');
  expect(hint).toContain('may come later all the same');
});

test.each([
  [UNAVAILABLE, 'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:7233'],
  [UNAVAILABLE, 'Connection dropped'],
  [UNAVAILABLE, 'Name resolution failed for target dns:nowhere:7233'],
  [UNAVAILABLE, 'Received RST_STREAM with code 2 (Internal server error)'],
  [UNAVAILABLE, 'read ECONNRESET'],
  [UNAVAILABLE, ''],
  [DEADLINE, 'Deadline exceeded after 5.000s,name resolution: 0.001s'],
])('a server that is not reached answers nothing: %s %s', (code, details) => {
  expect(serverFailure(refusal(code, details), place).message).toBe(
    'No Temporal server answers at 127.0.0.1:7233.',
  );
});
