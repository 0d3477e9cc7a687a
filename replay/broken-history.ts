/**
 * Why a history is none that a server can have written, with the event. Temporal's replayer takes that for
 * granted: over a history that is broken it ends the process's worker, or waits without end.
 * Invariants: one pass, linear in the history; what a client can send (payloads that nobody can decode) is
 * no defect of the history that holds it.
 */
import { attributesName } from '../activities/history-fields.js';
import { historyJson } from '../activities/history-json.js';
import { ownValue, type Json } from '../core/json/json.js';
import { brokenReference } from './back-references.js';
import { isEnding } from '../recording/chain.js';
import {
  isObject,
  textAt,
  typeOf,
  type HistoryEvent,
  type JsonObject,
} from '../recording/history.js';

/** What the replayed code exports. */
const WORKFLOW_TYPES: readonly string[] = ['agentRun', 'goalRun'];
const REASON_CHARS_MAX = 300;
const ATTRIBUTES = /EventAttributes$/;

/** Event ids are known to count from 1, and the first event to be the start. */
export function brokenHistory(events: readonly HistoryEvent[]): string | undefined {
  const types = events.map(typeOf);
  for (const [index, event] of events.entries()) {
    const reason = brokenEvent(event, types) ?? misplaced(event, index === events.length - 1);
    if (reason !== undefined) return `event ${event.eventId}: ${reason.slice(0, REASON_CHARS_MAX)}`;
  }
  return undefined;
}

function brokenEvent(event: HistoryEvent, types: readonly string[]): string | undefined {
  const { eventType } = event;
  if (!isKnown(eventType)) return `there is no event type ${eventType.slice(0, 100)}`;
  const name = nameOfAttributes(eventType);
  const attributes = ownValue(event, name);
  if (!isObject(attributes)) return `it has no ${name}`;
  const other = Object.keys(event).find((key) => key !== name && ATTRIBUTES.test(key));
  if (other !== undefined) return `it has ${other.slice(0, 100)}, which is not of its type`;
  // What fits is right in both.
  const broken = historyJson().fits(event) ? undefined : (brokenPayload(event) ?? unread(event));
  return broken ?? brokenReference(event, attributes, types);
}

/** The start comes first and once, an ending last. */
function misplaced(event: HistoryEvent, isLast: boolean): string | undefined {
  if (typeOf(event) === 'WORKFLOW_EXECUTION_STARTED') {
    if (event.eventId !== '1') return 'the execution begins a second time';
    const type = textAt(event, 'workflowExecutionStartedEventAttributes', 'workflowType', 'name');
    if (type !== undefined && WORKFLOW_TYPES.includes(type)) return undefined;
    return `this release has no workflow type ${(type ?? '').slice(0, 100)}`;
  }
  return isEnding(event) && !isLast ? 'something follows the end of the execution' : undefined;
}

function nameOfAttributes(eventType: string): string {
  const known = attributesNames.get(eventType);
  if (known !== undefined) return known;
  const name = attributesName(eventType);
  // Of types that there are: names from outside fill nothing up.
  if (knownTypes.has(eventType)) attributesNames.set(eventType, name);
  return name;
}

const attributesNames = new Map<string, string>();

const knownTypes = new Set<string>();

/** Temporal's definitions decide; their reader leaves out an event type that it does not know. */
function isKnown(eventType: string): boolean {
  if (knownTypes.has(eventType)) return true;
  if (!/^EVENT_TYPE_[A-Z_]+$/.test(eventType)) return false;
  if (!historyJson().knows(eventType)) {
    const { events } = historyJson().read({
      events: [{ eventType, [attributesName(eventType)]: {} }],
    });
    if (!events?.[0]?.eventType) return false;
  }
  knownTypes.add(eventType);
  return true;
}

/** Temporal's reader of the JSON form knows every field's type. */
function unread(event: HistoryEvent): string | undefined {
  try {
    historyJson().read({ events: [event] });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Placed {
  readonly value: Json;
  readonly place: string;
}

/** That reader does not say which bytes are none. */
function brokenPayload(event: HistoryEvent): string | undefined {
  const waiting: Placed[] = [{ value: event, place: '' }];
  while (waiting.length > 0) {
    const { value, place } = waiting.pop()!;
    const fields = isObject(value) && isObject(value.metadata) ? bytesOf(value) : [];
    const broken = fields.find(({ value: text }) => typeof text === 'string' && !isBase64(text));
    if (broken !== undefined) return `${place}.${broken.place} is no base64`.slice(1);
    for (const [name, inner] of Object.entries(value as JsonObject)) {
      if (typeof inner !== 'object' || inner === null) continue;
      waiting.push({
        value: inner,
        place: Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`,
      });
    }
  }
  return undefined;
}

function bytesOf(payload: JsonObject): readonly Placed[] {
  const metadata = Object.entries(payload.metadata as JsonObject);
  return [
    { value: payload.data ?? '', place: 'data' },
    ...metadata.map(([name, value]) => ({ value, place: `metadata.${name}` })),
  ];
}

/** In the form in which Temporal writes it. */
function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text;
}
