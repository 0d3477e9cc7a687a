/** Workers that asked for work, told so that a dead one is not taken for one that lives: Temporal remembers it for a while. */
import type { Poller } from '../../client/index.js';
import { inert } from '../render/index.js';

const NAMED_MAX = 5;
const NAME_CHARS_MAX = 80;

/** The latest first. */
export function askedLately(workers: readonly Poller[], now: number): string {
  const named = workers
    .toSorted((one, other) => other.askedAt - one.askedAt)
    .slice(0, NAMED_MAX)
    .map(({ identity, askedAt }) => {
      const seconds = Math.max(0, Math.round((now - askedAt) / 1000));
      return `${inert(identity, NAME_CHARS_MAX)} ${seconds} s ago`;
    });
  const more = workers.length - named.length;
  const all = more === 0 ? named : [...named, `${more} more`];
  return `${workers.length} asked for work in the last 90 s (${all.join(', ')}); one that died since is still counted`;
}
