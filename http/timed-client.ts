/**
 * The client of a chat's request. Invariant: a read that its store has left without an answer for the time of a store fails as one
 * of a store that is away, so that neither the request nor the messages behind it wait for the driver of the database.
 */
import { STORE_AWAY, unlessStoreAway, whyAway, type HoldfastClient } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';

type Reads = { readonly [name: string | symbol]: unknown };

/** These read the store, as all of `conversations` but what asks Temporal does. */
const READS: readonly PropertyKey[] = ['session', 'transcript'];
const OF_TEMPORAL: readonly PropertyKey[] = ['running'];

export function timedClient(client: HoldfastClient): HoldfastClient {
  return new Proxy(client, {
    get(_, name) {
      if (name === 'conversations') return timedReads(client.conversations as unknown as Reads);
      return READS.includes(name) ? timed(client as unknown as Reads, name) : own(client, name);
    },
  });
}

function timedReads(reads: Reads): Reads {
  const get = (_: Reads, name: string | symbol) =>
    OF_TEMPORAL.includes(name) ? own(reads, name) : timed(reads, name);
  return new Proxy<Reads>(reads, { get });
}

function own(of: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(of, name, of);
  return typeof value === 'function' ? value.bind(of) : value;
}

function timed(of: Reads, name: string | symbol): unknown {
  const read = of[name];
  if (typeof read !== 'function') return read;
  return async (...args: readonly unknown[]): Promise<unknown> => {
    // A key of its own: another read may be answered.
    const key = {};
    const answer = await unlessStoreAway(key, async () => (await read.apply(of, args)) as unknown);
    if (answer !== STORE_AWAY) return answer;
    throw whyAway(key) ?? storeSilent();
  };
}

export function storeSilent(): HoldfastError {
  return new HoldfastError('StoreUnavailable', 'The store does not answer.');
}
