import { HoldfastError } from '../../core/state/errors.js';

/** The HoldfastError of an attempt; anything else that is thrown stays thrown, and an attempt without an error fails. */
export function errorOf(attempt: () => unknown): HoldfastError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
