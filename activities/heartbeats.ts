/**
 * When activities of this process tell the server that they live.
 * Invariants: two heartbeats in a row may get lost before a worker counts as dead; all activities together do not
 * keep the server busy with them.
 */

/** Heartbeats per heartbeat timeout. */
const BEATS_PER_TIMEOUT = 3;
const BEAT_MS_MIN = 100;
/** Only a heartbeat's answer brings a cancellation: on a worker with little to do a person's stop waits so long. */
const BEAT_MS = 500;
/** Of all activities of this process. Each is a write of the server: a hundred tell it every two seconds. */
const BEATS_PER_SECOND = 50;

let running = 0;

/** How long an activity waits between two heartbeats, in ms, while so many run beside it. */
export function beatMs(timeoutMs: number, activities: number): number {
  const shared = Math.max(BEAT_MS, (activities * 1_000) / BEATS_PER_SECOND);
  return Math.max(BEAT_MS_MIN, Math.min(shared, Math.floor(timeoutMs / BEATS_PER_TIMEOUT)));
}

/** Calls `beat` again and again; call what it returns when the activity has ended. */
export function startBeating(
  beat: () => void,
  timeoutMs: number = Number.POSITIVE_INFINITY,
): () => void {
  running += 1;
  let timer = setTimeout(again, beatMs(timeoutMs, running));
  function again(): void {
    timer = setTimeout(again, beatMs(timeoutMs, running));
    beat();
  }
  return () => {
    running -= 1;
    clearTimeout(timer);
  };
}
