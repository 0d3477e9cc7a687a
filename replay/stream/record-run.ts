/** Reads a run, or its tree, one history at a time; where its lists lie then is the caller's. */
import { codeVersion } from '../../activities/run/code-version.js';
import type { Json } from '../../core/json/json.js';
import { payloadValues } from '../../recording/history.js';
import type { Bundle, BundleVersions, Segment } from '../bundle.js';
import {
  boundedPlace,
  reading,
  recordTree,
  type ExportPlace,
  type ReadPlace,
  type RecordedTree,
} from '../export-run.js';
import { segmentsFromNewest } from '../fetch-segments.js';
import { eventPages } from '../gather.js';
import type { References } from '../references.js';
import { parentIn } from '../tree.js';
import { versionFactsOf, versionsFrom, type VersionFacts } from '../versions.js';

export interface Keeping<List> {
  keep(values: AsyncIterable<Json> | Iterable<Json>): Promise<List>;
  /** What the payloads of a history refer to. */
  inHistory(values: readonly Json[]): References;
  /** What a page of events refers to. */
  inEvents(events: readonly Json[]): References;
}

export interface KeptRun<List> {
  readonly run: Bundle['run'];
  readonly versions: BundleVersions;
  /** Oldest first. */
  readonly segments: readonly (Omit<Segment, 'events'> & { readonly events: List })[];
  readonly events: List;
  readonly startedBy: string | undefined;
  readonly eventCount: number;
  /** By segments and by pages, oldest first. */
  readonly referred: Readonly<Record<'histories' | 'events', readonly References[]>>;
}

/** Errors: those of `exportTree`. */
export function keptTree<List>(
  place: ExportPlace,
  { run, alone }: { readonly run: Bundle['run']; readonly alone: boolean },
  keeping: Keeping<List>,
): Promise<RecordedTree<KeptRun<List>>> {
  return reading(place, async (histories) => {
    if (alone) return { root: await keptRun(histories, run, keeping), members: [], absent: [] };
    const bounded = boundedPlace(histories);
    return recordTree(place.store, run, {
      record: (key) => keptRun(bounded, key, keeping),
      parentOf: ({ startedBy }) => startedBy,
    });
  });
}

async function keptRun<List>(
  place: ReadPlace,
  { tenant, runId }: Bundle['run'],
  { keep, inHistory, inEvents }: Keeping<List>,
): Promise<KeptRun<List>> {
  const run = { tenant, runId };
  const segments: Omit<KeptRun<List>['segments'][number], 'segment'>[] = [];
  const facts: VersionFacts[] = [];
  const referred = { histories: [] as References[], events: [] as References[] };
  let startedBy: string | undefined;
  for await (const { events, ...segment } of segmentsFromNewest(place, run)) {
    const values = events as unknown as readonly Json[];
    referred.histories.unshift(inHistory([...payloadValues(events)]));
    segments.unshift({ ...segment, events: await keep(values) });
    facts.unshift(versionFactsOf(events));
    startedBy = parentIn(events[0]);
  }
  let eventCount = 0;
  async function* told(): AsyncGenerator<Json> {
    for await (const page of eventPages(place.archive, run)) {
      const values = page as unknown as readonly Json[];
      referred.events.push(inEvents(values));
      eventCount += values.length;
      yield* values;
    }
  }
  const events = await keep(told());
  return {
    run,
    versions: versionsFrom(facts, codeVersion()),
    segments: segments.map((one, segment) => ({ segment, ...one })),
    events,
    startedBy,
    eventCount,
    referred,
  };
}
