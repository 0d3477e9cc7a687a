/** Everything that waits for a person, in one list that can be searched; and what one of it rests on. */
import { inTime } from './in-time.js';
import { z } from 'zod';
import type { OpenAsk } from '../../core/state/view.js';
import type { AskRow } from '../../store/asks.js';
import type { Notice } from '../../store/notices.js';
import type { Desk } from '../desk.js';
import type { Person } from '../identity/person.js';
import { controlsNow } from '../controls-now.js';
import { goalCardOf } from '../goals/goal-card.js';
import { groundsOf } from '../grounds.js';
import { cursorOf, placeOf } from '../http/cursor.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { grounds, inboxItem } from '../http/card-shapes.js';
import * as shapes from '../http/shapes.js';
import { checkAccess, mayAccess, maySee } from '../identity/rights.js';
import { approvedBefore, receiptOf } from '../receipt.js';
import { restoredHere } from '../restored-at-desk.js';
import { askShown, ownAsk } from './asks.js';
import { ownHandle } from './runs.js';

const KINDS = ['approval', 'outcome', 'budget', 'input'] as const;
/** A page that is open looks again every few seconds: it must not wait long for a worker. */
const VOTES_LIMIT_MS = 1_500;
/** Tools that a card may name as others to use instead. */
const TOOLS_MAX = 200;

const params = z.strictObject({ askId: shapes.id });

const listInbox = endpoint({
  method: 'get',
  path: '/v1/inbox',
  name: 'listInbox',
  summary: 'Questions that wait for a person, oldest first, with a search.',
  access: 'answer',
  query: z.strictObject({
    state: z.enum(['pending', 'decided', 'all']).default('pending'),
    kind: z.enum(KINDS).optional(),
    runId: shapes.underRun,
    search: shapes.search,
    limit: shapes.limit,
    cursor: shapes.cursor,
  }),
  answers: { 200: { description: 'A page of questions.', schema: shapes.inboxPage } },
  handle({ desk, person, query }) {
    return inTime(desk, async () => {
      const { state, kind, runId, search, limit, cursor } = query;
      const pendingOnly = state === 'pending';
      const isPast = state === 'decided';
      const filter = {
        kinds: kind === undefined ? KINDS : [kind],
        ...(runId !== undefined && { under: runId }),
        ...(search !== undefined && { search }),
        ...(isPast && { endedOnly: true }),
      };
      const place = cursor === undefined ? undefined : placeOf(cursor);
      const after = place && { openedAt: place.at, askId: place.id };
      const page = { ...filter, limit, newestFirst: isPast, ...(after && { after }) };
      const [rows, counted] = await Promise.all([
        pendingOnly
          ? desk.client.forTenant(person.tenant).listAsks(page)
          : desk.store.listAsks(person.tenant, page),
        desk.store.countAsks(person.tenant, { ...filter, pendingOnly }),
      ]);
      // The store counts also what no list shows: questions of runs that Temporal has ended.
      const all = after === undefined && rows.length < limit ? rows.length : counted;
      const seesAll = mayAccess(desk, person, 'read');
      const seen = seesAll ? rows : rows.filter((row) => maySee(desk, person, row));
      // How many questions others have is not theirs to know.
      const total = seesAll ? all : seen.length;
      await desk.views.note(desk, person, seen);
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const next = last && cursorOf(last.openedAt, last.askId);
      const items = await Promise.all(
        seen.map(async (row) => ({
          ...askShown(row, desk),
          ...(await ownWord(desk, person, row)),
        })),
      );
      const restored = await restoredHere(desk);
      return {
        status: 200,
        body: { items, total, ...(next !== undefined && { next }), ...restored },
      };
    });
  },
});

