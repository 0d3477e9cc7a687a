/**
 * What a run was after each of its steps, folded from its record: the same as `holdfast inspect --json`.
 * Invariant: nothing is written but what the trail has of questions that somebody was shown.
 */
import { z } from 'zod';
import type { OpenRecord } from '../../replay/open-record.js';
import { toldIndex, toldMoment, type ToldMoment } from '../../replay/told-moment.js';
import type { Desk, Seen } from '../desk.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import * as shapes from '../http/shapes.js';
import { Problem } from '../http/problem.js';
import { moment, stepsIndex } from '../http/step-shapes.js';
import type { Person } from '../identity/person.js';
import { ownRun } from './runs.js';

/** Of the request that a model saw, and of the state, as JSON. */
const PART_BYTES_MAX = 4 * 1024 * 1024;

/** Where records come from, and what is noted of what is shown of them. */
export interface StepSource {
  /** Errors: a Problem that says no more than that there is none for this person. */
  open(desk: Desk, person: Person, wanted: RecordAsked): Promise<OpenRecord>;
  shown(desk: Desk, person: Person, told: ToldMoment): Promise<void>;
}

export interface RecordAsked {
  readonly runId: string;
  readonly step?: number;
}

export function stepEndpointsOf(source: StepSource): readonly Endpoint[] {
  const listSteps = endpoint({
    method: 'get',
    path: '/v1/runs/{runId}/steps',
    name: 'listSteps',
    summary: 'The steps of a run or goal, folded from its record.',
    access: 'read',
    params: z.strictObject({ runId: shapes.id }),
    answers: { 200: { description: 'The index of its steps.', schema: stepsIndex } },
    async handle({ desk, person, params }) {
      return { status: 200, body: toldIndex(await source.open(desk, person, params)) };
    },
  });
  const getStep = endpoint({
    method: 'get',
    path: '/v1/runs/{runId}/steps/{step}',
    name: 'getStep',
    summary:
      'A run or goal as it was after a step: its state, the request that the model saw, the rules that fired next and why.',
    access: 'read',
    params: z.strictObject({
      runId: shapes.id,
      step: z.coerce.number().int().min(1).max(1_000_000_000),
    }),
    query: z.strictObject({
      messages: z.coerce
        .number()
        .int()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe('of each request, only so many of its newest messages; absent: all of them'),
      ahead: z
        .enum(['true', 'false'])
        .optional()
        .describe(
          'nobody is shown the moment yet: one with an open question, which then counts as seen, is refused with 409',
        ),
    }),
    answers: { 200: { description: 'The moment.', schema: moment } },
    async handle({ desk, person, params, query }) {
      const record = await source.open(desk, person, params);
      const told = await toldMoment(record, params.step, query);
      if (query.ahead === 'true' && shownIn(told).length > 0) throw notAhead();
      await source.shown(desk, person, told);
      // The whole is written once; only one that is large is looked at by its parts.
      const json = JSON.stringify(told);
      if (Buffer.byteLength(json) <= PART_BYTES_MAX) return { status: 200, body: told, json };
      return { status: 200, body: bounded(told) };
    },
  });
  return [listSteps, getStep];
}

/** Errors: a Problem that says no more than that there is none for this person. */
export async function recordOf(
  desk: Desk,
  person: Person,
  { runId, step }: RecordAsked,
): Promise<OpenRecord> {
  const { tenant } = person;
  const row = await ownRun(desk, person, runId);
  return desk.records.open({
    tenant,
    runId,
    isOver: row.completedAt !== undefined,
    ...(step !== undefined && { step }),
  });
}

/** What is too large for a page says so; `holdfast inspect` shows it. */
function bounded({ request, answered, state, ...told }: ToldMoment): ToldMoment {
  return {
    ...told,
    ...(request !== undefined && { request: boundedRequest(request) }),
    ...(answered !== undefined && { answered: boundedRequest(answered) }),
    state: isWithin(state) ? state : { missing: tooLarge('state') },
  };
}

function boundedRequest(request: NonNullable<ToldMoment['request']>) {
  if (isWithin(request)) return request;
  return { step: request.step, call: request.call, missing: tooLarge('request') };
}

function isWithin(part: object): boolean {
  return Buffer.byteLength(JSON.stringify(part)) <= PART_BYTES_MAX;
}

function tooLarge(what: string): string {
  return `The ${what} is too large for this page. Look at it with \`holdfast inspect --at\`.`;
}

function notAhead(): Problem {
  return new Problem(409, {
    code: 'not_ahead',
    detail: 'A question is open after this step. Ask for the moment when it is shown.',
  });
}

function shownIn({ runId, view }: ToldMoment): readonly Seen[] {
  return view.asks
    .filter(({ kind }) => kind !== 'user_message')
    .map(({ askId, argsHash, policyVersion }) => ({ askId, argsHash, policyVersion, runId }));
}

export const stepEndpoints: readonly Endpoint[] = stepEndpointsOf({
  open: recordOf,
  shown: (desk, person, told) => desk.views.note(desk, person, shownIn(told)),
});
