/** What a command says of a store whose place an older copy has taken, and the questions that such a copy lacks. */
import type { HoldfastClient } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { OpenAsk, RunView } from '../../core/state/view.js';
import { noticedLately, type NoticedLately } from '../../store/restored.js';
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

/** What was noticed lately of the session's store; nothing as well where nobody can say. */
async function noticedIn(session: Session): Promise<NoticedLately> {
  try {
    const store = await session.wholeStore();
    return store === undefined ? {} : await noticedLately(store);
  } catch (error) {
    if (error instanceof HoldfastError) return {};
    throw error;
  }
}

/** When it was noticed; undefined: never, not lately, or nobody can say. */
export async function restoredIn(session: Session): Promise<number | undefined> {
  return (await noticedIn(session)).restoredAt;
}

type Begun = Partial<Pick<RunView, 'startedAt' | 'store'>>;

/** Whether a run of this store began before `at`, so that a copy may have lost it; a run that says nothing of it may. */
export function isOfCopy({ startedAt = 0, store }: Begun, id: string, at: number): boolean {
  return startedAt <= at && (store === undefined || store === id);
}

/** What a restored copy explains of a run that the store has nothing of; undefined: nothing. */
export async function lackedText(session: Session, state: Begun): Promise<string | undefined> {
  const at = await restoredIn(session);
  const store = at === undefined ? undefined : await session.wholeStore();
  if (at === undefined || store === undefined) return undefined;
  const { id } = await store.identity(Date.now());
  return isOfCopy(state, id, at)
    ? `The store has nothing of this run, or not yet: ${restoredText(at)}.`
    : undefined;
}

export type LackedAsk = OpenAsk & { readonly runId: string };

interface LackedOf {
  readonly tenant: string;
  /** Absent: runs that wait for a person, as Temporal has them. */
  readonly run: string | undefined;
}

interface Lacked {
  readonly restoredAt?: number;
  readonly asks: readonly LackedAsk[];
}

/**
 * Open questions that a copy lacks, or a database that was promoted and was behind, as runs of this store tell them
 * that began before; the first of the runs alone.
 */
export async function lackedAsks(session: Session, { tenant, run }: LackedOf): Promise<Lacked> {
  const { restoredAt, promotedAt = 0 } = await noticedIn(session);
  const told = restoredAt !== undefined && { restoredAt };
  const at = Math.max(restoredAt ?? 0, promotedAt);
  const store = at === 0 ? undefined : await session.wholeStore();
  if (store === undefined || (await session.tryClient()) === undefined)
    return { ...told, asks: [] };
  const client = (await session.clientWithoutStore()).forTenant(tenant);
  const { id } = await store.identity(Date.now());
  const runs = run === undefined ? await awaiting(client) : [run];
  const states = await Promise.all(runs.map((runId) => stateOf(client, runId)));
  const open = states
    .filter((state) => state !== undefined)
    .filter((state) => isOfCopy(state, id, at))
    .flatMap(({ runId, asks }) => asks.map((ask) => ({ ...ask, runId })));
  const known = await Promise.all(open.map(({ askId }) => store.getAsk(tenant, askId)));
  return { ...told, asks: open.filter((_, index) => known[index] === undefined) };
}

async function awaiting(client: Pick<HoldfastClient, 'listRuns'>): Promise<readonly string[]> {
  const lists = await Promise.all(
    AWAITING.map((status) => client.listRuns({ status, limit: RUNS_ASKED_MAX }).catch(none)),
  );
  return [...new Set(lists.flat().map(({ runId }) => runId))].slice(0, RUNS_ASKED_MAX);
}

function stateOf(
  client: Pick<HoldfastClient, 'handle'>,
  runId: string,
): Promise<RunView | undefined> {
  return client
    .handle(runId)
    .state(STATE_LIMIT_MS)
    .catch((error: unknown) => void none(error));
}

/** A run that does not answer keeps nobody from the others. */
function none(error: unknown): readonly [] {
  if (error instanceof HoldfastError) return [];
  throw error;
}
