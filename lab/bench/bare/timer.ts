/** The reference of goals that wake: a plain workflow that sleeps until a time and then runs one activity. */
import { proxyActivities, sleep } from '@temporalio/workflow';

interface TimerActivities {
  woke(until: number): Promise<void>;
}

export async function plainTimer(until: number): Promise<void> {
  const { woke } = proxyActivities<TimerActivities>({ startToCloseTimeout: '1 minute' });
  await sleep(Math.max(1, until - Date.now()));
  await woke(until);
}
