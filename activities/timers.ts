/** Waiting in activities: the machine's timers, or whatever drives time in their place. */
export interface Timers {
  /** Calls `then` after so many ms, unless what is returned was called before. */
  after(ms: number, then: () => void): () => void;
}

export const MACHINE_TIMERS: Timers = {
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

export function timersOf({ timers }: { readonly timers?: Timers | undefined }): Timers {
  return timers ?? MACHINE_TIMERS;
}

/** Waits; false when `signal` ended it before the time was over. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
