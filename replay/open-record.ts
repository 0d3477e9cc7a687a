/**
 * Recorded runs, folded to be looked at step by step: from the server, the archive and the store, or from a bundle.
 * Of a run that lies in the store, conversation and texts are read when a request is looked at.
 */
import type { Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import { foldInSlices } from '../recording/fold.js';
import type { Store } from '../store/store.js';
import type { Bundle } from './bundle.js';
import { fetchSegments, type HistoryPlace } from './fetch-segments.js';
import { gatherEvents, gatherReferred } from './gather.js';
import type { FoldedRecord } from './told-moment.js';

export interface OpenRecord extends FoldedRecord {
  /** What the outside saw of the run. */
  events(): Promise<readonly RunEvent[]>;
}

export interface RecordPlace extends HistoryPlace {
  readonly archive: Pick<
    Store,
    | 'readHistories'
    | 'readHistory'
    | 'listArchivals'
    | 'readChain'
    | 'getBlob'
    | 'readEvents'
    | 'connectorTool'
  >;
}

/** Errors: `RunNotFound`, `HistoryMissing`, `InvalidRequest` for a record above `bytesMax`. */
export async function openRecord(place: RecordPlace, run: Bundle['run']): Promise<OpenRecord> {
  const segments = await fetchSegments(place, run);
  const fold = await foldInSlices({ run, segments });
  return {
    fold,
    source: 'run',
    redactions: [],
    referred: (value) => gatherReferred(place.archive, run.tenant, [value as Json]),
    events: () => gatherEvents(place.archive, run),
  };
}

/** `source`: where the bundle comes from. */
export async function recordOfBundle(
  bundle: Bundle,
  source: OpenRecord['source'] = 'file',
): Promise<OpenRecord> {
  return {
    fold: await foldInSlices(bundle),
    source,
    redactions: bundle.redactions,
    referred: async () => bundle,
    events: async () => bundle.events,
  };
}
