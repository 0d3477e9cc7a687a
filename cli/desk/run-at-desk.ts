/** One run as the approval desk tells it. */
import type { RunSummary, Wait } from '../../client/index.js';
import type { ListedRow } from '../../client/read/joined-page.js';
import type { RunEvent } from '../../core/state/event.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunView } from '../../core/state/view.js';
import { isTemporalsAlone } from '../../pure/listed-status.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import type { Archival } from '../../store/archivals.js';
import type { AskRow } from '../../store/asks.js';
import { isStoreAway } from '../../store/away.js';
import type { ForkLink } from '../../store/forks.js';
import type { DeskApi } from './desk-api.js';
import { queryText } from './paging.js';
import { NOTHING_PAID, paidAtDesk, type PaidRoutes } from './run-routes.js';
import { noSuchRun } from './run-record.js';

/** What is shown of a run, whoever tells it. */
export interface RunFacts {
  readonly runId: string;
  /** As the store knows it; absent for a run whose workers write another store. */
  readonly run: ShownRun | null;
  /** As the run itself says; absent when no worker answers. */
  readonly state: ShownState | null;
  /** Its own sub-agents, the oldest first; absent: whoever tells does not say. */
  readonly children?: readonly RunSummary[];
  /** Forks of it, the newest first; absent: whoever tells does not say. */
  readonly forks?: readonly Pick<ForkLink, 'runId' | 'step' | 'at'>[];
  readonly asks: readonly AskRow[];
  /** With the sources of replies, where the store is at hand. */
  readonly events: readonly WholeEvent[];
  /** Why a run that is under way does not answer, or why the store does not. */
  readonly trouble: string | null;
  /** What it waits for, as Temporal knows it: also while neither a worker nor the store is there. */
  readonly waits: readonly Wait[];
  /** The store cannot be read now: what it has of the run is missing here. */
  readonly storeAway: boolean;
  /** What it and the runs below it paid, by route; empty: nothing, or whoever tells does not say. */
  readonly paid: PaidRoutes;
  /** Closed segments whose histories are not archived, or lost; null: whoever tells does not say. */
  readonly archive: readonly Archival[] | null;
}

type ShownRun = Pick<
  ListedRow,
  | 'runId'
  | 'agent'
  | 'model'
  | 'status'
  | 'startedAt'
  | 'goalPreview'
  | 'lastSeq'
  | 'notStored'
  | 'result'
  | 'forked'
>;
type ShownState = Pick<RunView, 'status' | 'counters'> & Partial<RunView>;

const PAGE_EVENTS = 200;
const NOT_STORED = 'The run has ended; its record is not in the store.';

/** Errors: RunNotFound, and those of the desk. */
export async function factsAtDesk(
  api: DeskApi,
  runId: string,
  eventsWanted: number,
): Promise<RunFacts> {
  const path = `/v1/runs/${encodeURIComponent(runId)}`;
  const told = await api.get(path).catch((error: unknown) => unlessUnavailable(error, runId));
  if (told instanceof HoldfastError) {
    // What the server knows is told all the same; without that as well there is nothing to show.
    const { waits } = await api.get(`${path}/waits`).catch(() => Promise.reject(told));
    const trouble =
      told.details?.['reason'] === 'store_away'
        ? told.message
        : `The desk cannot read its store: ${told.message}`;
    return { ...withoutStore(runId, trouble), waits: waits as readonly Wait[] };
  }
  const { pending, goal, forks = [], ...row } = told as unknown as ToldRun;
  const run = { ...row, goalPreview: goal };
  const isOver = run.result !== undefined || isTemporalsAlone(run.status) || run.notStored;
  const live = isOver
    ? { ...NOT_UNDER_WAY, ...(run.notStored && { trouble: NOT_STORED }) }
    : await liveAtDesk(api, path);
  const since = Math.max(0, run.lastSeq + 1 - eventsWanted);
  const events = await eventsAtDesk(api, path, { since, count: eventsWanted });
  const paid = await paidAtDesk(api, path);
  return {
    runId,
    run,
    forks,
    ...live,
    asks: pending,
    events,
    paid,
    archive: null,
    storeAway: false,
  };
}

/** The desk's word that a part of the system does not answer; any other error goes on. */
function unlessUnavailable(error: unknown, runId: string): HoldfastError {
  if (error instanceof HoldfastError && error.details?.['status'] === 503) return error;
  return asMissingRun(runId)(error);
}

/** Of a run whose store is away: nothing but why. */
export function withoutStore(runId: string, trouble: string): RunFacts {
  const nothing = {
    run: null,
    state: null,
    waits: [],
    asks: [],
    events: [],
    paid: NOTHING_PAID,
    archive: null,
  };
  return { runId, ...nothing, trouble, storeAway: true };
}

/** Why the store is away; any other error goes on. */
export function unlessStoreAway(error: unknown): string {
  if (isStoreAway(error)) {
    return `The store cannot be read: ${error.message}`;
  }
  throw error;
}

/** For whatever the desk says of a run: that it is not there is said of the run. */
export function asMissingRun(runId: string) {
  return (error: unknown): never => {
    const missing = error instanceof HoldfastError && error.code === 'AskNotFound';
    throw missing ? noSuchRun(runId) : error;
  };
}

interface ToldRun extends Omit<ShownRun, 'goalPreview'> {
  readonly goal: string;
  readonly forks?: RunFacts['forks'];
  readonly pending: readonly AskRow[];
}

export type Live = Pick<RunFacts, 'state' | 'trouble' | 'waits'>;
export const NOT_UNDER_WAY: Live = { state: null, trouble: null, waits: [] };

async function liveAtDesk(api: DeskApi, path: string): Promise<Live> {
  const [asked, waits] = await Promise.all([stateAtDesk(api, path), waitsAtDesk(api, path)]);
  return { ...asked, waits };
}

async function waitsAtDesk(api: DeskApi, path: string): Promise<readonly Wait[]> {
  try {
    return (await api.get(`${path}/waits`)).waits as readonly Wait[];
  } catch (error) {
    // The server is away, or the desk is older: what else it says is shown.
    if (error instanceof HoldfastError) return [];
    throw error;
  }
}

async function stateAtDesk(api: DeskApi, path: string): Promise<Omit<Live, 'waits'>> {
  try {
    return { state: (await api.get(`${path}/state`)) as unknown as ShownState, trouble: null };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { state: null, trouble: error.message };
  }
}

async function eventsAtDesk(
  api: DeskApi,
  path: string,
  { since, count }: { readonly since: number; readonly count: number },
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  let next = since;
  while (events.length < count) {
    const limit = Math.min(PAGE_EVENTS, count - events.length);
    const page = await api.get(`${path}/events?${queryText({ since: next, limit })}`);
    const found = page.events as readonly RunEvent[];
    if (found.length === 0) break;
    events.push(...found);
    next = page.nextSeq as number;
  }
  return events;
}
