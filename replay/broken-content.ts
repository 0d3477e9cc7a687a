/**
 * Why the content of a bundle is not that of its histories: another run's, or not all of it.
 * Invariant: linear in the bundle. What an export writes passes: it gathers by the same references, and what
 * the store no longer has makes it fail.
 */
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, ownValue, type Json } from '../core/json/json.js';
import { parseStart } from '../core/messages/parse-start.js';
import { wholeEvents, type EventsInPayload } from '../core/step/outbox.js';
import type { Bundle } from './bundle.js';
import {
  argumentsOf,
  at,
  attributesOf,
  isObject,
  payloadValues,
  textAt,
  typeOf,
  type HistoryEvent,
} from '../recording/history.js';
import { referencesIn } from './references.js';
import { inMember, isChildOf, runsOf, type BundledRun } from './tree.js';

/** Histories and hashes have been found right. */
export function brokenContent(bundle: Bundle): string | undefined {
  for (const member of bundle.members ?? []) {
    if (isChildOf(member.segments, member.parent)) continue;
    return `${inMember(bundle, member)}its parent is not ${shown(member.parent)}`;
  }
  for (const run of runsOf(bundle)) {
    const reason = otherRun(run) ?? otherEvents(run);
    if (reason !== undefined) return `${inMember(bundle, run)}${reason}`;
  }
  return missingReference(bundle);
}

/** Why histories are not those of the run. */
export function otherRun({
  run,
  segments,
}: Pick<BundledRun, 'run' | 'segments'>): string | undefined {
  for (const { segment, events } of segments) {
    const started = attributesOf(events[0], 'workflowExecutionStarted');
    const runId = textAt(started, 'workflowId');
    if (runId !== run.runId) return `segment ${segment} is of the run ${shown(runId)}`;
    const start = parseStart(argumentsOf(started.input)[0]);
    const tenants = [
      ...(start.ok ? [start.value.tenant ?? 'default'] : []),
      ...events.map((event) => textAt(inputOf(event), 'run', 'tenant')),
    ];
    const other = tenants.find((tenant) => tenant !== undefined && tenant !== run.tenant);
    if (other !== undefined) return `segment ${segment} is of the tenant ${shown(other)}`;
  }
  return undefined;
}

function missingReference(bundle: Bundle): string | undefined {
  const { nodes, blobs } = bundle;
  const { heads, blobs: named } = referencesIn(recordedValues(runsOf(bundle)));
  const parents = Object.values(nodes).flatMap((node) => textAt(node, 'parent') ?? []);
  const needed = {
    nodes: [...heads, ...parents],
    blobs: [...named, ...referencesIn(Object.values(nodes)).blobs],
  };
  return missingOf(needed, {
    node: (hash) => ownValue(nodes, hash) !== undefined,
    blob: (hash) => ownValue(blobs, hash) !== undefined,
  });
}

interface Needed {
  readonly nodes: Iterable<string>;
  readonly blobs: Iterable<string>;
}

interface Had {
  node(hash: string): boolean;
  blob(hash: string): boolean;
}

/** Which message or text is named and not there. */
export function missingOf({ nodes, blobs }: Needed, has: Had): string | undefined {
  for (const hash of nodes) if (!has.node(hash)) return `it has no message ${shown(hash)}`;
  for (const hash of blobs) if (!has.blob(hash)) return `it has no text ${hash}`;
  return undefined;
}

function* recordedValues(runs: readonly BundledRun[]): Generator<Json, void> {
  for (const { segments, events } of runs) {
    for (const segment of segments) yield* payloadValues(segment.events as unknown as Json);
    yield events as unknown as Json;
  }
}

/**
 * The store has the events that activities say they have brought it, and of a run that has come to its end no
 * others. Before that the store may be ahead of the history, or have events that a reset has left behind; and
 * what a quick read was given travels on with the next effect.
 */
function otherEvents({ segments, events }: BundledRun): string | undefined {
  const { carried, stored } = carriedEvents(segments);
  const told = events.map((event) => ({
    seq: event.stamp.seq,
    isCarried: () => {
      const known = carried.get(event.stamp.seq);
      return known !== undefined && isAmong(known, event);
    },
  }));
  return wrongEvents(told, { stored, ended: isCompleted(segments.at(-1)!) });
}

export function isCompleted({ events }: Bundle['segments'][number]): boolean {
  return typeOf(events.at(-1)!) === 'WORKFLOW_EXECUTION_COMPLETED';
}

export interface ToldEvent {
  readonly seq: number;
  /** An activity of the histories was given it under its number. */
  isCarried(): boolean;
}

interface Ended {
  /** Numbers of the events that the store has; each is taken out when it is met. */
  readonly stored: Set<number>;
  readonly ended: boolean;
}

/** Why these are not the events of histories. */
export function wrongEvents(
  events: Iterable<ToldEvent>,
  { stored, ended }: Ended,
): string | undefined {
  let before = -1;
  for (const { seq, isCarried } of events) {
    if (seq <= before) return `its event ${seq} is not where it should be`;
    before = seq;
    if (!stored.delete(seq) && !ended) continue;
    if (isCarried()) continue;
    return `its event ${seq} is none that the histories carry`;
  }
  const [missing] = stored;
  return missing === undefined ? undefined : `it has no event ${missing}`;
}

/** What came under one number: mostly the same, and the canonical form is dear. */
interface Carried {
  readonly first: object;
  /** Canonical forms of whatever else came. */
  readonly others: Set<string>;
}

function isAmong({ first, others }: Carried, event: object): boolean {
  if (isDeepStrictEqual(first, event)) return true;
  const form = canonicalJson(event as Json);
  return others.has(form) || form === canonicalJson(first as Json);
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
    const acknowledged = new Map(events.map(acknowledgedBy));
    const brought = events.flatMap((scheduled) => {
      const upTo = acknowledged.get(scheduled.eventId) ?? 0;
      return eventsOf(scheduled).map((event) => ({ event, isStored: event.stamp.seq < upTo }));
    });
    for (const { event, isStored } of brought) {
      const { seq } = event.stamp;
      const known = carried.get(seq);
      if (known === undefined) carried.set(seq, { first: event, others: new Set() });
      else if (!isDeepStrictEqual(known.first, event)) {
        known.others.add(canonicalJson(event as unknown as Json));
      }
      if (isStored) stored.add(seq);
    }
  }
  return { carried, stored };
}

/** Which activity has completed, and the number up to which the store has its events then. */
function acknowledgedBy(event: HistoryEvent): readonly [string | undefined, number] {
  const completed = attributesOf(event, 'activityTaskCompleted');
  const upTo = at(argumentsOf(completed.result)[0], 'eventsUpTo');
  return [textAt(completed, 'scheduledEventId'), typeof upTo === 'number' ? upTo : 0];
}

function eventsOf(scheduled: HistoryEvent): ReturnType<typeof wholeEvents> {
  const input = inputOf(scheduled);
  const given = at(input, 'events');
  if (!Array.isArray(given) || !given.every((event) => isObject(at(event, 'stamp')))) return [];
  try {
    return wholeEvents(input as unknown as EventsInPayload);
  } catch {
    // Whatever this input is, no workflow has made it, and the replay will say so.
    return [];
  }
}

/** What an activity was given. */
function inputOf(event: HistoryEvent): Json | undefined {
  if (typeOf(event) !== 'ACTIVITY_TASK_SCHEDULED') return undefined;
  return argumentsOf(attributesOf(event, 'activityTaskScheduled').input)[0];
}

function shown(name: string | undefined): string {
  return name === undefined ? 'nobody' : name.slice(0, 200);
}
