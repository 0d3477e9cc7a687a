/**
 * Whose tokens are looked at: an address that failed too often waits before it may try another.
 * Invariants: an attempt is paid for before its token is verified, however many come at once, and given back
 * when it was no failure; whoever logged in with a token here is not held up by strangers at the same address;
 * of tokens only digests are kept, and so many.
 */
import type { RateLimit } from '../http/rate.js';
import { sha256 } from './token-digest.js';

const KNOWN_MAX = 10_000;

export interface Attempt {
  /** 0: the token may be looked at; else how many seconds to wait. */
  readonly seconds: number;
  succeeded(): void;
  failed(): void;
}

export interface Strangers {
  attempt(address: string, token: string): Attempt;
}

export function strangersAt(limit: RateLimit): Strangers {
  const known = new Set<string>();
  return {
    attempt(address, token) {
      const digest = digestOf(token);
      const isFree = known.has(digest);
      return {
        seconds: isFree ? 0 : limit.take(address),
        succeeded() {
          if (!isFree) limit.giveBack(address);
          // Put in anew, the order is that of use.
          known.delete(digest);
          known.add(digest);
          const oldest = known.size > KNOWN_MAX ? known.values().next().value : undefined;
          if (oldest !== undefined) known.delete(oldest);
        },
        failed() {
          if (isFree) limit.take(address);
          known.delete(digest);
        },
      };
    },
  };
}

function digestOf(token: string): string {
  return sha256(token).toString('base64');
}
