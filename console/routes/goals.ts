/** Goals: a list with filters, one of them with what it remembers, its events, its briefs, its evidence. */
import { inTime } from './in-time.js';
import { z } from 'zod';
import type { GoalView } from '../../core/state/goal/view.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { RunRow } from '../../store/runs.js';
import type { Desk } from '../desk.js';
import { briefOfCycle, briefOfDigest } from '../goals/brief.js';
import { evidenceOf } from '../goals/evidence.js';
import { definitionOf, newestMemory } from '../goals/goal-memory.js';
import { cursorOf, placeOf } from '../http/cursor.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import * as goals from '../http/goal-shapes.js';
import { notFound } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import type { Person } from '../identity/person.js';
import { askShown } from './asks.js';
import { eventsFrom, eventsPage, since } from './events.js';
import { temporalUrl } from './runs.js';

const PENDING_MAX = 100;
/** Whoever looks at a goal does not wait long for a worker. */
const STATE_LIMIT_MS = 2_000;

const params = z.strictObject({ goalId: shapes.id });

/** The goal, if it is this person's tenant's. Errors: a Problem that says no more than that. */
export async function ownGoal(desk: Desk, person: Person, goalId: string): Promise<RunRow> {
  const row = await desk.store.getRun(person.tenant, goalId);
  if (row?.kind !== 'goal') throw notFound();
  return row;
}

const listGoals = endpoint({
  method: 'get',
  path: '/v1/goals',
  name: 'listGoals',
  summary: 'Goals, newest first.',
  access: 'read',
  query: z.strictObject({
    status: shapes.runStatus.optional(),
    agent: shapes.id.optional(),
    limit: shapes.limit,
    cursor: shapes.cursor,
  }),
  answers: { 200: { description: 'A page of goals.', schema: shapes.page(goals.goal) } },
  handle({ desk, person, query: { status, agent, limit, cursor } }) {
    return inTime(desk, async () => {
      const place = cursor === undefined ? undefined : placeOf(cursor);
      const rows = await desk.store.listGoals(person.tenant, {
        limit,
        ...(status !== undefined && { status }),
        ...(agent !== undefined && { agent }),
        ...(place !== undefined && { before: { startedAt: place.at, runId: place.id } }),
      });
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const next = last && cursorOf(last.startedAt, last.runId);
      const items = rows.map(goalShown);
      return { status: 200, body: { items, ...(next !== undefined && { next }) } };
    });
  },
});

const getGoal = endpoint({
  method: 'get',
  path: '/v1/goals/{goalId}',
  name: 'getGoal',
  summary:
    'One goal: its definition, what it remembers, what it waits for, and its state while a worker answers.',
  access: 'read',
  params,
  answers: { 200: { description: 'The goal.', schema: goals.goalDetail } },
  async handle({ desk, person, params: { goalId } }) {
    const row = await ownGoal(desk, person, goalId);
    const { store } = desk;
    const view = row.result === undefined ? await viewOf(desk, row) : undefined;
    const [memory, definition, pending, pendingOfCycle] = await Promise.all([
      newestMemory(store, row, view?.memory),
      definitionOf(store, row),
      pendingOf(desk, person, goalId),
      view?.cycle === undefined ? [] : pendingOf(desk, person, view.cycle.runId),
    ]);
    await desk.views.note(desk, person, [...pending, ...pendingOfCycle]);
    return {
      status: 200,
      body: {
        ...goalShown(row),
        ...(definition !== undefined && { definition }),
        ...(view !== undefined && { view }),
        ...(memory !== undefined && { record: recordOf(memory) }),
        ...(row.result !== undefined && { result: row.result }),
        pending: pending.map((ask) => askShown(ask, desk)),
        pendingOfCycle: pendingOfCycle.map((ask) => askShown(ask, desk)),
        ...(desk.temporalUi !== undefined && { temporalUrl: temporalUrl(desk, goalId) }),
      },
    };
  },
});

/** As the goal itself tells it. The id may be another tenant's now, or that of a run. */
async function viewOf({ client }: Desk, { tenant, runId }: RunRow): Promise<GoalView | undefined> {
  const goal = client.forTenant(tenant).goal(runId);
  const view = await goal.state(STATE_LIMIT_MS).catch(() => undefined);
  return view?.kind === 'goal' && view.tenant === tenant ? view : undefined;
}

