import { join } from 'node:path';
import type { Bundle, Segment } from '../../replay/bundle.js';
import {
  type HistoryEvent,
  type JsonObject,
  argumentsOf,
  at,
  attributesOf,
  textAt,
} from '../../recording/history.js';
import { readBundle } from '../../replay/read-bundle.js';
import { placedDocuments, type Document } from '../../replay/redaction/documents.js';
import { heldList, recordedOf } from '../../replay/redaction/recorded.js';
import type { Json } from '../../core/json/json.js';
import { HISTORIES } from './recordings.js';

export const RELEASE = '0.1.0';

export function stored(name: string): Promise<Bundle> {
  return readBundle(join(HISTORIES, RELEASE, `${name}.json`));
}

/** A goal with its cycle, as one bundle. */
export async function keptTree(name = 'goal-changes-approved-brief'): Promise<Bundle> {
  const kept = join(__dirname, '..', '..', 'histories', 'rules-12', name);
  const goal = await readBundle(`${kept}.json.gz`);
  const { run, versions, segments, events, nodes, blobs } = await readBundle(`${kept}_c1.json.gz`);
  return {
    ...goal,
    nodes: { ...goal.nodes, ...nodes },
    blobs: { ...goal.blobs, ...blobs },
    members: [{ run, parent: goal.run.runId, versions, segments, events }],
  };
}

type Change = (event: HistoryEvent) => HistoryEvent;

/** The bundle with other events in one segment. */
export function changed(bundle: Bundle, change: Change, segment = 0): Bundle {
  const segments = bundle.segments.map((one, index): Segment =>
    index === segment ? { ...one, events: one.events.map(change) } : one,
  );
  return { ...bundle, segments };
}

/** Other attributes for the events of a kind, such as `activityTaskScheduled`. */
export function attributes(
  kind: string,
  change: (attributes: JsonObject, event: HistoryEvent) => JsonObject,
): Change {
  return (event) => {
    const name = `${kind}EventAttributes`;
    return name in event ? { ...event, [name]: change(attributesOf(event, kind), event) } : event;
  };
}

/** Attributes of scheduled activities of a type. */
export function scheduled(type: string, change: (attributes: JsonObject) => JsonObject): Change {
  return attributes('activityTaskScheduled', (given) =>
    textAt(given, 'activityType', 'name') === type ? change(given) : given,
  );
}

export function payloads(...values: readonly Json[]): JsonObject {
  const encoding = Buffer.from('json/plain').toString('base64');
  return {
    payloads: values.map((value) => ({
      metadata: { encoding },
      data: Buffer.from(JSON.stringify(value)).toString('base64'),
    })),
  };
}

/** The first argument of an activity, changed. */
export function withInput(given: JsonObject, change: (input: JsonObject) => Json): JsonObject {
  const [input] = argumentsOf(at(given, 'input'));
  return { ...given, input: payloads(change(input as JsonObject)) };
}

/** What rules look into. */
export function documents(bundle: Bundle): Promise<readonly Document[]> {
  return heldList(placedDocuments(recordedOf(bundle)));
}

export async function documentValues(bundle: Bundle): Promise<readonly Json[]> {
  return (await documents(bundle)).map(({ value }) => value);
}
