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
import { runsOf, type BundledRun } from '../tree.js';

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
  const runs = runsOf(bundle);
  const payloads = runs.flatMap((run) =>
    run.segments.flatMap((_, index) => [...payloadsOfSegment(run, index, ofMember(bundle, run))]),
  );
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
  const events = runs.flatMap((run) =>
    run.events.map((event) => ({
      value: event as unknown as Json,
      source: `${ofMember(bundle, run)}run event ${event.stamp.seq}`,
      path: '',
      schemas: schemasOfEvent(event as unknown as Json),
    })),
  );
  return [...payloads, ...nodes, ...blobs, ...events];
}

/** Before the source of a value: whose it is. */
function ofMember(bundle: Bundle, { run }: BundledRun): string {
  return run.runId === bundle.run.runId ? '' : `${run.runId}, `;
}

function* payloadsOfSegment(
  { segments }: BundledRun,
  index: number,
  whose: string,
): Generator<Document> {
  const { segment, events } = segments[index]!;
  const activities = activityTypes(events);
  for (const event of events) {
    const source = `${whose}event ${event.eventId}`;
    for (const { value, ...place } of payloadsIn(event, { event, path: '' })) {
      const exchange = exchangeIn(value, { ...place, activities });
      yield {
        value,
        source:
          segments.length === 1 ? source : `${whose}segment ${segment}, event ${event.eventId}`,
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
