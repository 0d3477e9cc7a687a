/**
 * Why the content of a bundle is not that of its histories: another run's, or not all of it.
 * Invariant: linear in the bundle. What an export writes passes: it gathers by the same references, and what
 * the store no longer has makes it fail.
 */
import { ownValue, type Json } from '../core/json/json.js';
import { parseStart } from '../core/messages/parse-start.js';
import type { Bundle, Segment } from './bundle.js';
import { inputOf } from '../recording/activity-payloads.js';
import { carriedEvents, isAmong } from './carried-events.js';
import {
  argumentsOf,
  attributesOf,
  payloadReader,
  payloadValues,
  textAt,
  typeOf,
  type HistoryEvent,
  type PayloadReader,
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
  for (const segment of segments) {
    const other =
      otherStart(run, segment) ??
      segment.events
        .map((event) => otherTenant(run, { segment, event, read: payloadReader() }))
        .find((reason) => reason !== undefined);
    if (other !== undefined) return other;
  }
  return undefined;
}

/** Why the start of a history is none of the run's. */
export function otherStart(
  { runId, tenant }: Bundle['run'],
  { segment, events }: Segment,
): string | undefined {
  const started = attributesOf(events[0], 'workflowExecutionStarted');
  const named = textAt(started, 'workflowId');
  if (named !== runId) return `segment ${segment} is of the run ${shown(named)}`;
  const start = parseStart(argumentsOf(started.input)[0]);
  if (!start.ok) return undefined;
  return otherThan(tenant, { segment, named: start.value.tenant ?? 'default' });
}

/** Why an event is none of the run's. */
export function otherTenant(
  { tenant }: Bundle['run'],
  { segment: { segment }, event, read }: EventOf,
): string | undefined {
  return otherThan(tenant, { segment, named: textAt(inputOf(event, read), 'run', 'tenant') });
}

interface EventOf {
  readonly segment: Segment;
  readonly event: HistoryEvent;
  readonly read: PayloadReader;
}

function otherThan(
  tenant: string,
  { segment, named }: { readonly segment: number; readonly named: string | undefined },
): string | undefined {
  if (named === undefined || named === tenant) return undefined;
  return `segment ${segment} is of the tenant ${shown(named)}`;
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
function missingOf({ nodes, blobs }: Needed, has: Had): string | undefined {
  for (const hash of nodes) if (!has.node(hash)) return `it has no message ${shown(hash)}`;
  for (const hash of blobs) if (!has.blob(hash)) return `it has no text ${hash}`;
  return undefined;
}

function* recordedValues(runs: readonly BundledRun[]): Generator<Json, void> {
  for (const { segments, events } of runs) {
    for (const segment of segments) yield* payloadValues(segment.events);
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

function shown(name: string | undefined): string {
  return name === undefined ? 'nobody' : name.slice(0, 200);
}
