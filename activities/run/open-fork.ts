/**
 * open_run of a fork: the state that it begins from, out of the store.
 * Invariant: only what whoever may write the store has put there is taken; a start by itself says nothing of grants or limits.
 */
import type { OpenRunInput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Fork } from '../../core/state/fork.js';
import type { ForkRef } from '../../core/state/task.js';
import type { InTransaction } from '../deps.js';

export async function forkOf(
  { store }: InTransaction,
  { run }: OpenRunInput,
  ref: ForkRef,
): Promise<Fork> {
  const row = await store.getFork(run.tenant, run.runId);
  if (row === undefined || row.digest !== ref.digest || row.parent !== ref.id) {
    throw new HoldfastError('ForkRefused', `The store has no state for the fork ${run.runId}.`, {
      hint: 'Begin the fork with `holdfast fork`, which writes its state before it starts.',
    });
  }
  // Written by our own client, under the digest that the start names.
  const fork = JSON.parse(row.body) as Fork | { readonly run?: undefined };
  if (fork.run !== undefined) return fork;
  throw new HoldfastError('ForkRefused', `${run.runId} is the id of a fork of a goal.`, {
    hint: 'Start the run under another id.',
  });
}
