/** Makes the bundle of a run: its histories, and what they refer to. */
import { codeVersion } from '../activities/run/code-version.js';
import type { PayloadCodec } from '@temporalio/common';
import { credentialsOf, type Credentials } from '../connection/index.js';
import type { Store } from '../store/store.js';
import { connect } from '../worker/connection.js';
import type { Bundle } from './bundle.js';
import { fetchSegments } from './fetch-segments.js';
import { gather } from './gather.js';
import { keepQuiet } from './keep-quiet.js';
import { versionsOf } from './versions.js';

export interface ExportPlace extends Credentials {
  readonly address: string;
  readonly namespace: string;
  /** Those of the workers: a bundle holds payloads as they were before. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  readonly store: Store;
}

/** Errors: `ServerUnavailable`, `RunNotFound`, `HistoryMissing`, `TranscriptMissing`, `StoreUnavailable`. */
export async function exportRun(
  { address, namespace, store, payloadCodecs = [], ...credentials }: ExportPlace,
  run: Bundle['run'],
): Promise<Bundle> {
  keepQuiet();
  const connection = await connect({ address, ...credentialsOf(credentials), attemptsMax: 1 });
  try {
    const segments = await fetchSegments(
      { connection, namespace, archive: store, payloadCodecs },
      run,
    );
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
