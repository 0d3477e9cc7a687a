/**
 * The row that says of a run or goal that it is a fork, written before its start.
 * Invariants: what has an id already is made no fork by a row; under one id there is one fork, with the state of its row: a
 * record that goes on says more by now of the calls that were in flight, and the same changes are the same fork.
 */
import { sha256Hex } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Fork } from '../../core/state/fork.js';
import type { NewFork } from '../../store/forks.js';
import type { StoreCalls } from '../../store/store.js';
import type { Link } from '../link.js';
import { descriptionOf } from './execution.js';

/** Of a fork's workflow: the digest of its state. */
export const FORK_MEMO = 'holdfastFork';
const OTHERS = 'Another run or goal has it';
/** Why an id is taken: what runs under it is not the fork. */
export const ANOTHER_RUN = 'another_run';

export type ForkRows = Pick<StoreCalls, 'getFork' | 'putFork'> &
  Partial<Pick<StoreCalls, 'getRun' | 'olderWorkers'>>;

export interface GivenFork extends NewFork {
  /** Somebody chose it: anything may have it. */
  readonly isGivenId: boolean;
}

/** Gives the digest of the state in the row. A start that is sent again finds its own row. Errors: `RunExists`. */
export async function writeForkRow(
  link: Link,
  store: ForkRows,
  { isGivenId, ...fork }: GivenFork,
): Promise<string> {
  const { tenant, runId, parent, body } = fork;
  if (isGivenId) {
    const known = await store.getFork(tenant, runId);
    if (known === undefined) {
      const isTaken =
        runId === parent ||
        (await descriptionOf(link, runId)) !== undefined ||
        // Temporal forgets what has ended.
        (await store.getRun?.(tenant, runId)) !== undefined;
      if (isTaken) throw taken(runId, OTHERS);
    } else if (!isSame(known.body, body)) throw otherFork(runId);
    else await refuseForgotten(link, store, fork);
  }
  const digest = await store.putFork(fork);
  if (digest === sha256Hex(body)) return digest;
  // The row of an earlier start, or of the first of two at once, counts.
  const row = await store.getFork(tenant, runId);
  if (row === undefined || !isSame(row.body, body)) throw otherFork(runId);
  return row.digest;
}

/** Run, step and changes are one: all that a state has beside what became of calls later. */
function isSame(one: string, other: string): boolean {
  return withoutOutcomes(one) === withoutOutcomes(other);
}

function withoutOutcomes(body: string): string {
  const { outcomes: _, ...state } = JSON.parse(body) as Partial<Fork>;
  return JSON.stringify(state);
}

/** A fork that has ended, and that Temporal has forgotten, would be started once more. */
async function refuseForgotten(
  link: Link,
  store: ForkRows,
  { tenant, runId }: Pick<NewFork, 'tenant' | 'runId'>,
): Promise<void> {
  if ((await store.getRun?.(tenant, runId)) === undefined) return;
  if ((await descriptionOf(link, runId)) !== undefined) return;
  throw taken(runId, 'The fork that has it was begun before, and Temporal has forgotten it');
}

/**
 * What runs under a given id may have been started between the row and the start of the fork.
 * Errors: `RunExists`, also for the fork itself where a release before this one started it.
 */
export async function checkIsFork(
  link: Link,
  { runId, digest }: { readonly runId: string; readonly digest: string },
): Promise<void> {
  const described = await descriptionOf(link, runId);
  if (described?.memo?.[FORK_MEMO] === digest) return;
  if (described !== undefined) throw taken(runId, OTHERS, { reason: ANOTHER_RUN });
}

const otherFork = (runId: string): HoldfastError =>
  taken(runId, 'A fork with another step, other changes or another run has it');

function taken(runId: string, by: string, why: { readonly reason?: string } = {}): HoldfastError {
  return new HoldfastError('RunExists', `The id ${runId} is taken. ${by}.`, {
    hint: 'Fork with another id, or without one.',
    details: { runId, ...why },
  });
}