function pendingOf({ store }: Desk, { tenant }: Person, runId: string) {
  return store.listAsks(tenant, { runId, pendingOnly: true, limit: PENDING_MAX });
}

function recordOf({ plan, state, notes, log, measurements, reviews, ...more }: GoalMemory) {
  const { children: childRuns, ancestors } = more;
  return { plan, state, notes, log, measurements, reviews, childRuns, ancestors };
}

function goalShown(row: RunRow) {
  const { caller, completedAt, stopReason, detail, nextWake, spentMicroUsd, ...more } = row;
  const { budgetMicroUsd, costMicroUsd } = more;
  // The result has what the last cycle, its reviews and its judges came to.
  const spent = costMicroUsd ?? spentMicroUsd;
  return {
    goalId: row.runId,
    agent: row.agent,
    status: row.status,
    objective: row.goalPreview,
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    lastSeq: row.lastSeq,
    ...(caller !== undefined && { caller }),
    ...(completedAt !== undefined && { completedAt }),
    ...(stopReason !== undefined && { stopReason }),
    ...(detail !== undefined && { detail }),
    ...(nextWake !== undefined && { nextWake }),
    ...(spent !== undefined && { spentMicroUsd: spent }),
    ...(budgetMicroUsd !== undefined && { budgetMicroUsd }),
  };
}

const listGoalEvents = endpoint({
  method: 'get',
  path: '/v1/goals/{goalId}/events',
  name: 'listGoalEvents',
  summary:
    'Events of a goal, in order, from a number on. Those of its cycles are under their runs.',
  access: 'read',
  params,
  query: z.strictObject({ since, limit: shapes.limit }),
  answers: { 200: { description: 'A page of events.', schema: shapes.eventsPage } },
  async handle({ desk, person, params: { goalId }, query }) {
    const { runId } = await ownGoal(desk, person, goalId);
    return { status: 200, body: await eventsPage(desk, person, { runId, ...query }) };
  },
});

const streamGoalEvents = endpoint({
  method: 'get',
  path: '/v1/goals/{goalId}/stream',
  name: 'streamGoalEvents',
  summary: 'Events as they happen (server-sent events); resumes after the header Last-Event-ID.',
  access: 'read',
  params,
  query: z.strictObject({ since }),
  answers: { 200: { description: 'A stream: `event`s with their number as id, `reset`, `end`.' } },
  async handle(asked) {
    const { runId } = await ownGoal(asked.desk, asked.person, asked.params.goalId);
    return { stream: eventsFrom(asked, runId) };
  },
});

const getGoalBrief = endpoint({
  method: 'get',
  path: '/v1/goals/{goalId}/brief',
  name: 'getGoalBrief',
  summary: 'The brief of a cycle: words to its agent and data, with estimated tokens by section.',
  access: 'read',
  params,
  query: z.strictObject({
    n: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('of a brief that a question names'),
  }),
  answers: { 200: { description: 'The brief; default: the newest.', schema: goals.brief } },
  async handle({ desk, person, params: { goalId }, query: { n, digest } }) {
    const row = await ownGoal(desk, person, goalId);
    const brief =
      digest === undefined
        ? await briefOfCycle(desk.store, row, n)
        : await briefOfDigest(desk.store, row, { digest, n });
    if (brief === undefined) throw notFound();
    return { status: 200, body: brief };
  },
});

const getEvidence = endpoint({
  method: 'get',
  path: '/v1/goals/{goalId}/evidence',
  name: 'getGoalEvidence',
  summary: 'The call, check, effect or answer of a person behind an id of evidence.',
  access: 'read',
  params,
  query: z.strictObject({ id: shapes.id.describe('such as c3/call_1 or check/tests/4') }),
  answers: { 200: { description: 'The evidence.', schema: goals.evidence } },
  async handle({ desk, person, params: { goalId }, query: { id } }) {
    const row = await ownGoal(desk, person, goalId);
    const { tenant } = person;
    // An id of an earlier goal names it before a '#'.
    const memory = id.includes('#') ? await newestMemory(desk.store, row) : undefined;
    const place = { tenant, goalId, ancestors: memory?.ancestors ?? [] };
    const found = await evidenceOf(desk.store, place, id);
    if (found === undefined) throw notFound();
    return { status: 200, body: found };
  },
});

export const goalEndpoints: readonly Endpoint[] = [
  listGoals,
  getGoal,
  listGoalEvents,
  streamGoalEvents,
  getGoalBrief,
  getEvidence,
];
