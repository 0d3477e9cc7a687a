/**
 * Temporal's histories in their JSON form (proto3 JSON), as much of it as is compared here.
 * Invariant: reading is total; what is not there, or not of the expected type, is undefined.
 */
import { ownValue, type Json } from '../core/json/json.js';

export interface HistoryEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly [key: string]: Json;
}

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of names. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let place = value;
  for (const name of path) place = isObject(place) ? ownValue(place, name) : undefined;
  return place;
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

const TYPE = 'EVENT_TYPE_';

/** `ACTIVITY_TASK_SCHEDULED` of `EVENT_TYPE_ACTIVITY_TASK_SCHEDULED`. */
export function typeOf(event: HistoryEvent): string {
  const { eventType } = event;
  return eventType.startsWith(TYPE) ? eventType.slice(TYPE.length) : eventType;
}

/** What an event of this kind says: kind `activityTaskScheduled` is under a name of its own. */
export function attributesOf(event: HistoryEvent | undefined, kind: string): JsonObject {
  const attributes = at(event, `${kind}EventAttributes`);
  return isObject(attributes) ? attributes : {};
}

/** ms since epoch; 0 where a history has none. */
export function timeOf(event: HistoryEvent | undefined): number {
  const time = at(event, 'eventTime');
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return Number.isNaN(ms) ? 0 : ms;
}

/** Milliseconds of a duration such as "0.500s". */
export function durationMs(value: Json | undefined): number {
  if (typeof value !== 'string') return 0;
  const seconds = Number(value.replace(/s$/, ''));
  return Number.isFinite(seconds) ? Math.round(seconds * 1_000) : 0;
}

export function payloadsOf(value: Json | undefined): readonly Json[] {
  const payloads = at(value, 'payloads');
  return Array.isArray(payloads) ? payloads : [];
}

/** The JSON value of a payload; one in another encoding stays as it is, bytes and all. */
export function payloadValue(payload: Json | undefined): Json {
  if (payload === undefined) return null;
  const data = textAt(payload, 'data') ?? '';
  switch (encodingOf(payload)) {
    case 'binary/null':
      return null;
    case 'json/plain': {
      const value = jsonOf(data);
      // Null is a value.
      return value === undefined ? payload : value;
    }
    default:
      return payload;
  }
}

export function encodingOf(payload: Json): string {
  const encoding = textAt(payload, 'metadata', 'encoding') ?? '';
  return encoding === JSON_ENCODING ? 'json/plain' : textOfBase64(encoding);
}

/** As histories have `json/plain`. */
export const JSON_ENCODING = 'anNvbi9wbGFpbg==';

/** What is decoded at once lies here: room of its own for each payload would take longer than to decode it. */
const room = Buffer.allocUnsafeSlow(64 * 1024);

/** Good until the next is asked for. */
export function bytesOfBase64(base64: string): Buffer {
  if (base64.length > room.length) return Buffer.from(base64, 'base64');
  return room.subarray(0, room.write(base64, 'base64'));
}

export function textOfBase64(base64: string): string {
  return bytesOfBase64(base64).toString('utf8');
}

export type PayloadReader = (payload: Json | undefined) => Json;

/** Decodes each payload once, and keeps what it was as long as somebody has the payload and this reader. */
export function payloadReader(): PayloadReader {
  const known = new WeakMap<object, Json>();
  return (payload) => {
    if (!isObject(payload)) return payloadValue(payload);
    const before = known.get(payload);
    if (before !== undefined) return before;
    const value = payloadValue(payload);
    known.set(payload, value);
    return value;
  };
}

export function argumentsOf(
  value: Json | undefined,
  read: PayloadReader = payloadValue,
): readonly Json[] {
  return payloadsOf(value).map((payload) => read(payload));
}

function jsonOf(base64: string): Json | undefined {
  try {
    return JSON.parse(textOfBase64(base64)) as Json;
  } catch {
    return undefined;
  }
}

/** The values of all payloads anywhere in a history. */
export function* payloadValues(events: readonly HistoryEvent[]): Generator<Json> {
  for (const event of events) yield* payloadValuesIn(event);
}

/** Of one event. */
export function payloadValuesIn(
  event: HistoryEvent,
  read: PayloadReader = payloadValue,
): readonly Json[] {
  const found: Json[] = [];
  const look = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) value.forEach(look);
    else if (isPayload(value as JsonObject)) found.push(read(value));
    else Object.values(value).forEach(look);
  };
  look(event);
  return found;
}

export function isPayload(value: JsonObject): boolean {
  return isObject(value.metadata) && typeof value.metadata.encoding === 'string';
}
