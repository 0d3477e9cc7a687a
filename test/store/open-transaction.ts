/** A transaction that stays open, and what others may do meanwhile. */
import type { Store, StoreCalls } from '../../store/store.js';
import { eventsFrom, warnings } from './fixtures.js';

export const RUN = { tenant: 't', runId: 'r1' };
const SOURCE = { ...RUN, execution: 'e' };
export const REPLY = { ...RUN, call: 1, requestDigest: 'd' };

export const CALL = {
  tenant: 't',
  key: 'k',
  argsDigest: 'd',
  attempt: 1,
  runId: 'r1',
  callKey: '1',
  tool: 'pay',
};

/** A transaction that has written a blob and stays open until `end` is called. */
export async function openTransaction(store: Store) {
  let inside: StoreCalls | undefined;
  let finish: ((failure?: Error) => void) | undefined;
  let begun: (() => void) | undefined;
  const open = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const over = store.together(async (calls) => {
    inside = calls;
    await calls.putBlob('t', 'first');
    begun?.();
    await new Promise<void>((resolve, reject) => {
      finish = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
  });
  await open;
  return {
    inside,
    async end(failure?: Error) {
      finish?.(failure);
      return over;
    },
  };
}

/** One call of each kind that may run without waiting for Kysely. */
export function outsideCalls(store: Store): readonly Promise<unknown>[] {
  return [
    store.putReply({ ...REPLY, output: 'mine' }),
    store.claim({ ...CALL, claimedUntil: 5, sameKeyRetry: false }),
    store.putNode('t', { v: 1, parent: null, role: 'user', messageId: 'm', blocks: [] }),
    store.appendEvents(SOURCE, eventsFrom(0, warnings(1))),
  ];
}
