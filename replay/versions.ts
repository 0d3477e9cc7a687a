/** Which rules and which code a recorded run was decided by. */
import type { BundleVersions, Segment } from './bundle.js';
import {
  argumentsOf,
  at,
  attributesOf,
  isObject,
  textAt,
  typeOf,
  type HistoryEvent,
} from '../recording/history.js';
import { localEndOf } from '../recording/markers.js';
import { codesOf } from './recorded-steps.js';
import type { Json } from '../core/json/json.js';

/** The rule set that the segment's first activity has named. */
export function rulesOf(events: readonly HistoryEvent[]): number | undefined {
  const rules = at(openOutput(events), 'rules');
  return typeof rules === 'number' ? rules : undefined;
}

/** What a segment says of the versions of its run. */
export interface VersionFacts {
  /** Code ids in the order of its events, each once. */
  readonly code: readonly string[];
  readonly rules: number | undefined;
  readonly frozen: BundleVersions['frozen'];
}

export function versionFactsOf(events: readonly HistoryEvent[]): VersionFacts {
  const opened = openOutput(events);
  return {
    code: codesOf(events),
    rules: rulesOf(events),
    frozen: frozenVersions(at(opened, 'frozen', 'versions') ?? at(opened, 'terms', 'versions')),
  };
}

export function versionsOf(segments: readonly Segment[], exporter: string): BundleVersions {
  return versionsFrom(
    segments.map(({ events }) => versionFactsOf(events)),
    exporter,
  );
}

/** Of the segments of a run, oldest first. */
export function versionsFrom(facts: readonly VersionFacts[], exporter: string): BundleVersions {
  const [newest] = facts
    .map(({ rules }) => rules)
    .filter(isNumber)
    .slice(-1);
  return {
    exporter,
    rules: newest ?? null,
    code: [...new Set(facts.flatMap(({ code }) => code))],
    frozen: facts[0]?.frozen ?? {},
  };
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}

function frozenVersions(versions: Json | undefined): { readonly [name: string]: string } {
  if (!isObject(versions)) return {};
  const texts = Object.entries(versions).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(texts);
}

/** The first activity of a segment. */
const OPENING: readonly (string | undefined)[] = ['open_run', 'open_goal'];

/** What it gave; undefined while it has not ended. */
function openOutput(events: readonly HistoryEvent[]): Json | undefined {
  const scheduled = new Set(
    events
      .filter((event) => {
        const attributes = attributesOf(event, 'activityTaskScheduled');
        return OPENING.includes(textAt(attributes, 'activityType', 'name'));
      })
      .map(({ eventId }) => eventId),
  );
  const completed = events.find(
    (event) =>
      typeOf(event) === 'ACTIVITY_TASK_COMPLETED' &&
      scheduled.has(textAt(attributesOf(event, 'activityTaskCompleted'), 'scheduledEventId') ?? ''),
  );
  if (completed === undefined) return openedWithin(events);
  return argumentsOf(attributesOf(completed, 'activityTaskCompleted').result)[0];
}

/** What a run's first task gave that opened it. */
function openedWithin(events: readonly HistoryEvent[]): Json | undefined {
  for (const event of events) {
    const { type, output } = localEndOf(event) ?? {};
    if (OPENING.includes(type) && output?.elsewhere === undefined) return output;
  }
  return undefined;
}
