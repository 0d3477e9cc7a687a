/**
 * The store that has a run's records (G116).
 * Invariants: a run keeps to one store unless it is adopted by another; of a call that was handed over before an older
 * copy took the store's place nothing is concluded from what the ledger lacks.
 */
import type { ReturnedStage } from '../state/call.js';
import { follows } from './changes.js';
import type { StoreRef } from '../state/effect.js';
import { warn } from './outbox.js';
import type { OpenRun, Run } from '../state/run.js';

/** What an activity says of the store that it met; older word than the run's own is passed over. */
export function metStore(run: OpenRun, met: StoreRef): OpenRun {
  const known = run.store;
  if (known === undefined) return run;
  const isAdopted = met.id !== known.id;
  if (!isAdopted && met.epoch <= known.epoch) return run;
  const message = isAdopted
    ? `The run goes on with the store ${met.id}, which has adopted it.`
    : `An older copy of the store has taken its place (epoch ${met.epoch}).`;
  const store = { id: met.id, epoch: met.epoch, since: run.now };
  return warn({ ...run, store }, isAdopted ? 'run_adopted' : 'store_restored', message);
}

/** What the ledger lacks of this attempt may have been in it. */
export function precedesStore(
  { store }: Run,
  { startedAt }: { readonly startedAt: number },
): boolean {
  return store?.since !== undefined && startedAt <= store.since;
}

/** An attempt that ended in doubt, or was lost, after it had said that its claim was in the ledger. */
export function saidClaimed(run: OpenRun, { attempt, fact }: ReturnedStage): boolean {
  return follows(run, 'ownStore') && claimedBy(run, fact) === attempt;
}

function claimedBy(run: OpenRun, fact: ReturnedStage['fact']): number | undefined {
  if (fact.kind === 'failure') return fact.failure.claimed;
  return fact.kind === 'outcome' &&
    fact.outcome.kind === 'ambiguous' &&
    follows(run, 'claimInDoubt')
    ? fact.outcome.claimed
    : undefined;
}
