/** Runs: a list with filters, and one of them. */
import { inTime } from './in-time.js';
import { z } from 'zod';
import type { RunHandle } from '../../client/index.js';
import type { ListedRow } from '../../client/read/joined-page.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isEndByTemporal } from '../../pure/listed-status.js';
import type { RunRow } from '../../store/runs.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { cursorOf, placeOf } from '../http/cursor.js';
import { notFound } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import type { Desk } from '../desk.js';
import type { Person } from '../identity/person.js';
import { joinerAt, unopenedAt } from '../joiner-at-desk.js';
import { restoredHere } from '../restored-at-desk.js';
import { runShown } from '../run-shown.js';
import { askShown } from './asks.js';
import { foundPage, foundRuns, isSearch, searchShape } from './search.js';

const PENDING_MAX = 100;
const FORKS_MAX = 100;
/** Whoever looks at a run does not wait long for a worker. */
const STATE_LIMIT_MS = 2_000;

/**
 * The run, if it is this person's tenant's, also before a worker has opened it. Errors: a Problem that says no more than
 * that.
 */
export async function ownRun(desk: Desk, person: Person, runId: string): Promise<RunRow> {
  const row =
    (await desk.store.getRun(person.tenant, runId)) ??
    (await unopenedAt(desk, person.tenant, runId));
  if (row === undefined) throw notFound();
  return row;
}

/**
 * The run itself, where something is said to it or asked of it. That the store has a run of this tenant under
 * the id is not enough: it may be long gone, and the id another tenant's now. Errors: RunNotFound.
 */
export function ownHandle(
  { client }: Pick<Desk, 'client'>,
  tenant: string,
  runId: string,
): Promise<RunHandle> {
  return client.forTenant(tenant).ownRun(runId);
}

/** Of runs that have ended: only they are known to have cost something. */
const microUsd = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const listQuery = z.strictObject({
  status: shapes.listedStatus.optional(),
  agent: shapes.id.optional(),
  root: shapes.id.optional().describe('only the sub-agents below this run'),
  forksOf: shapes.id.optional().describe('only the forks of this run'),
  costFrom: microUsd,
  costTo: microUsd,
  ...searchShape,
  limit: shapes.limit,
  cursor: shapes.cursor,
});

const listRuns = endpoint({
  method: 'get',
  path: '/v1/runs',
  name: 'listRuns',
  summary: 'Runs, newest first.',
  access: 'read',
  query: listQuery,
  answers: { 200: { description: 'A page of runs.', schema: foundPage } },
  handle({ desk, person, query }) {
    return inTime(desk, async () => {
      const restored = await restoredHere(desk);
      if (isSearch(query)) {
        const found = await foundRuns(desk, person.tenant, query);
        return { status: 200, body: { ...found, ...restored } };
      }
      const { status, agent, root, forksOf, costFrom, costTo, limit, cursor } = query;
      const place = cursor === undefined ? undefined : placeOf(cursor);
      const { rows, next, trouble } = await joinerAt(desk, person.tenant).joinedRuns({
        limit,
        ...(status !== undefined && { status }),
        ...(agent !== undefined && { agent }),
        ...(root !== undefined && { root }),
        ...(forksOf !== undefined && { forksOf }),
        ...(costFrom !== undefined && { costFrom }),
        ...(costTo !== undefined && { costTo }),
        ...(place !== undefined && { before: { startedAt: place.at, runId: place.id } }),
      });
      return {
        status: 200,
        body: {
          items: rows.map(runShown),
          ...(next && { next: cursorOf(next.startedAt, next.runId) }),
          ...(trouble !== undefined && { trouble }),
          ...restored,
        },
      };
    });
  },
});

const getRun = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}',
  name: 'getRun',
  summary: 'One run, with its result and what it waits for.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id }),
  answers: { 200: { description: 'The run.', schema: shapes.runDetail } },
  async handle({ desk, person, params }) {
    const own = await ownRun(desk, person, params.runId);
    const { runId } = own;
    const row: ListedRow = own.result === undefined ? await asItStands(desk, own) : own;
    const query = { under: runId, pendingOnly: true, limit: PENDING_MAX };
    const asks = await desk.store.listAsks(person.tenant, query);
    // Nobody can answer a run that has ended without a result here.
    const isOver = isEndByTemporal(row.status) || row.notStored === true;
    const pending = asks.filter((ask) => ask.runId !== runId || !isOver);
    await desk.views.note(desk, person, pending);
    const forks = await desk.store.forksOf(person.tenant, runId, FORKS_MAX);
    const { taskId, sessionId, result } = row;
    return {
      status: 200,
      body: {
        ...runShown(row),
        ...(row.kind !== undefined && { kind: row.kind }),
        taskId,
        ...(sessionId !== undefined && { sessionId }),
        ...(result !== undefined && { result }),
        pending: pending.map((ask) => askShown(ask, desk)),
        forks: forks.map(({ runId: id, step, at }) => ({ runId: id, step, at })),
        ...(desk.temporalUi !== undefined && { temporalUrl: temporalUrl(desk, runId) }),
      },
    };
  },
});

async function asItStands(desk: Desk, row: RunRow): Promise<ListedRow> {
  const [listed] = (await joinerAt(desk, row.tenant).standingRows([row])).rows;
  if (listed === undefined) throw notFound();
  return listed;
}

/** The workflow in Temporal's own page. */
export function temporalUrl({ temporalUi = '', client }: Desk, runId: string): string {
  const [namespace, workflow] = [client.namespace, runId].map(encodeURIComponent);
  return `${temporalUi.replace(/\/+$/, '')}/namespaces/${namespace}/workflows/${workflow}`;
}

const getRunState = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/state',
  name: 'getRunState',
  summary:
    'The state of the run at this moment: task, newest transition, counters, budget, standing grants.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id }),
  answers: { 200: { description: 'The state.', schema: shapes.runState } },
  async handle({ desk, person, params }) {
    const { runId } = await ownRun(desk, person, params.runId);
    const run = await ownHandle(desk, person.tenant, runId);
    const view = await run.state(STATE_LIMIT_MS);
    const { status, phase, segment, counters, reservedMicroUsd, queuedMessages } = view;
    const { taskId, goal, startedAt, transition, budget, grants } = view;
    return {
      status: 200,
      body: {
        taskId,
        goal,
        startedAt,
        status,
        phase,
        ...(transition !== undefined && { transition }),
        segment,
        counters,
        reservedMicroUsd,
        queuedMessages,
        ...(budget !== undefined && { budget }),
        ...(grants !== undefined && { grants }),
      },
    };
  },
});

const getRunWaits = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/waits',
  name: 'getRunWaits',
  summary:
    'Waits of the run other than for people, each with its beginning; answered also while the store is away.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id }),
  answers: { 200: { description: 'The waits.', schema: shapes.runWaits } },
  async handle({ desk, person, params }) {
    const client = desk.client.forTenant(person.tenant);
    const waits = await client.waits(params.runId).catch((error: unknown) => {
      const isGone = error instanceof HoldfastError && error.code === 'RunNotFound';
      throw isGone ? notFound() : error;
    });
    return { status: 200, body: { waits } };
  },
});

export const runEndpoints: readonly Endpoint[] = [listRuns, getRun, getRunState, getRunWaits];
