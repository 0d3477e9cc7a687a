/** What a command says of a store whose place an older copy has taken, and the questions that such a copy lacks. */
import type { HoldfastClient } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { OpenAsk } from '../../core/state/view.js';
import { restoredLately } from '../../store/restored.js';
import { dateTimeText } from '../render/index.js';
import type { Session } from '../session.js';

const AWAITING = [
  'awaiting_approval',
  'awaiting_outcome',
  'awaiting_budget',
  'awaiting_input',
] as const;
const RUNS_ASKED_MAX = 50;
const STATE_LIMIT_MS = 1_500;

/** Ends a sentence. */
export function restoredText(at: number): string {
  return `an older copy of the store took its place (noticed ${dateTimeText(at)}), and what was stored between is not in it`;
}

const HOW =
  '`holdfast show RUN` asks a run itself; docs/operate/postgres.md in the package holdfast says how to go on.';

export function restoredRemark(at: number): string {
  return `Here ${restoredText(at)}. ${HOW}`;
}

/** When it was noticed; undefined: never, not lately, or nobody can say. */
export async function restoredIn(session: Session): Promise<number | undefined> {
  try {
    const store = await session.wholeStore();
    return store && (await restoredLately(store));
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

export type LackedAsk = OpenAsk & { readonly runId: string };

interface LackedOf {
  readonly tenant: string;
  /** Absent: runs that wait for a person, as Temporal has them. */
  readonly run: string | undefined;
}

/** Open questions that the copy lacks, as their runs tell them; the first of the runs alone. */
export async function lackedAsks(
  session: Session,
  { tenant, run }: LackedOf,
): Promise<readonly LackedAsk[]> {
  const store = await session.store();
  if (store === undefined || (await session.tryClient()) === undefined) return [];
  const client = (await session.clientWithoutStore()).forTenant(tenant);
  const runs = run === undefined ? await awaiting(client) : [run];
  const told = (await Promise.all(runs.map((runId) => asksOf(client, runId)))).flat();
  const known = await Promise.all(told.map(({ askId }) => store.getAsk(tenant, askId)));
  return told.filter((_, index) => known[index] === undefined);
}

async function awaiting(client: Pick<HoldfastClient, 'listRuns'>): Promise<readonly string[]> {
  const lists = await Promise.all(
    AWAITING.map((status) => client.listRuns({ status, limit: RUNS_ASKED_MAX }).catch(none)),
  );
  return [...new Set(lists.flat().map(({ runId }) => runId))].slice(0, RUNS_ASKED_MAX);
}

async function asksOf(
  client: Pick<HoldfastClient, 'handle'>,
  runId: string,
): Promise<readonly LackedAsk[]> {
  const state = await client
    .handle(runId)
    .state(STATE_LIMIT_MS)
    .catch((error: unknown) => void none(error));
  return (state?.asks ?? []).map((ask) => ({ ...ask, runId }));
}

/** A run that does not answer keeps nobody from the others. */
function none(error: unknown): readonly [] {
  if (error instanceof HoldfastError) return [];
  throw error;
}
