/**
 * When an older copy took the place of the desk's store. Invariant: however often it is asked, the store is read once in
 * a while.
 */
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import { restoredLately } from '../store/restored.js';
import type { Desk } from './desk.js';
import type { DeskStore } from './desk-store.js';

const LOOK_MS = 10_000;

interface Look {
  /** ms since epoch. */
  readonly at: number;
  readonly found: Promise<number | undefined>;
}

const looks = new WeakMap<DeskStore, Look>();

/** For an answer of the desk: when it was noticed, ms since epoch; absent: never, or long ago. */
export async function restoredHere(
  desk: Pick<Desk, 'store' | 'clock'>,
): Promise<{ readonly restoredAt?: number }> {
  const restoredAt = await lately(desk);
  return restoredAt === undefined ? {} : { restoredAt };
}

function lately({ store, clock }: Pick<Desk, 'store' | 'clock'>): Promise<number | undefined> {
  const at = clock();
  const last = looks.get(store);
  if (last !== undefined && Math.abs(at - last.at) < LOOK_MS) return last.found;
  // A store that is away is told elsewhere.
  const found = unlessStoreAway(store, () => restoredLately(store, at)).then((answer) =>
    answer === STORE_AWAY ? last?.found : answer,
  );
  looks.set(store, { at, found });
  return found;
}
