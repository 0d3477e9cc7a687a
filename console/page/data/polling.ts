/**
 * Looking again and again, while somebody is there to see it: less often in a hidden tab, at once when it is
 * shown again, and with growing pauses while the desk does not answer.
 */

const HIDDEN_MS = 30_000;
const FAILED_MS = { first: 1_000, last: 10_000 };

export interface Polling {
  /** Looks now; once more where it is looking already, because what it sees then may be older. */
  soon(): void;
}

/** What `look` throws is not its last word: it is called again. */
export function poll(
  look: () => Promise<unknown>,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): Polling {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;
  let isWantedAgain = false;
  const pause = (): number => {
    if (failures === 0) return document.hidden ? HIDDEN_MS : everyMs;
    return Math.min(FAILED_MS.last, FAILED_MS.first * 2 ** (failures - 1));
  };
  const soon = (): void => void next();
  const next = async (): Promise<void> => {
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
