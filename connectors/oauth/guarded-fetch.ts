/**
 * Requests to authorization servers.
 * Invariants: what describes servers is read from named origins alone, and nothing is followed elsewhere; secrets go over https or
 * within this machine; a server elsewhere leads to no address of this machine; an answer is bounded in size and time.
 */
import { isSafeAddress, isThisMachine } from '../../authoring/connector-auth.js';
import { boundedFetch, type Fetch } from '../bounded-fetch.js';
import { Refusal } from './refusal.js';

const ANSWER_BYTES_MAX = 64 * 1024;

export interface Readable {
  /** Addresses of the configuration: the server's, and its issuer's. */
  readonly own: readonly (string | undefined)[];
  /** The authorization server that the server names. */
  readonly named?: string;
}

/** Only origins of these addresses are read. */
export function guardedFetch({ own, named }: Readable, timeoutMs: number): Fetch {
  const given = own.filter((address) => address !== undefined);
  const origins = [...given, ...(named === undefined ? [] : [named])].map(
    (address) => new URL(address).origin,
  );
  const isLocal = given.some(isThisMachine);
  const bounded = boundedFetch(ANSWER_BYTES_MAX);
  return async (url, init) => {
    const isRead = (init?.method ?? 'GET').toUpperCase() === 'GET';
    const isElsewhere = isRead && !origins.includes(new URL(url).origin);
    if (!isSafeAddress(url) || isElsewhere || (!isLocal && isThisMachine(url))) {
      throw new Refusal('the server names an address that is not to be asked');
    }
    return bounded(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  };
}

/** The issuer of a configuration may lack the last slash. */
export function plain(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
