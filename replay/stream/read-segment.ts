/**
 * A segment of a bundle's file, read event by event: its text is never held whole, and no form of it is made.
 * Errors: `NotCanonical`.
 */
import type { z } from 'zod';
import type { Json } from '../../core/json/json.js';
import { isHistoryEvent, pieces } from '../bundle-schema.js';
import type { Segment } from '../bundle.js';
import { NotCanonical, type JsonPieces } from './json-pieces.js';

export async function readSegment(json: JsonPieces): Promise<Segment> {
  const events: Json[] = [];
  const small = new Map<string, Json>();
  for await (const name of json.names()) {
    if (name === 'events') {
      for await (const _ of json.items()) {
        events.push(fitting(isHistoryEvent, await json.value()));
      }
    } else small.set(name, await json.value());
  }
  if (events.length === 0) throw new NotCanonical('a segment has no events');
  const rest = fit<Omit<Segment, 'events'>>(pieces.segment, Object.fromEntries(small));
  return { events, ...rest } as unknown as Segment;
}

/** What its schema takes is of the type that the reader of whole files gives it. */
export function fit<T>(schema: z.ZodType, value: Json): T {
  return fitting<T>((one) => schema.safeParse(one).success, value);
}

/** `isTaken`: what such a schema takes. */
export function fitting<T>(isTaken: (value: Json) => boolean, value: Json): T {
  if (!isTaken(value)) throw new NotCanonical('a value is of another form');
  return value as unknown as T;
}
