/**
 * How Temporal says that runs stand which have no result in the store.
 * Invariant: a run has ended only where the server says so of the run itself. Its lists lag, and after a reset or at the
 * end of a segment another execution goes on under the id.
 */
import { HoldfastError } from '../../core/state/errors.js';
import {
  isEndByTemporal,
  isOwnEnd,
  type EndByTemporal,
  type OwnEnd,
} from '../../pure/listed-status.js';
import { ownExecution } from '../runs/execution.js';
import type { Link } from '../link.js';

/**
 * `unknown`: the server knows no such run of the tenant, or knows it no more; `completed`: it has ended by itself, with
 * its own word for that where it has told one.
 */
export type Standing = 'open' | 'completed' | 'unknown' | EndByTemporal | { readonly own: OwnEnd };

const ASKED_AT_ONCE = 20;

/** Errors: ServerUnavailable. */
export async function standingsOf(
  link: Link,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  const standings = new Map<string, Standing>();
  for (let from = 0; from < runIds.length; from += ASKED_AT_ONCE) {
    const some = runIds.slice(from, from + ASKED_AT_ONCE);
    const told = await Promise.all(some.map((runId) => standingOf(link, runId)));
    some.forEach((runId, at) => standings.set(runId, told[at] ?? 'open'));
  }
  return standings;
}

/** Errors: ServerUnavailable. */
export async function standingOf(link: Link, runId: string): Promise<Standing> {
  try {
    const { status, said } = await ownExecution(link, runId, 'brief');
    const word = status.toLowerCase();
    if (word === 'completed' && isOwnEnd(said)) return { own: said };
    return isEndByTemporal(word) || word === 'completed' ? word : 'open';
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'RunNotFound') return 'unknown';
    throw error;
  }
}
