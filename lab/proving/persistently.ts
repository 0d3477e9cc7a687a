/** Calls that are made again while the server is away. */
import { HoldfastError } from '../../core/state/errors.js';

const TRIES_MAX = 5;

/** `call` must count once however often it is made. */
export async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const passing = error instanceof HoldfastError && error.code === 'ServerUnavailable';
      if (!passing || attempt >= TRIES_MAX) throw error;
    }
  }
}
