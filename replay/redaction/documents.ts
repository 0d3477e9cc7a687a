/** The recorded values of a bundle that rules look into: payloads, messages, events, large texts. */
import { isBlobRef, type Json } from '../../core/json/json.js';
import { parseJsonText } from '../../pure/json-text.js';
import type { Bundle } from '../bundle.js';
import { pathWithin } from '../first-difference.js';
import { isObject, isPayload, payloadValue } from '../../recording/history.js';
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

export function documentsOf(bundle: Bundle): readonly Json[] {
  return placedDocuments(bundle).map(({ value }) => value);
}

export function placedDocuments(bundle: Bundle): readonly Document[] {
  const payloads = bundle.segments.flatMap((_, index) => [...payloadsOfSegment(bundle, index)]);
  const schemaTexts = new Set(
    payloads.flatMap(({ schemas }) =>
      [...schemas].flatMap((schema) => (isBlobRef(schema) ? [schema.$blob] : [])),
    ),
  );
  const exchanges = new Set(payloads.flatMap(({ exchange }) => exchange ?? []));
  const nodes = Object.entries(bundle.nodes).map(([hash, value]) => ({
    value,
    source: `node ${hash}`,
    path: '',
    schemas: schemasOfNode(value),
  }));
  const blobs = Object.entries(bundle.blobs).flatMap(([hash, value]): readonly Document[] => {
    const place = { source: `large text ${hash}`, path: '' };
    const parsed = exchanges.has(hash) ? parseJsonText(value) : undefined;
    const isSchema = schemaTexts.has(hash) || parsed?.ok === true;
    const whole = { ...place, value, schemas: isSchema ? new Set([value]) : NO_SCHEMAS };
    if (parsed?.ok !== true) return [whole];
    // The forms in it declare data, and the rest of it is data.
    const exchange = parsed.value as Json;
    return [whole, { ...place, value: exchange, schemas: schemasOfExchange(exchange) }];
  });
  const events = bundle.events.map((event) => ({
    value: event as unknown as Json,
    source: `run event ${event.stamp.seq}`,
    path: '',
    schemas: schemasOfEvent(event as unknown as Json),
  }));
  return [...payloads, ...nodes, ...blobs, ...events];
}

function* payloadsOfSegment({ segments }: Bundle, index: number): Generator<Document> {
  const { segment, events } = segments[index]!;
  const activities = activityTypes(events);
  for (const event of events) {
    const source = `event ${event.eventId}`;
    for (const { value, ...place } of payloadsIn(event, { event, path: '' })) {
      const exchange = exchangeIn(value, { ...place, activities });
      yield {
        value,
        source: segments.length === 1 ? source : `segment ${segment}, ${source}`,
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
