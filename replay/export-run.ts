/** Makes the bundle of a run: its histories, and what they refer to. */
import { codeVersion } from '../activities/run/code-version.js';
import type { Store } from '../store/store.js';
import { connect } from '../worker/connection.js';
import type { Bundle } from './bundle.js';
import { fetchSegments } from './fetch-segments.js';
import { gather } from './gather.js';
import { keepQuiet } from './keep-quiet.js';
import { versionsOf } from './versions.js';

export interface ExportPlace {
  readonly address: string;
  readonly namespace: string;
  readonly store: Store;
}

/** Errors: `ServerUnavailable`, `RunNotFound`, `HistoryMissing`, `TranscriptMissing`, `StoreUnavailable`. */
export async function exportRun(
  { address, namespace, store }: ExportPlace,
  run: Bundle['run'],
): Promise<Bundle> {
  keepQuiet();
  const connection = await connect({ address, attemptsMax: 1 });
  try {
    const segments = await fetchSegments({ connection, namespace, archive: store }, run);
    const gathered = await gather(
      store,
      run,
      segments.map(({ events }) => events),
    );
    return {
      run: { tenant: run.tenant, runId: run.runId },
      exportedAt: Date.now(),
      versions: versionsOf(segments, codeVersion()),
      segments,
      ...gathered,
      redactions: [],
    };
  } finally {
    await connection.close();
  }
}
