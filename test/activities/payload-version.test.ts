/** Payloads of a newer release: nothing of them is guessed, and they wait for a worker that reads them. */
import { effect, environmentOf, executeInput, failureFrom, openedHead, type Bed } from './setup.js';
import { bedWith, call, FINANCIAL } from './tool-bed.js';

let bed: Bed;
afterEach(() => bed.end());

test('an activity of another payload version is refused, reaches nothing, and is no attempt', async () => {
  let runs = 0;
  bed = await bedWith(() => (runs += 1), FINANCIAL);
  await openedHead(bed);
  const { execute_tool } = bed.activities({});
  const input = { ...executeInput(call, { timeoutMs: 5_000 }), v: 3 } as never;
  const environment = environmentOf(effect());
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  const failure = await failureFrom(environment.run(execute_tool, input) as Promise<unknown>);
  expect(failure).toMatchObject({
    type: 'NotServed',
    nonRetryable: false,
    message: expect.stringMatching(/execute_tool .*version 3.*reads up to version 2.*newer worker/),
  });
  expect(failure.details?.[0]).toMatchObject({
    payloadVersion: 3,
    waitingSince: expect.any(Number),
  });
  expect(beats.at(-1)).toMatchObject({ refused: 1, tries: 0 });
  expect(runs).toBe(0);
});
