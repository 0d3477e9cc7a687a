/** Doing several things at once, within limits. */

/** Gives the outcomes in the order of the items; at most `width` are under way. */
export async function* inOrder<Item, Outcome>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Outcome>,
): AsyncGenerator<Outcome, void> {
  const underWay: Promise<Outcome>[] = [];
  for (const item of items) {
    const started = work(item);
    // It is awaited in its turn; until then its failure is nobody's.
    started.catch(() => undefined);
    underWay.push(started);
    if (underWay.length >= width) yield await (underWay.shift() as Promise<Outcome>);
  }
  for (const started of underWay) yield await started;
}

/** The same function, never under way more than `most` times at once; who comes first goes first. */
export function limited<Argument, Outcome>(
  most: number,
  work: (argument: Argument) => Promise<Outcome>,
): (argument: Argument) => Promise<Outcome> {
  let free = Math.max(1, most);
  const waiting: (() => void)[] = [];
  return async (argument) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work(argument);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Rejects when the time is up, whether the work heeds its signal or not. */
export async function withTimeLimit<Outcome>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const controller = new AbortController();
  let fail: (error: Error) => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const end = (why: string): void => {
    controller.abort();
    fail(new Error(why));
  };
  const interrupted = (): void => end('interrupted');
  const late = (): void => end(`no answer within ${Math.round(limitMs / 1_000)} s`);
  const timer = setTimeout(late, limitMs);
  signal?.addEventListener('abort', interrupted, { once: true });
  try {
    return await Promise.race([work(controller.signal), over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupted);
  }
}
