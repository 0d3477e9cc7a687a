/**
 * What of the pieces of a bundle's file is surely right, told without a library and many times as fast as their schemas tell.
 * Invariant: of what came as JSON, that which fits here `pieces` of bundle-schema.ts takes; of what does not, only those tell.
 */
import { ownValue } from '../core/json/json.js';
import { isRecord, type Fields } from '../core/json/shape.js';
import { ALONE_VERSION, BUNDLE_FORMAT, BUNDLE_VERSION } from './bundle.js';
import { RUN_EVENTS, STAMP } from './event-fields.js';
import { oddField, type Form } from './event-form.js';
import { GOAL_EVENTS } from './goal-event-fields.js';
import { DEPTH_MAX, MEMBERS_MAX } from './tree.js';

export const NAME_CHARS_MAX = 1_000;
export const EVENT_ID = /^[1-9]\d{0,9}$/;

const EVENTS: { readonly [type: string]: Form } = { ...RUN_EVENTS, ...GOAL_EVENTS };

interface StampedEvent extends Fields {
  readonly type: string;
  readonly stamp: Fields;
}

/** The field that is not as such an event has it. */
export function oddIn(event: StampedEvent): string | undefined {
  const inStamp = oddField(event.stamp, STAMP);
  if (inStamp !== undefined) return `stamp.${inStamp}`;
  return oddField(event, ownValue(EVENTS, event.type) ?? {});
}

/** Says all of what `pieces.runEvent` says. */
export function isRunEvent(value: unknown): boolean {
  if (!isRecord(value) || !isName(value.type) || !isRecord(value.stamp)) return false;
  return isCount(value.stamp.seq) && !oddIn(value as StampedEvent);
}

/** The same of `pieces.historyEvent`. */
export function isHistoryEvent(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { eventId, eventType } = value;
  return typeof eventId === 'string' && EVENT_ID.test(eventId) && isName(eventType);
}

type Fits = (value: unknown) => boolean;

const isString: Fits = (value) => typeof value === 'string';
const isName: Fits = (value) =>
  typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX;
const isCount: Fits = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const only =
  (wanted: unknown): Fits =>
  (value) =>
    value === wanted;
const listOf =
  (fits: Fits, max = Infinity): Fits =>
  (value) =>
    Array.isArray(value) && value.length <= max && value.every(fits);

/** With these fields and no others. */
function recordOf(fields: Readonly<Record<string, Fits>>, optional: readonly string[] = []): Fits {
  const needed = Object.keys(fields).filter((name) => !optional.includes(name));
  return (value) =>
    isRecord(value) &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, one]) => ownValue(fields, name)?.(one));
}

const run = recordOf({ tenant: isName, runId: isName });
const versions = recordOf({
  exporter: isName,
  rules: (value) => value === null || isCount(value),
  code: listOf(isName),
  frozen: (value) => isRecord(value) && Object.values(value).every(isString),
});
const redaction = recordOf({
  rule: isName,
  markers: listOf(isString),
  places: listOf(isString),
  count: isCount,
});
const alone = {
  format: only(BUNDLE_FORMAT),
  v: only(ALONE_VERSION),
  digest: (value: unknown) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  exportedAt: isCount,
  run,
  versions,
  redactions: listOf(redaction),
};
const absent = recordOf({ runId: isName, parent: isName, reason: isName });

export const FORMS = {
  run,
  segment: recordOf({
    segment: isCount,
    execution: isName,
    source: (value) => value === 'temporal' || value === 'store',
    events: (value) => Array.isArray(value) && value.length > 0,
  }),
  alone: recordOf(alone),
  tree: recordOf({ ...alone, v: only(BUNDLE_VERSION), absent: listOf(absent, MEMBERS_MAX) }, [
    'absent',
  ]),
  member: recordOf({ parent: isName, agentPath: listOf(isName, DEPTH_MAX), run, versions }, [
    'agentPath',
  ]),
} as const;
