import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;
const POLLS_MAX = 6_000;

/** Waits for a state instead of a moment. Fails when it does not come within half a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if (await isSo()) return;
    await sleep(POLL_MS);
  }
  throw new Error('It did not come to that.');
}
