/**
 * Whether the store of this worker is the one that a run was begun with (G116).
 * Invariant: nothing of a run is read or written in another store that has not adopted it.
 */
import {
  isSameStore,
  type OpenRunInput,
  type RunRef,
  type StoreRef,
} from '../core/state/effect.js';
import { HoldfastError } from '../core/state/errors.js';
import { isStoreAway } from '../store/away.js';
import { now, type ActivityDeps, type InTransaction } from './deps.js';

type OfRun = { readonly run: RunRef } & Partial<Pick<OpenRunInput, 'start'>>;

/**
 * The store's identity where the run knows another one, or another epoch: it is to learn of it. Errors: `WrongStore`,
 * which waits for the right one.
 */
export async function metStore(deps: ActivityDeps, of: OfRun): Promise<StoreRef | undefined> {
  const wanted = wantedBy(of);
  if (wanted === undefined) return undefined;
  const found = await identityIfThere(deps);
  return found && judged(deps, of, { wanted, found });
}

/** The same as the beginning of a transaction, which saves it a reading of its own; a store that is away ends both. */
export async function metWithin(deps: InTransaction, of: OfRun): Promise<StoreRef | undefined> {
  const wanted = wantedBy(of);
  if (wanted === undefined) return undefined;
  return judged(deps, of, { wanted, found: await deps.store.identity(now(deps)) });
}

function wantedBy({ run, start }: OfRun): string | undefined {
  return run.store?.id ?? start?.store;
}

async function judged(
  { store }: InTransaction,
  { run }: OfRun,
  { wanted, found }: { readonly wanted: string; readonly found: StoreRef },
): Promise<StoreRef | undefined> {
  if (found.id !== wanted && !(await store.isAdopted(run.tenant, run.runId)))
    throw wrongStore(run, wanted, found);
  return run.store === undefined || isSameStore(run.store, found) ? undefined : found;
}

/** Undefined: the store cannot be reached. Whatever needs it says so itself. */
async function identityIfThere(deps: ActivityDeps): Promise<StoreRef | undefined> {
  try {
    return await deps.store.identity(now(deps));
  } catch (error) {
    if (isStoreAway(error)) return undefined;
    throw error;
  }
}

/** True when what the store lacks of the run may have been in the one that it knew. */
export async function mayLackRows(
  {
    store,
    ...deps
  }: Pick<ActivityDeps, 'clock'> & {
    readonly store: Pick<ActivityDeps['store'], 'identity'>;
  },
  run: RunRef,
): Promise<boolean> {
  return run.store !== undefined && !isSameStore(run.store, await store.identity(now(deps)));
}

function wrongStore({ runId }: RunRef, wanted: string, found: StoreRef): HoldfastError {
  return new HoldfastError(
    'WrongStore',
    `The run ${runId} has its records in the store ${wanted}; this worker has the store ${found.id}.`,
    {
      hint: `Start the worker with that store (HOLDFAST_STORE), or let this one go on with the run: holdfast store adopt ${runId} --as NAME.`,
      details: { wanted, found: found.id },
    },
  );
}
