/** How callers know that the store is away: it cannot be reached now, and may be back. */
import { HoldfastError } from '../core/state/errors.js';

export function isStoreAway(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === 'StoreUnavailable';
}
