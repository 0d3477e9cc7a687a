/** What has become of a decision whose answer said yes, or not yet, or was lost. */
import type { AuditRow } from '../../pure/audit.js';
import type { AskRow } from '../../store/asks.js';
import type { AuditQuery } from '../../store/audit.js';
import type { Desk } from '../desk.js';
import { ownName } from '../http/own-name.js';
import { Problem } from '../http/problem.js';
import type { Person } from '../identity/person.js';

/** Rows of the trail that are looked at, about one question or behind the decision about its run, and at a time. */
const TRAIL_ROWS_MAX = 10_000;
const PAGE_ROWS = 1_000;

interface Asking {
  readonly desk: Pick<Desk, 'store'>;
  readonly person: Person;
  readonly body: { readonly argsHash: string };
}

/**
 * Whether the run has counted this very decision: where the store kept no request of it, because it was away, the run has told
 * the trail. An ended run tells nobody any more.
 */
export async function isCounted(asking: Asking, ask: AskRow, key: string): Promise<boolean> {
  const { desk, person, body } = asking;
  const { askId, runId, argsHash, outcome, by } = ask;
  if (outcome === 'pending' || argsHash !== body.argsHash || !by.includes(person.id)) return false;
  const nonce = ownName(person, key);
  const isTold = (await trailOf(desk, person, { askId })).some(
    (row) =>
      row.kind === 'decided' &&
      row.runId === runId &&
      row.by === person.id &&
      row.facts.via === 'run' &&
      row.facts.nonce === nonce,
  );
  return isTold && (await lostSince(asking, ask, key)) === undefined;
}

/** What a decision that counts is never refused for when it is heard once more. */
const FOR_GOOD: ReadonlySet<unknown> = new Set([
  'already_decided',
  'correction_refused',
  'late',
  'mismatched',
  'not_applicable',
  'own_request',
  'role_missing',
  'unproven',
  'vague',
]);

/**
 * It met a correction after its answer was given, and the run has told the trail that it lost; or it was sent, and the run
 * has refused it since.
 */
export async function lostSince(
  { desk, person, body }: Asking,
  { askId, runId }: AskRow,
  key: string,
): Promise<Problem | undefined> {
  const nonce = ownName(person, key);
  const rows = await trailOf(desk, person, { askId });
  const own = rows.filter(
    ({ by, runId: of, facts }) => of === runId && by === person.id && facts.nonce === nonce,
  );
  const lost = own.findLast(({ kind }) => kind === 'decision_refused');
  if (lost?.facts.reason === 'already_decided') {
    return refusedSince(
      lost.facts,
      'The decision does not count: another word on the question was heard before it was taken.',
    );
  }
  const told = await trailOf(desk, person, { runId, after: own[0]?.seq ?? 0 });
  const ignored = told.findLast(
    ({ kind, facts }) =>
      kind === 'ignored' &&
      facts.askId === askId &&
      facts.by === person.id &&
      facts.nonce === nonce &&
      facts.argsHash === body.argsHash &&
      FOR_GOOD.has(facts.reason),
  );
  return ignored && refusedSince(ignored.facts, 'The decision reached the run and does not count.');
}

/** In order. */
async function trailOf(
  { store }: Asking['desk'],
  { tenant }: Person,
  { after = 0, ...about }: Omit<AuditQuery, 'limit'>,
): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = [];
  while (rows.length < TRAIL_ROWS_MAX) {
    const since = rows.at(-1)?.seq ?? after;
    const page = await store.readAudit(tenant, { ...about, after: since, limit: PAGE_ROWS });
    rows.push(...page);
    if (page.length < PAGE_ROWS) break;
  }
  return rows;
}

function refusedSince({ reason, decided }: AuditRow['facts'], detail: string): Problem {
  return new Problem(409, {
    code: typeof reason === 'string' ? reason : 'not_applicable',
    detail,
    ...(decided !== undefined && { decided }),
  });
}
