/** The events of a run that its histories carry: what activities were given to bring to the store. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../core/json/json.js';
import { inputOf } from '../recording/activity-payloads.js';
import { wholeEvents, type EventsInPayload } from '../core/step/outbox.js';
import {
  argumentsOf,
  at,
  attributesOf,
  isObject,
  payloadReader,
  textAt,
  type HistoryEvent,
  type PayloadReader,
} from '../recording/history.js';
import type { Bundle } from './bundle.js';
import { canonicalForm } from './stream/canonical-form.js';
import { NotCanonical } from './stream/json-pieces.js';

/** What came under one number: mostly the same, and the canonical form is dear. */
export interface Carried {
  readonly first: object;
  /** Canonical forms of whatever else came. */
  readonly others: Set<string>;
}

interface CarriedEvents {
  /** By number; after a reset a number may come again. */
  readonly carried: ReadonlyMap<number, Carried>;
  /** Numbers of those that were stored. */
  readonly stored: Set<number>;
}

export function carriedEvents(segments: Bundle['segments']): CarriedEvents {
  const carried = new Map<number, Carried>();
  const stored = new Set<number>();
  for (const { events } of segments) {
    const reader = carriedReader(carried, stored);
    for (const event of events) reader.event(event, payloadReader());
    reader.end();
  }
  return { carried, stored };
}

/** Adds what the events of one history carry, which come one by one. */
export function carriedReader(carried: Map<number, Carried>, stored: Set<number>) {
  const brought = new Map<string, readonly number[]>();
  const acknowledged = new Map<string, number>();
  return {
    event(event: HistoryEvent, read: PayloadReader): void {
      const completed = attributesOf(event, 'activityTaskCompleted');
      const scheduled = textAt(completed, 'scheduledEventId');
      if (scheduled !== undefined) acknowledged.set(scheduled, storedUpTo(completed.result, read));
      const given = eventsIn(inputOf(event, read));
      for (const one of given) carry(carried, one);
      if (given.length > 0)
        brought.set(
          event.eventId,
          given.map(({ stamp }) => stamp.seq),
        );
    },
    /** Behind the last event of the history. */
    end(): void {
      for (const [eventId, seqs] of brought) {
        const upTo = acknowledged.get(eventId) ?? 0;
        for (const seq of seqs) if (seq < upTo) stored.add(seq);
      }
    },
  };
}

function carry(carried: Map<number, Carried>, event: ReturnType<typeof wholeEvents>[number]): void {
  const { seq } = event.stamp;
  const known = carried.get(seq);
  if (known === undefined) carried.set(seq, { first: event, others: new Set() });
  else if (!isDeepStrictEqual(known.first, event)) {
    known.others.add(formOf(event));
  }
}

/** The number up to which the store has the events of an activity that has completed. */
function storedUpTo(result: Json | undefined, read: PayloadReader): number {
  const upTo = at(argumentsOf(result, read)[0], 'eventsUpTo');
  return typeof upTo === 'number' ? upTo : 0;
}

function eventsIn(input: Json | undefined): ReturnType<typeof wholeEvents> {
  const given = at(input, 'events');
  if (!Array.isArray(given) || !given.every((event) => isObject(at(event, 'stamp')))) return [];
  try {
    return wholeEvents(input as unknown as EventsInPayload);
  } catch {
    // Whatever this input is, no workflow has made it, and the replay will say so.
    return [];
  }
}

export function isAmong({ first, others }: Carried, event: object): boolean {
  if (isDeepStrictEqual(first, event)) return true;
  const form = formOf(event);
  return others.has(form) || form === formOf(first);
}

/** All forms in which an event came. Errors: as below. */
export function formsOf({ first, others }: Carried): readonly string[] {
  return [formOf(first), ...others];
}

/** Errors: `NotCanonical` for numbers that JSON reads and cannot write, such as 1e999; RangeError for what is nested too deeply. */
function formOf(event: object): string {
  try {
    return canonicalForm(event as Json);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new NotCanonical('a number has no end', { cause });
  }
}
