/**
 * Moves a server's time while a case waits for nothing else.
 * Invariant: time moves to the next timer, not beyond, and only after everything that was told has been looked at: what
 * a person does in the case is done before.
 */
import type { CaseGoal } from '../goal-case.js';
import type { VirtualTime } from '../../client/virtual-time.js';

/** `isNew`: something was told since the last call. True: nothing is left that could ever happen. */
export type MoveTime = (isNew: boolean) => Promise<boolean>;

/** So long a case that waits for nothing is believed to do so, in ms. */
const STUCK_MS = 3_000;

/** `workflowIds`: those of the case that have not ended. */
export function movesTime(
  { time }: { readonly time?: VirtualTime },
  workflowIds: () => readonly string[],
): { readonly moveTime?: MoveTime } {
  return time === undefined ? {} : { moveTime: mover(time, workflowIds) };
}

/** A case of the simulation begins at midnight, UTC, of a first of January; here as well, where ticks follow from it. */
export async function atBeginning(
  { time }: { readonly time?: VirtualTime },
  { definition }: Pick<CaseGoal, 'definition'>,
): Promise<void> {
  const { pace } = definition;
  if (time === undefined || typeof pace !== 'object' || !('cron' in pace)) return;
  const now = time.now();
  await time.advance(Date.UTC(new Date(now).getUTCFullYear() + 1, 0) - now);
}

function mover(time: VirtualTime, workflowIds: () => readonly string[]): MoveTime {
  /** How many events the histories had when nothing was under way. */
  let restedAt: number | undefined;
  let lastMove = performance.now();
  return async (isNew) => {
    if (isNew) {
      restedAt = undefined;
      lastMove = performance.now();
      return false;
    }
    const waits = await Promise.all(workflowIds().map((id) => time.waitOf(id))).catch(() => []);
    if (waits.length === 0 || waits.some(({ isBusy }) => isBusy)) {
      restedAt = undefined;
      lastMove = performance.now();
      return false;
    }
    const events = waits.reduce((sum, wait) => sum + wait.events, 0);
    const isStill = events === restedAt;
    restedAt = events;
    if (!isStill) return false;
    const timerAt = Math.min(...waits.map((wait) => wait.timerAt ?? Infinity));
    if (timerAt === Infinity) return performance.now() - lastMove > STUCK_MS;
    restedAt = undefined;
    lastMove = performance.now();
    await time.advance(Math.max(0, timerAt - time.now()));
    return false;
  };
}
