/** What has become of a decision whose answer said yes, or not yet. */
import type { AuditRow } from '../../pure/audit.js';
import type { AskRow } from '../../store/asks.js';
import type { Desk } from '../desk.js';
import { ownName } from '../http/own-name.js';
import { Problem } from '../http/problem.js';
import type { Person } from '../identity/person.js';

/** Rows of the trail about one question, or one run. */
const TRAIL_ROWS_MAX = 10_000;

interface Asking {
  readonly desk: Pick<Desk, 'store'>;
  readonly person: Person;
  readonly body: { readonly argsHash: string };
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
  const rows = await desk.store.readAudit(person.tenant, { askId, limit: TRAIL_ROWS_MAX });
  const lost = rows.findLast(
    ({ kind, by, runId: of, facts }) =>
      kind === 'decision_refused' && of === runId && by === person.id && facts.nonce === nonce,
  );
  if (lost?.facts.reason === 'already_decided') {
    return refusedSince(
      lost.facts,
      'The decision does not count: another word on the question was heard before it was taken.',
    );
  }
  const told = await desk.store.readAudit(person.tenant, { runId, limit: TRAIL_ROWS_MAX });
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

function refusedSince({ reason, decided }: AuditRow['facts'], detail: string): Problem {
  return new Problem(409, {
    code: typeof reason === 'string' ? reason : 'not_applicable',
    detail,
    ...(decided !== undefined && { decided }),
  });
}
