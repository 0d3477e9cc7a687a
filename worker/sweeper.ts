/**
 * Ends sub-agents and cycles of goals whose parent is gone: terminated, forgotten by the server, ended without them, or
 * reset and gone on without them.
 * Invariants: an orphan is told to stop in the ordinary way, so that it settles its calls and tells its cost; a server or
 * a store that does not answer ends nobody and ends the round; workers share the work by claims in the store; a round
 * looks at PARENTS_MAX parents at most.
 */
import type { DescribedRun } from '../activities/describe-run.js';
import { orphanReason, orphanVerdict, type OrphanReason } from '../pure/orphans.js';
import type { RunName } from '../store/changes.js';
import type { WatchedChild } from '../store/orphans.js';
import type { Store } from '../store/store.js';
import { startRounds, type RunningRounds } from './rounds.js';

const EVERY_MS = 10_000;
/** Pauses between two looks at the children of one parent: an orphan is found within one more. */
const PAUSES_PER_LOOK = 3;
/** Between two looks at a child that this server knows nothing of, nor of its parent. */
const UNCLEAR_MS = 3_600_000;
const PARENTS_MAX = 200;

export interface SweeperSettings {
  readonly store: Pick<
    Store,
    | 'settleEnded'
    | 'dueParents'
    | 'claimChildren'
    | 'markStopped'
    | 'markOver'
    | 'lookAgain'
    | 'getRun'
    | 'attemptedCost'
  >;
  readonly namespace: string;
  readonly clock: () => number;
  /** Undefined: the server did not say. */
  readonly describe: (runId: string) => Promise<DescribedRun | undefined>;
  readonly cancel: (runId: string, reason: string) => Promise<void>;
  /** For whoever operates the worker. */
  readonly tell: (line: string, facts: { readonly [name: string]: string }) => void;
  /** Pause between two rounds; default 10,000. */
  readonly everyMs?: number;
}

export function startSweeper(settings: SweeperSettings): RunningRounds {
  return startRounds({
    everyMs: settings.everyMs ?? EVERY_MS,
    round: (signal) => sweep(settings, signal),
    away: 'Orphans are not looked for: the store or the server does not answer. See holdfast doctor.',
    tell: settings.tell,
  });
}

/** One round. Throws where the server does not answer. */
export async function sweep(settings: SweeperSettings, signal: AbortSignal): Promise<void> {
  const { store, namespace, clock, tell } = settings;
  const at = clock();
  for (const { child, parent, costMicroUsd, stopReason } of await store.settleEnded({
    namespace,
    at,
  })) {
    tell(`The orphan ${child} has ended ${stopReason}.`, { parent, cost: String(costMicroUsd) });
  }
  for (const parent of await store.dueParents({ namespace, at, limit: PARENTS_MAX })) {
    if (signal.aborted) return;
    await lookAt(settings, parent);
  }
}

async function lookAt(settings: SweeperSettings, parent: RunName): Promise<void> {
  const { store, namespace, clock, everyMs = EVERY_MS } = settings;
  const at = clock();
  const rows = await store.claimChildren(
    { ...parent, namespace },
    { at, until: at + PAUSES_PER_LOOK * everyMs },
  );
  if (rows.length === 0) return;
  const known = await asked(settings, parent.runId);
  for (const row of rows) {
    const reason = orphanReason(row, known);
    if (reason !== undefined) await tend(settings, row, reason);
  }
}

/** Nothing can be decided without the server. */
async function asked({ describe }: SweeperSettings, runId: string): Promise<DescribedRun> {
  const known = await describe(runId);
  if (known === undefined) throw new Error(`the server does not say whether ${runId} runs`);
  return known;
}

async function tend(
  settings: SweeperSettings,
  row: WatchedChild,
  reason: OrphanReason,
): Promise<void> {
  const { store, clock } = settings;
  const { tenant, child, root } = row;
  const name = { tenant, child };
  const known = await asked(settings, child);
  const isServerTheirs =
    root !== undefined &&
    root !== row.parent &&
    known.state === 'not_found' &&
    (await asked(settings, root)).state !== 'not_found';
  switch (orphanVerdict(row, reason, { child: known, isServerTheirs })) {
    case 'stop':
      return stop(settings, row, reason);
    case 'over':
      return over(settings, row, reason);
    case 'stranger':
      await store.markOver(name);
      return;
    case 'unclear':
      return store.lookAgain(name, clock() + UNCLEAR_MS);
    case 'ask_again':
      return;
  }
}

/** Sealed first: from then on it claims nothing, also when the server does not hear the next word. */
async function stop(
  { store, clock, cancel, tell }: SweeperSettings,
  { tenant, child, parent }: WatchedChild,
  why: OrphanReason,
): Promise<void> {
  const isFirst = await store.markStopped({ tenant, child }, { at: clock(), why });
  await cancel(child, `orphan: ${WORDS[why](parent)}`);
  if (isFirst) tell(`Stopped ${child}: ${WORDS[why](parent)}.`, { parent, why });
}

const WORDS: { readonly [why in OrphanReason]: (parent: string) => string } = {
  parent_closed: (parent) => `${parent}, which started it, has ended without it`,
  parent_forgotten: (parent) => `${parent}, which started it, is not known to the server any more`,
  given_up: (parent) => `${parent}, which started it, goes on without it`,
};

/** Nothing of it runs: its row counts in its tree no longer, and what it has asked for is told. */
async function over(
  { store, clock, tell }: SweeperSettings,
  { tenant, child, parent, sealed, told }: WatchedChild,
  why: OrphanReason,
): Promise<void> {
  // What ended while it was asked for is settled with its own result.
  if ((await store.getRun(tenant, child))?.result !== undefined) return;
  const name = { tenant, child };
  const { costMicroUsd } = await store.attemptedCost(tenant, child);
  // A parent that runs has told the end of what it gave up itself.
  if (sealed && !told && why === 'given_up') return void (await store.markOver(name));
  const isFirst = await store.markOver(name, { at: clock(), why, costMicroUsd });
  if (isFirst) tell(`${child} is over without a result: ${WORDS[why](parent)}.`, { parent, why });
}
