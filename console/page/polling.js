/**
 * Looking again and again, while somebody is there to see it: less often in a hidden tab, at once when it is
 * shown again, and with growing pauses while the desk does not answer.
 */

const HIDDEN_MS = 30_000;
const FAILED_MS = { first: 1_000, last: 10_000 };

/**
 * @param {() => Promise<unknown>} look What it throws is not its last word: it is called again.
 * @param {{ readonly everyMs: number, readonly signal: AbortSignal }} options
 * @returns {{ soon(): void }}
 */
export function poll(look, { everyMs, signal }) {
  let failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isLooking = false;
  /** Asked for while it was looking: what it saw may be older than that. */
  let isWantedAgain = false;
  const pause = () => {
    if (failures === 0) return document.hidden ? HIDDEN_MS : everyMs;
    return Math.min(FAILED_MS.last, FAILED_MS.first * 2 ** (failures - 1));
  };
  const soon = () => void next();
  const next = async () => {
    clearTimeout(timer);
    if (isLooking) isWantedAgain = true;
    if (isLooking || signal.aborted) return;
    isLooking = true;
    isWantedAgain = false;
    try {
      await look();
      failures = 0;
    } catch {
      failures += 1;
    }
    isLooking = false;
    if (!signal.aborted) timer = setTimeout(soon, isWantedAgain ? 0 : pause());
  };
  document.addEventListener('visibilitychange', soon, { signal });
  window.addEventListener('online', soon, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  soon();
  return { soon };
}
