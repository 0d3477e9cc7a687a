/**
 * What an event of a vendor's stream adds to its message, for whoever reads along. Read a second time, beside
 * the assembly: that one decides what counts, this one only shows, and costs nothing while nobody reads.
 */
import type { ModelDelta } from '../pure/stream.js';
import { isRecord, type MutableRecord } from './json-record.js';
import type { SseEvent } from './sse.js';

/** Takes an event that the assembly has accepted. Total: what shows nothing gives nothing. */
export type ReadDeltas = (event: SseEvent) => readonly ModelDelta[];

/** Numbers blocks in the order in which they are begun, whatever their vendor calls them. */
export function blockNumbers(): (name: string | number) => number {
  const numbers = new Map<string | number, number>();
  return (name) => {
    const known = numbers.get(name) ?? numbers.size;
    numbers.set(name, known);
    return known;
  };
}

export function eventData({ data }: SseEvent): MutableRecord {
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : {};
  } catch {
    // A marker such as `[DONE]`.
    return {};
  }
}

export function numberAt(record: MutableRecord, key: string): number {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

/** A piece of a text; none for an empty one. */
export function pieceOf(
  type: 'text' | 'thinking',
  block: () => number,
  text: string,
): readonly ModelDelta[] {
  return text === '' ? [] : [{ type, block: block(), text }];
}
