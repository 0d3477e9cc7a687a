/** Pauses of a run that says nothing for long. */
import type { WholeTreeMoment } from '../../client/index.js';
import { paced } from '../../http/paced.js';

/** Of which nothing comes, and how many wait for it. */
function silent() {
  let waiting = 0;
  const never = new Promise<IteratorResult<WholeTreeMoment, void>>(() => undefined);
  const then = never.then.bind(never);
  never.then = ((...given: Parameters<typeof then>) => {
    waiting += 1;
    return then(...given);
  }) as typeof never.then;
  const moments = {
    next: () => never,
    return: async () => ({ done: true, value: undefined }),
  } as unknown as AsyncGenerator<WholeTreeMoment, void, undefined>;
  return { moments, waiting: () => waiting };
}

test('a pause that is over keeps nothing of its wait', async () => {
  const { moments, waiting } = silent();
  const limit = new AbortController();
  const seen: string[] = [];
  for await (const { kind } of paced(moments, limit.signal)) {
    seen.push(kind);
    if (seen.length === 2) limit.abort();
  }
  expect(seen).toEqual(['quiet', 'quiet', 'limit']);
  // The pauses share one wait; the other one is that of the end.
  expect(waiting()).toBe(2);
});
