/** What waits for a person: approvals, unknown outcomes, budgets; and clarifying questions by themselves. */
import { inTime } from './in-time.js';
import { z } from 'zod';
import { rolesAt } from '../../core/ask/escalation.js';
import type { AskRow } from '../../store/asks.js';
import { cursorOf, placeOf } from '../http/cursor.js';
import { endpoint, type EndpointRequest, type Endpoint } from '../http/endpoint.js';
import { notFound } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { STORE_AWAY } from '../../client/index.js';
import type { Desk } from '../desk.js';
import type { Person } from '../identity/person.js';
import { maySee } from '../identity/rights.js';
import { askOfNamedRun, storedAsk } from './away.js';

export const DECIDABLE: readonly AskRow['kind'][] = ['approval', 'outcome', 'budget'];
export const ANSWERABLE: readonly AskRow['kind'][] = ['input'];

const listQuery = z.strictObject({
  state: z.enum(['pending', 'all']).default('pending'),
  runId: shapes.underRun,
  limit: shapes.limit,
  cursor: shapes.cursor,
});
const listed = { 200: { description: 'A page of them.', schema: shapes.page(shapes.ask) } };
const params = z.strictObject({ askId: shapes.id });
/** The run of the question; needed while the store is away. */
const oneQuery = z.strictObject({ runId: shapes.id.optional() });
const one = { 200: { description: 'The question.', schema: shapes.ask } };

const listApprovals = endpoint({
  method: 'get',
  path: '/v1/approvals',
  name: 'listApprovals',
  summary: 'Approvals, unknown outcomes and budget questions, oldest first.',
  access: 'answer',
  query: listQuery,
  answers: listed,
  handle: (asked) => inTime(asked.desk, () => list(asked, DECIDABLE)),
});

const getApproval = endpoint({
  method: 'get',
  path: '/v1/approvals/{askId}',
  name: 'getApproval',
  summary: 'One of them, with exactly what would be done.',
  access: 'answer',
  params,
  query: oneQuery,
  answers: one,
  handle: (asked) => show(asked, DECIDABLE),
});

const listQuestions = endpoint({
  method: 'get',
  path: '/v1/questions',
  name: 'listQuestions',
  summary: 'Clarifying questions, oldest first.',
  access: 'answer',
  query: listQuery,
  answers: listed,
  handle: (asked) => inTime(asked.desk, () => list(asked, ANSWERABLE)),
});

const getQuestion = endpoint({
  method: 'get',
  path: '/v1/questions/{askId}',
  name: 'getQuestion',
  summary: 'One clarifying question.',
  access: 'answer',
  params,
  query: oneQuery,
  answers: one,
  handle: (asked) => show(asked, ANSWERABLE),
});

/** The question, if it is this person's tenant's and of such a kind. */
export async function ownAsk(
  desk: Desk,
  person: Person,
  asked: { readonly askId: string; readonly kinds: readonly AskRow['kind'][] },
): Promise<AskRow> {
  const row = await desk.store.getAsk(person.tenant, asked.askId);
  if (row === undefined || !asked.kinds.includes(row.kind)) throw notFound();
  if (!maySee(desk, person, row)) throw notFound();
  return row;
}

async function list(
  { desk, person, query }: EndpointRequest<object, z.output<typeof listQuery>, unknown>,
  kinds: readonly AskRow['kind'][],
) {
  const { state, runId, limit, cursor } = query;
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const page = {
    limit,
    ...(runId !== undefined && { under: runId }),
    ...(place !== undefined && { after: { openedAt: place.at, askId: place.id } }),
  };
  const rows = await (state === 'pending'
    ? desk.client.forTenant(person.tenant).listAsks(page)
    : desk.store.listAsks(person.tenant, page));
  // A page may have fewer rows than asked for: other kinds, and questions of others, lie between them.
  const mine = rows.filter((row) => kinds.includes(row.kind) && maySee(desk, person, row));
  await desk.views.note(desk, person, mine);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  const next = last && cursorOf(last.openedAt, last.askId);
  const body = {
    items: mine.map((row) => askShown(row, desk)),
    ...(next !== undefined && { next }),
  };
  return { status: 200, body } as const;
}

type OneQuery = z.output<typeof oneQuery>;

async function show(
  {
    desk,
    person,
    params: { askId },
    query,
  }: EndpointRequest<z.output<typeof params>, OneQuery, unknown>,
  kinds: readonly AskRow['kind'][],
) {
  const named = { askId, kinds, runId: query.runId };
  const stored = await storedAsk(desk, person, named);
  const isAway = stored === STORE_AWAY;
  const row = isAway ? (await askOfNamedRun(desk, person, named)).row : stored;
  await (isAway ? desk.views.noteOrOwe : desk.views.note)(desk, person, [row]);
  return { status: 200, body: askShown(row, desk) } as const;
}

/** Without names that only the run itself needs; with whose word counts now. */
export function askShown(row: AskRow, { clock }: Pick<Desk, 'clock'>) {
  const { tenant: _, callId: __, callKey: ___, ...shown } = row;
  return { ...shown, rolesNow: rolesAt(row, clock()) };
}

export const askEndpoints: readonly Endpoint[] = [
  listApprovals,
  getApproval,
  listQuestions,
  getQuestion,
];
