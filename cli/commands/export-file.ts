/**
 * Writes the bundle of a run into a file.
 * Invariant: the file is whole or not there, and no other file is written over.
 */
import { dirname } from 'node:path';
import type { RedactionRule } from '../../replay/redaction/rules.js';
import type { Bundle } from '../../replay/bundle.js';
import type { ExportPlace } from '../../replay/export-run.js';
import type { BundleSource } from '../../replay/stream/bundle-source.js';
import type { SpooledExport, StreamOptions } from '../../replay/stream/spooled-export.js';
import { TENANT } from '../desk/run-record.js';
import type { CliEnvironment } from '../environment.js';
import { streamNewFile } from '../new-file.js';
import type { Session } from '../session.js';
import { exportPlace, secretWatch } from './exported.js';

/** What files of bundles are called in errors. */
export const BUNDLE = 'bundle';

export interface Written {
  readonly file: string;
  readonly bytes: number;
  readonly source: BundleSource;
  readonly events: number;
  readonly nodes: number;
  readonly blobs: number;
}

export interface Wanted {
  readonly runId: string;
  readonly alone: boolean;
  readonly hiding?: Hiding | undefined;
}

interface Hiding {
  readonly rules: readonly RedactionRule[];
  readonly allowUnmatched: boolean;
}

interface Target {
  readonly file: string;
  readonly variables: CliEnvironment['variables'];
}

/** However long the run is, little of it is held at a time. */
export async function writeExport(
  session: Session,
  { runId, alone, hiding }: Wanted,
  { file, variables }: Target,
): Promise<Written> {
  const place = await exportPlace(session);
  const look = await secretWatch(variables);
  const options = { alone, folder: dirname(file), look };
  const run = { tenant: TENANT, runId };
  const exported = await opened(place, run, { ...options, hiding });
  try {
    const bytes = await writeSource(exported.source, file);
    return { file, bytes, source: exported.source, ...exported.counts() };
  } finally {
    await exported.close();
  }
}

async function opened(
  place: ExportPlace,
  run: Bundle['run'],
  { hiding, ...options }: StreamOptions & Pick<Wanted, 'hiding'>,
): Promise<SpooledExport> {
  if (hiding === undefined) {
    const { openExport } = await import('../../replay/stream/spooled-export.js');
    return openExport(place, run, options);
  }
  const { openRedactedExport } = await import('../../replay/stream/redacted-export.js');
  return openRedactedExport(place, run, { ...options, ...hiding });
}

/** Never over another file: a bundle may be the only copy of its run. */
async function writeSource(source: BundleSource, file: string): Promise<number> {
  const { bundlePieces } = await import('../../replay/stream/bundle-pieces.js');
  const packed = file.endsWith('.gz');
  return streamNewFile(bundlePieces(source), { file, what: BUNDLE, packed });
}
