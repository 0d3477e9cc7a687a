/** What is sent to a run of a real server at one moment. */
import { sendingOf } from '../../evaluation/temporal/sending.js';

/** Whether a promise has ended by now, without waiting for anything. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    promise.then(() => true),
    new Promise<false>((end) => setImmediate(end, false)),
  ]);
}

test('a step of the run waits until everything of the moment is sent', async () => {
  const sending = sendingOf();
  let sent = (): void => undefined;
  const all = sending.during(() => new Promise<void>((end) => (sent = end)));
  const step = sending.before('execute_tool');
  expect(await isOver(step)).toBe(false);
  sent();
  await all;
  await step;
  expect(await isOver(sending.before('close_run'))).toBe(true);
});

test('what a decision may wait for itself does not wait', async () => {
  const sending = sendingOf();
  void sending.during(() => new Promise<void>(() => undefined));
  expect(await isOver(sending.before('check_call'))).toBe(true);
});

test('nothing waits for ever for what is never sent, or cannot be', async () => {
  const sending = sendingOf(20);
  void sending.during(() => new Promise<void>(() => undefined));
  await sending.before('call_model');
  const other = sendingOf(60_000);
  await expect(other.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await other.before('call_model');
});
