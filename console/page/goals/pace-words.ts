/** When cycles begin, in words. */
import { duration } from '../parts/format.js';

export function paceText(pace: unknown): string {
  if (pace === 'continuous') return 'one cycle after the other';
  if (pace === 'when_woken') return 'a cycle when somebody wakes the goal';
  const { everyMs, cron, timezone } = (pace ?? {}) as {
    readonly everyMs?: number;
    readonly cron?: string;
    readonly timezone?: string;
  };
  if (typeof everyMs === 'number') return `a cycle every ${duration(everyMs)}`;
  return `a cycle at ${cron ?? '?'} (${timezone ?? '?'})`;
}
