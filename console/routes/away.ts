/**
 * Questions while the store is away: the run that is named tells them, and is told.
 * Invariants: whose the run is says Temporal; what is sent counts once under the person's key, and the run's own event
 * is its row of the audit trail.
 */
import { type FoundAsk, type RunHandle, STORE_AWAY, unlessStoreAway } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskRow } from '../../store/asks.js';
import type { Desk } from '../desk.js';
import { notFound, Problem } from '../http/problem.js';
import type { Person } from '../identity/person.js';
import { maySee } from '../identity/rights.js';

export interface Wanted {
  readonly askId: string;
  readonly kinds: readonly AskRow['kind'][];
  /** As the person names it. */
  readonly runId: string | undefined;
}

export interface AwayAsk {
  readonly row: AskRow;
  readonly run: RunHandle;
}

/** The row of a question; STORE_AWAY when only the run can tell it. Errors: a Problem for a question of somebody else. */
export async function storedAsk(
  desk: Desk,
  person: Person,
  { askId, kinds, runId }: Wanted,
): Promise<AskRow | typeof STORE_AWAY> {
  const { tenant } = person;
  const row = await unlessStoreAway(desk.store, (store) => store.getAsk(tenant, askId));
  if (row === STORE_AWAY) return row;
  const isOther = runId !== undefined && row?.runId !== runId;
  if (row === undefined || isOther || !kinds.includes(row.kind)) throw notFound();
  if (!maySee(desk, person, row)) throw notFound();
  return row;
}

/** The question as its run tells it; only one that is open. Errors: a Problem when no run is named. */
export async function askOfNamedRun(
  desk: Desk,
  person: Person,
  { askId, kinds, runId }: Wanted,
): Promise<AwayAsk> {
  if (runId === undefined) throw runNotNamed();
  const { client } = desk;
  const { tenant } = person;
  const own = client.forTenant(tenant);
  const run = await own.ownRun(runId).catch(asMissing);
  const found: FoundAsk = await own.findAsk(askId, runId).catch(asMissing);
  const { ask, outcome } = found;
  const row: AskRow = { tenant, runId, outcome, by: [], ...ask };
  if (!kinds.includes(ask.kind) || !maySee(desk, person, row)) throw notFound();
  return { row, run };
}

/** A run that Temporal does not have for this tenant is not there. */
export function asMissing(error: unknown): never {
  const isGone = error instanceof HoldfastError && error.code === 'RunNotFound';
  throw isGone ? notFound() : error;
}

function runNotNamed(): Problem {
  return new Problem(503, {
    code: 'store_away',
    detail: 'The store cannot be reached, and only the store knows a question by its id alone.',
    hint: 'Name the run of the question as well (runId; --run at the terminal), or try again later.',
    headers: { 'retry-after': '5' },
  });
}