const getInboxItem = endpoint({
  method: 'get',
  path: '/v1/inbox/{askId}',
  name: 'getInboxItem',
  summary:
    'One question, with who was notified and the votes so far; without these while no worker answers.',
  access: 'answer',
  params,
  answers: { 200: { description: 'The question.', schema: inboxItem } },
  async handle({ desk, person, params: { askId } }) {
    const row = await ownAsk(desk, person, { askId, kinds: KINDS });
    await desk.views.note(desk, person, [row]);
    const [live, after, end, controls, goal, notices] = await Promise.all([
      row.outcome === 'pending' ? knownToRun(desk, row) : {},
      // What was answered is of the run; whoever only answers is told the question.
      row.kind === 'input' && !mayAccess(desk, person, 'read') ? {} : afterwards(desk, row),
      approvedBefore(desk.store, row),
      controlsNow(desk, row),
      goalCardOf(desk.store, row),
      desk.store.listNotices(row),
    ]);
    const ofGoal = goal !== undefined && { goal };
    const shown = { ...askShown(row, desk), ...controls, ...live, ...after, ...end, ...ofGoal };
    return { status: 200, body: { ...shown, notices: notices.map(noticeShown) } };
  },
});

const ROWS_LOOKED_AT = 100;

/** Where several have to agree: whether this person has said their word. */
async function ownWord(
  { store }: Desk,
  { tenant, id }: Person,
  { askId, runId, quorum, outcome }: AskRow,
): Promise<{ readonly decidedByMe?: true }> {
  if (quorum < 2 || outcome !== 'pending') return {};
  const rows = await store.readAudit(tenant, { askId, runId, limit: ROWS_LOOKED_AT });
  const mine = rows.filter(({ by, kind }) => by === id && WORDS.includes(kind));
  return mine.at(-1)?.kind === 'decided' ? { decidedByMe: true } : {};
}

const WORDS: readonly string[] = ['decided', 'decision_refused'];

/** What became of the action; of a question that has taken its place, who has agreed to that. */
async function afterwards(desk: Desk, row: AskRow) {
  const receipt = await receiptOf(desk.store, row);
  if (receipt === undefined) return {};
  const { next } = receipt;
  if (next?.outcome !== 'pending') return { receipt };
  const { votes } = await knownToRun(desk, { ...row, askId: next.askId });
  return { receipt, ...(votes !== undefined && { nextVotes: votes }) };
}

function noticeShown({ target: webhook, state, tries, nextAt, fault }: Notice) {
  return {
    webhook,
    state,
    tries,
    ...(state === 'waiting' && { nextAt }),
    ...(fault !== undefined && { fault }),
  };
}

/** What the run alone knows of its question; nothing while nobody can be asked. */
async function knownToRun(
  { client }: Desk,
  { tenant, runId, askId }: AskRow,
): Promise<Partial<Pick<OpenAsk, 'votes' | 'takesGrant'>>> {
  try {
    const view = await (await ownHandle({ client }, tenant, runId)).state(VOTES_LIMIT_MS);
    const ask = view.asks.find((one) => one.askId === askId);
    if (ask === undefined) return {};
    const { votes, takesGrant } = ask;
    return { votes, ...(takesGrant !== undefined && { takesGrant }) };
  } catch {
    return {};
  }
}

const getGrounds = endpoint({
  method: 'get',
  path: '/v1/inbox/{askId}/grounds',
  name: 'getGrounds',
  summary: 'Why it is asked, what it rests on, how it was corrected, and the schema of its tool.',
  access: 'answer',
  params,
  answers: { 200: { description: 'The grounds.', schema: grounds } },
  async handle({ desk, person, params: { askId } }) {
    const row = await ownAsk(desk, person, { askId, kinds: KINDS });
    // What a run has read and done is for those who decide; whoever answers is told the question.
    if (row.kind === 'input') checkAccess(desk, person, 'read');
    await desk.views.note(desk, person, [row]);
    const { offered, ...grounds } = await groundsOf(desk.store, row);
    const { tool, toolVersion } = row;
    const known = desk.tools.find(({ name, version }) => name === tool && version === toolVersion);
    const others = desk.tools.filter(({ name }) => name !== tool && offered.includes(name));
    const otherTools = row.kind === 'approval' ? others.slice(0, TOOLS_MAX) : [];
    return {
      status: 200,
      body: { ...grounds, ...(known !== undefined && { tool: known }), otherTools },
    };
  },
});

export const inboxEndpoints: readonly Endpoint[] = [listInbox, getInboxItem, getGrounds];
