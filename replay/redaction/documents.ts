/** The recorded values of a bundle that rules look into: payloads, messages, events, large texts. */
import { isBlobRef, type Json } from '../../core/json/json.js';
import { parseJsonText } from '../../pure/json-text.js';
import type { Segment } from '../bundle.js';
import { pathWithin } from '../first-difference.js';
import { isObject, isPayload, payloadValue } from '../../recording/history.js';
import { heldSegment, recordedRuns, type Recorded, type RecordedRun } from './recorded.js';
import {
  activityTypes,
  exchangeIn,
  schemasOfEvent,
  schemasOfExchange,
  schemasOfNode,
  schemasOfPayload,
  type PayloadPlace,
} from './schema-places.js';

export interface Document {
  readonly value: Json;
  /** For people: `event 30`, or `large text 0f…`. */
  readonly source: string;
  /** Where in there: `input[0]`; '' is the whole. */
  readonly path: string;
  /** JSON Schemas in the value, by identity, or the value itself. They declare data and are none. */
  readonly schemas: ReadonlySet<Json>;
  /** Hash of the large text that a server's questions lie in. */
  readonly exchange?: string;
}

const NO_SCHEMAS: ReadonlySet<Json> = new Set();
const ATTRIBUTES = /EventAttributes$/;

export async function* documentsOf(recorded: Recorded): AsyncGenerator<Json, void> {
  for await (const { value } of placedDocuments(recorded)) yield value;
}

/** Payloads of the histories, messages, large texts, events. */
export async function* placedDocuments(recorded: Recorded): AsyncGenerator<Document, void> {
  const schemaTexts = new Set<string>();
  const exchanges = new Set<string>();
  for await (const document of payloadsOf(recorded)) {
    for (const schema of document.schemas) if (isBlobRef(schema)) schemaTexts.add(schema.$blob);
    if (document.exchange !== undefined) exchanges.add(document.exchange);
    yield document;
  }
  for await (const [hash, value] of recorded.nodes) {
    yield { value, source: `node ${hash}`, path: '', schemas: schemasOfNode(value) };
  }
  for await (const [hash, text] of recorded.blobs) {
    const holds = { schema: schemaTexts.has(hash), exchange: exchanges.has(hash) };
    yield* documentsOfText(hash, text, holds);
  }
  for (const run of recordedRuns(recorded)) {
    for await (const event of run.events) {
      yield {
        value: event as unknown as Json,
        source: `${ofMember(recorded, run)}run event ${event.stamp.seq}`,
        path: '',
        schemas: schemasOfEvent(event as unknown as Json),
      };
    }
  }
}

async function* payloadsOf(recorded: Recorded): AsyncGenerator<Document, void> {
  for (const run of recordedRuns(recorded)) {
    for (const segment of run.segments) {
      const { length: count } = run.segments;
      yield* payloadsOfSegment(await heldSegment(segment), count, ofMember(recorded, run));
    }
  }
}

function documentsOfText(
  hash: string,
  value: string,
  holds: { readonly schema: boolean; readonly exchange: boolean },
): readonly Document[] {
  const place = { source: `large text ${hash}`, path: '' };
  const parsed = holds.exchange ? parseJsonText(value) : undefined;
  const isSchema = holds.schema || parsed?.ok === true;
  const whole = { ...place, value, schemas: isSchema ? new Set([value]) : NO_SCHEMAS };
  if (parsed?.ok !== true) return [whole];
  // The forms in it declare data, and the rest of it is data.
  const exchange = parsed.value as Json;
  return [whole, { ...place, value: exchange, schemas: schemasOfExchange(exchange) }];
}

/** Before the source of a value: whose it is. */
function ofMember({ run: root }: Recorded, { run }: RecordedRun): string {
  return run.runId === root.runId ? '' : `${run.runId}, `;
}

function* payloadsOfSegment(
  { segment, events }: Segment,
  count: number,
  whose: string,
): Generator<Document> {
  const activities = activityTypes(events);
  for (const event of events) {
    const source = `${whose}event ${event.eventId}`;
    for (const { value, ...place } of payloadsIn(event, { event, path: '' })) {
      const exchange = exchangeIn(value, { ...place, activities });
      yield {
        value,
        source: count === 1 ? source : `${whose}segment ${segment}, event ${event.eventId}`,
        path: place.path,
        schemas: schemasOfPayload(value, { ...place, activities }),
        ...(exchange !== undefined && { exchange }),
      };
    }
  }
}

type Found = PayloadPlace & { readonly value: Json };

/** Paths are those that people know: without the names that are Temporal's alone. */
function* payloadsIn(value: Json, place: PayloadPlace): Generator<Found> {
  const { event, path } = place;
  if (Array.isArray(value)) {
    for (const [index, one] of (value as readonly Json[]).entries()) {
      yield* payloadsIn(one, { event, path: `${path}[${index}]` });
    }
  } else if (isObject(value)) {
    if (isPayload(value)) {
      yield { value: payloadValue(value), ...place };
      return;
    }
    for (const [name, one] of Object.entries(value)) {
      const isPassedOver = ATTRIBUTES.test(name) || (name === 'payloads' && Array.isArray(one));
      yield* payloadsIn(one, { event, path: isPassedOver ? path : pathWithin(path, name) });
    }
  }
}
