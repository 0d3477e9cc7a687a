/** Forks that people make over the desk: recorded, prepared and played in this process. */
import type { HoldfastClient } from '../../client/index.js';
import type { Config } from '../../authoring/index.js';
import type { Forks, ForkWanted } from '../../console/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { ANOTHER_RUN } from '../../client/runs/fork-row.js';
import { forkRefusal } from '../../core/loop/fork.js';
import type { Fork } from '../../core/state/fork.js';
import { isOpen, type OpenRun } from '../../core/state/run.js';
import type { ForkPlace } from '../../evaluation/fork/prepare.js';
import type { ForkChanges } from '../../evaluation/fork/frozen.js';
import type { Provider } from '../../providers/provider.js';
import type { Store } from '../../store/store.js';
import type { KnownReach } from '../session.js';

export interface ForksPlace {
  readonly client: HoldfastClient;
  readonly reach: KnownReach;
  readonly store: Store;
  readonly config: Config;
  /** Of this process: a dry fork asks a model. */
  readonly providers: () => Promise<ReadonlyMap<string, Provider>>;
}

/** A record and a simulation take memory: whoever comes while so many are at work is told so. */
const AT_ONCE_MAX = 2;
/** Whoever waits for a dry fork waits at a page. */
const DRY_LIMIT_MS = 120_000;

export function deskForks(place: ForksPlace): Forks {
  let working = 0;
  const one = async <T>(work: () => Promise<T>): Promise<T> => {
    if (working >= AT_ONCE_MAX) {
      throw new HoldfastError('Overloaded', 'Other forks are being made at this moment.', {
        hint: 'Wait until they are done, and try again.',
      });
    }
    working += 1;
    try {
      return await work();
    } finally {
      working -= 1;
    }
  };
  return {
    dry: (wanted) =>
      one(async () => {
        const { playDry } = await import('../../evaluation/fork/dry.js');
        const from = await placeOf(place, wanted);
        return playDry(from, {
          ...termsOf(wanted, await changesOf(place, wanted, from)),
          providers: await place.providers(),
          limitMs: DRY_LIMIT_MS,
        });
      }),
    live: (wanted) =>
      one(async () => {
        const { liveFork, startLive } = await import('../../evaluation/fork/live.js');
        const { callsBelow } = await import('../../evaluation/fork/calls-below.js');
        const { store, client, reach } = place;
        const from = await placeOf(place, wanted);
        const changes = await changesOf(place, wanted, from);
        const below = await callsBelow({ ...reach, store }, from.bundle);
        const live = await liveFork(from, { ...termsOf(wanted, changes), source: 'run', below });
        const { run } = live.fork;
        const task = { ...run.start.task, caller: wanted.caller };
        const fork = { ...live.fork, run: { ...run, start: { ...run.start, task } } };
        const own = client.forTenant(wanted.tenant);
        const start = (state: Fork) =>
          startLive({ ...live, fork: state }, { client: own, store, runId: wanted.forkId });
        await start(fork).catch(async (error: unknown) => {
          const known = await stateThere(place, wanted, error);
          // A configuration or a release may have changed since the row was written: the row counts.
          await start(known).catch(unlessTaken);
        });
      }),
  };
}

/** The fork was started before; another run under its id is no fork. */
function unlessTaken(error: unknown): void {
  if (!isTaken(error) || error.details?.['reason'] === ANOTHER_RUN) throw error;
}

function isTaken(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === 'RunExists';
}

/** With which the same request was begun before, whose answer was lost. */
async function stateThere(
  { store }: ForksPlace,
  { tenant, forkId, runId, step }: ForkWanted & { readonly forkId: string },
  error: unknown,
): Promise<Fork> {
  const row = isTaken(error) ? await store.getFork(tenant, forkId) : undefined;
  if (row?.parent !== runId || row.step !== step) throw error;
  return JSON.parse(row.body) as Fork;
}

async function placeOf(
  { reach, store }: ForksPlace,
  { tenant, runId, step }: ForkWanted,
): Promise<ForkPlace> {
  const { placeIn } = await import('../../evaluation/fork/prepare.js');
  return placeIn({ ...reach, store }, { tenant, runId }, step);
}

function termsOf({ rules }: ForkWanted, changes: ForkChanges) {
  return { changes, rules };
}

async function changesOf(
  { config }: ForksPlace,
  { model, instructions, message, results, ownCostMicroUsd }: ForkWanted,
  { fold, step }: ForkPlace,
): Promise<ForkChanges> {
  const { after } = fold.at(step);
  const reason = forkRefusal(after);
  if (reason !== undefined || !isOpen(after)) throw refused(reason ?? 'The run was not open.');
  const { resolveRoute } = await import('../../providers/routes.js');
  return {
    route: model === undefined ? undefined : resolveRoute(model, config),
    instructions,
    message,
    results,
    budget:
      ownCostMicroUsd === undefined
        ? undefined
        : { maxCostMicroUsd: lowered(after, ownCostMicroUsd) },
  };
}

/** Money goes on from what the run had spent. */
function lowered({ frozen: { budget }, money }: OpenRun, own: number): number {
  const wanted = Math.min(Number.MAX_SAFE_INTEGER, money.spentMicroUsd + own);
  const { maxCostMicroUsd: allowed } = budget;
  return typeof allowed === 'number' ? Math.min(allowed, wanted) : wanted;
}

function refused(reason: string): HoldfastError {
  return new HoldfastError('ForkRefused', reason, { hint: 'Choose another step, or another run.' });
}
