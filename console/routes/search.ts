/** Runs found by what their results and events say, and runs that failed, in groups. */
import { z } from 'zod';
import { failuresOf } from '../../client/read/failures.js';
import { findJoined } from '../../client/read/find-joined.js';
import {
  SCANNED_MAX,
  SORTS,
  wantedRuns,
  type AskedRuns,
  type FindRuns,
} from '../../client/read/find-runs.js';
import type { RunEvent } from '../../core/state/event.js';
import type { ListedStatus } from '../../pure/listed-status.js';
import { diffOf, type ComparedRun } from '../../recording/diff.js';
import type { Desk } from '../desk.js';
import { cursorOf, placeOf } from '../http/cursor.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { Problem } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { joinerAt } from '../joiner-at-desk.js';
import { runShown } from '../run-shown.js';

const amount = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();
const words = z.string().min(1).max(200).optional();

/** Beside those of the list itself; times in ms. */
export const searchShape = {
  stopReason: words,
  detail: words,
  version: words,
  rules: amount,
  tool: words,
  errorCode: words,
  turnsFrom: amount,
  turnsTo: amount,
  activeFrom: amount,
  activeTo: amount,
  waitingFrom: amount,
  waitingTo: amount,
  goal: words,
  text: words,
  since: amount,
  until: amount,
  differsFrom: shapes.id
    .optional()
    .describe('only runs that did something else than this one; goes with the order of starts'),
  sort: z.enum(SORTS).optional(),
};

export const foundPage = shapes.page(shapes.run).extend({
  left: z
    .enum(['scanned', 'limit'])
    .optional()
    .describe(
      `of another order than that of starts, why these are not all: only the newest ${SCANNED_MAX} were looked at, or more fit`,
    ),
  trouble: z
    .string()
    .optional()
    .describe('why this is what the store knows, without what Temporal alone knows of runs'),
  ...shapes.restored,
});

type Search = z.output<z.ZodObject<typeof searchShape>>;

type Wanted = Search &
  Omit<AskedRuns, 'cursor' | 'status'> & {
    readonly status?: ListedStatus | undefined;
    readonly cursor?: string | undefined;
  };

export function isSearch(query: Search): boolean {
  return Object.keys(searchShape).some((name) => query[name as keyof Search] !== undefined);
}

export async function foundRuns(
  desk: Pick<Desk, 'store' | 'client'>,
  tenant: string,
  query: Wanted,
) {
  const compared = await differing(desk, tenant, query);
  if (compared === undefined) return { items: [] };
  const cursor = query.cursor === undefined ? undefined : placeOf(query.cursor);
  const { status, ...asked } = query;
  const wanted = { ...wantedRuns({ ...asked, cursor }), status, ...compared };
  const places = { store: desk.store, tenant, joiner: joinerAt(desk, tenant) };
  const { rows, rest, left, trouble } = await findJoined(places, wanted);
  const next = rest && cursorOf(rest.startedAt, rest.runId);
  return {
    items: rows.map(runShown),
    ...(next && { next }),
    ...(left && { left }),
    ...(trouble !== undefined && { trouble }),
  };
}

/** Compared in one answer: whoever wants more asks for the next page. */
const COMPARED_MAX = 100;
/** Of a run: longer ones are compared so far. */
const EVENTS_MAX = 10_000;
const EVENTS_PER_PAGE = 1_000;

/** Undefined: there is no such run, and nothing differs from it. Errors: a Problem, for another order. */
async function differing(
  desk: Pick<Desk, 'store'>,
  tenant: string,
  { differsFrom, sort = 'started' }: Wanted,
): Promise<Pick<FindRuns, 'also' | 'alsoMax'> | undefined> {
  if (differsFrom === undefined) return {};
  if (sort !== 'started') {
    throw new Problem(400, {
      code: 'invalid_request',
      detail: 'Runs that differ from one are found in the order of their starts.',
      hint: 'Leave the order out, or the run to compare with.',
    });
  }
  if ((await desk.store.getRun(tenant, differsFrom)) === undefined) return undefined;
  const a = await comparedIn(desk, { tenant, runId: differsFrom });
  return {
    also: async ({ runId }) =>
      !diffOf(a, await comparedIn(desk, { tenant, runId }), { actions: true }).equal,
    alsoMax: COMPARED_MAX,
  };
}

async function comparedIn(
  { store }: Pick<Desk, 'store'>,
  run: { readonly tenant: string; readonly runId: string },
): Promise<ComparedRun> {
  const all: RunEvent[] = [];
  let sinceSeq = 0;
  while (all.length < EVENTS_MAX) {
    const { events, nextSeq } = await store.readEvents(run, { sinceSeq, limit: EVENTS_PER_PAGE });
    all.push(...events);
    sinceSeq = nextSeq;
    if (events.length < EVENTS_PER_PAGE) break;
  }
  return { runId: run.runId, events: all };
}

const SINCE_DEFAULT_MS = 7 * 86_400_000;

const group = z.object({
  stopReason: z.string(),
  detail: z.string().nullable(),
  rule: z.string().nullable().describe('the rule that ended the runs'),
  tool: z.string().nullable().describe('of the last call that failed'),
  code: z.string().nullable(),
  count: z.number().int(),
  newest: z.object({ runId: z.string(), agent: z.string(), endedAt: shapes.time }),
  oldestEndedAt: shapes.time,
  costMicroUsd: z.number().int(),
  over: z.array(z.number().int()).describe('runs in equal parts of the time, the oldest first'),
});

const listFailures = endpoint({
  method: 'get',
  path: '/v1/failures',
  name: 'listFailures',
  summary: 'Runs that ended without completing, in groups of those that ended alike.',
  access: 'read',
  query: z.strictObject({
    since: amount,
    until: amount,
    agent: shapes.id.optional(),
    all: z.enum(['true', 'false']).optional().describe('also runs that completed'),
  }),
  answers: {
    200: {
      description: 'The groups, those with the most runs first.',
      schema: z.object({
        since: shapes.time,
        until: shapes.time,
        ended: z.number().int(),
        failed: z.number().int(),
        groups: z.array(group),
        truncated: z.boolean(),
      }),
    },
  },
  async handle({ desk, person, query }) {
    const now = desk.clock();
    const { since = now - SINCE_DEFAULT_MS, until = now, agent, all } = query;
    const asked = {
      since,
      until,
      ...(agent !== undefined && { agent }),
      ...(all === 'true' && { all: true }),
    };
    return { status: 200, body: await failuresOf(desk.store, person.tenant, asked) };
  },
});

export const searchEndpoints: readonly Endpoint[] = [listFailures];
