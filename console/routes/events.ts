/**
 * What a run did: its events, page by page or as they happen, and its conversation.
 * Invariant: an event's number is its place; a reader that comes back with the last one misses nothing.
 */
import { z } from 'zod';
import type { RunEvent } from '../../core/state/event.js';
import type { WholeEvent } from '../../pure/sdk/projection.js';
import { placeOf as placeInStream, type StreamChunk } from '../../pure/stream.js';
import {
  endpoint,
  type Endpoint,
  type EndpointRequest,
  type EventStream,
  type StreamEntry,
} from '../http/endpoint.js';
import { notFound, Problem } from '../http/problem.js';
import { textPiece } from '../http/card-shapes.js';
import * as shapes from '../http/shapes.js';
import { withSources } from '../cited.js';
import type { Desk } from '../desk.js';
import type { Person } from '../identity/person.js';
import { asksIn } from '../trail.js';
import { ownRun } from './runs.js';

const params = z.strictObject({ runId: shapes.id });
export const since = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const listEvents = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/events',
  name: 'listEvents',
  summary: 'Events of a run, in order, from a number on.',
  access: 'read',
  params,
  query: z.strictObject({ since, limit: shapes.limit }),
  answers: { 200: { description: 'A page of events.', schema: shapes.eventsPage } },
  async handle({ desk, person, params: where, query }) {
    const { runId } = await ownRun(desk, person, where.runId);
    return { status: 200, body: await eventsPage(desk, person, { runId, ...query }) };
  },
});

interface PageWanted {
  readonly runId: string;
  readonly since?: number | undefined;
  readonly limit: number;
}

/** Of a run or a goal that is this person's tenant's. */
export async function eventsPage(
  desk: Desk,
  person: Person,
  { runId, since: sinceSeq = 0, limit }: PageWanted,
) {
  const { tenant } = person;
  const page = await desk.store.readEvents({ tenant, runId }, { sinceSeq, limit });
  const { events, nextSeq, epoch } = page;
  await desk.views.note(desk, person, events.flatMap(asksIn));
  const whole: WholeEvent[] = [];
  for (const event of events) whole.push(await withSources(desk.store, tenant, event));
  return { events: whole, nextSeq, epoch };
}

const streamEvents = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/stream',
  name: 'streamEvents',
  summary: 'Events as they happen (server-sent events); resumes after the header Last-Event-ID.',
  access: 'read',
  params,
  query: z.strictObject({ since }),
  answers: { 200: { description: 'A stream: `event`s with their number as id, `reset`, `end`.' } },
  async handle(asked) {
    const { runId } = await ownRun(asked.desk, asked.person, asked.params.runId);
    return { stream: eventsFrom(asked, runId) };
  },
});

type Following = EndpointRequest<object, { readonly since?: number | undefined }, unknown>;

/** Of a run or a goal that is this person's tenant's. */
export function eventsFrom(
  { desk, person, query, header, signal }: Following,
  runId: string,
): EventStream {
  const from = resumedAt(header('last-event-id')) ?? query.since ?? 0;
  const run = desk.client.forTenant(person.tenant).handle(runId);
  const shown = noted(desk, person, run.events({ since: from, signal }));
  return entriesOf(shown, { from, signal });
}

async function* noted(
  desk: Desk,
  person: Person,
  events: AsyncIterable<RunEvent>,
): AsyncGenerator<WholeEvent, void, undefined> {
  for await (const event of events) {
    await desk.views.note(desk, person, asksIn(event));
    yield await withSources(desk.store, person.tenant, event);
  }
}

function resumedAt(last: string | undefined): number | undefined {
  if (last === undefined || !/^\d{1,15}$/.test(last)) return undefined;
  return Number(last) + 1;
}

async function* entriesOf(
  events: AsyncIterable<WholeEvent>,
  { from, signal }: { readonly from: number; readonly signal: AbortSignal },
): AsyncGenerator<StreamEntry, void, undefined> {
  let next = from;
  for await (const event of events) {
    const { seq } = event.stamp;
    if (seq < next) yield { event: 'reset', data: { fromSeq: seq } };
    yield { id: String(seq), event: 'event', data: event };
    next = seq + 1;
  }
  // A console that ends is not the end of the run: whoever reads comes back.
  if (!signal.aborted) yield { event: 'end', data: { nextSeq: next } };
}

const streamTokens = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/tokens',
  name: 'streamTokens',
  summary:
    'The words of models as they come (server-sent events); the stream resumes after Last-Event-ID.',
  access: 'read',
  params,
  answers: { 200: { description: 'A stream: `chunk`s with their cursor as id, `end`.' } },
  async handle({ desk, person, params: where, header, signal }) {
    const { runId } = await ownRun(desk, person, where.runId);
    const last = header('last-event-id');
    const after = last !== undefined && placeInStream(last) !== undefined ? last : undefined;
    const run = desk.client.forTenant(person.tenant).handle(runId);
    const chunks = run.stream({ signal, ...(after !== undefined && { after }) });
    return { stream: chunksOf(chunks, signal) };
  },
});

async function* chunksOf(
  chunks: AsyncIterable<StreamChunk>,
  signal: AbortSignal,
): AsyncGenerator<StreamEntry, void, undefined> {
  for await (const chunk of chunks) yield { id: chunk.cursor, event: 'chunk', data: chunk };
  if (!signal.aborted) yield { event: 'end', data: {} };
}

/** A file is read in few pieces: the store reads the whole for each. */
const PIECE_CHARS_MAX = 2_000_000;

const getText = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/texts/{hash}',
  name: 'getText',
  summary: 'A piece of a large text that events and arguments name by its hash.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id, hash: z.string().regex(/^[0-9a-f]{64}$/) }),
  query: z.strictObject({
    from: since,
    chars: z.coerce.number().int().min(1).max(PIECE_CHARS_MAX).default(20_000),
  }),
  answers: { 200: { description: 'The piece.', schema: textPiece } },
  async handle({ desk, person, params: where, query: { from = 0, chars } }) {
    await ownRun(desk, person, where.runId);
    const whole = await desk.store.getBlob(person.tenant, where.hash);
    if (whole === undefined) throw notFound();
    const text = whole.slice(from, from + chars);
    return { status: 200, body: { text, from, chars: whole.length } };
  },
});

const getTranscript = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/transcript',
  name: 'getTranscript',
  summary:
    'The conversation of a run that has ended; with `tree=true` beside those of the sub-agents below it.',
  access: 'read',
  params,
  query: z.strictObject({ tree: z.enum(['true', 'false']).optional() }),
  answers: { 200: { description: 'The conversation.', schema: shapes.transcript } },
  async handle({ desk, person, params: where, query: { tree } }) {
    const row = await ownRun(desk, person, where.runId);
    if (row.head === undefined) {
      throw new Problem(409, {
        code: 'not_ended',
        detail: 'The conversation is stored when the run ends; until then follow its events.',
      });
    }
    const client = desk.client.forTenant(person.tenant);
    const body = await client.transcript(row.runId);
    if (tree !== 'true') return { status: 200, body };
    return { status: 200, body: { ...body, ...(await client.subAgentTranscripts(row.runId)) } };
  },
});

export const eventEndpoints: readonly Endpoint[] = [
  listEvents,
  streamEvents,
  streamTokens,
  getText,
  getTranscript,
];
