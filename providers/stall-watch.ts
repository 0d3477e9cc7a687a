/**
 * Ends a request that stopped moving. Two limits, because a healthy model may think for minutes while its
 * server only sends keep-alives: `stallMs` without any byte, `quietMs` without any content.
 */
export interface StallLimits {
  readonly stallMs: number;
  readonly quietMs: number;
}

export interface StallWatch {
  /** Aborts when the caller does, or when the request stalled. */
  readonly signal: AbortSignal;
  /** What stalled, once it has. */
  stalled(): string | undefined;
  sawBytes(): void;
  sawContent(): void;
  stop(): void;
}

export function startStallWatch(limits: StallLimits, caller: AbortSignal): StallWatch {
  const controller = new AbortController();
  let reason: string | undefined;
  const trip = (what: string): void => {
    reason ??= what;
    controller.abort();
  };
  const onCallerAbort = (): void => controller.abort();
  const bytes = setTimeout(trip, limits.stallMs, `nothing arrived for ${limits.stallMs} ms`);
  const content = setTimeout(trip, limits.quietMs, `only keep-alives for ${limits.quietMs} ms`);
  caller.addEventListener('abort', onCallerAbort, { once: true });
  if (caller.aborted) controller.abort();
  return {
    signal: controller.signal,
    stalled: () => reason,
    sawBytes: () => void bytes.refresh(),
    sawContent: () => void content.refresh(),
    stop: () => {
      clearTimeout(bytes);
      clearTimeout(content);
      caller.removeEventListener('abort', onCallerAbort);
    },
  };
}
