/** A store that can be away. */
import { HoldfastError } from '../../../core/state/errors.js';
import type { Store } from '../../../store/store.js';

export function shaky(real: Store, isAway: () => boolean): Store {
  const away = (): Promise<never> =>
    Promise.reject(new HoldfastError('StoreUnavailable', 'The database cannot be reached.'));
  const { together, health, close, live, watchEvents, ...calls } = real;
  const guarded = Object.entries(calls).map(([name, call]) => [
    name,
    (...args: never[]) => (isAway() ? away() : (call as (...given: never[]) => unknown)(...args)),
  ]);
  return {
    ...(Object.fromEntries(guarded) as typeof calls),
    health,
    close,
    live,
    watchEvents,
    together: (work, step) => (isAway() ? away() : together(work, step)),
  };
}
