/**
 * Writes the bundle of a run into a file.
 * Invariant: the file is whole or not there, and no other file is written over.
 */
import { dirname } from 'node:path';
import type { RedactionRule } from '../../replay/redaction/rules.js';
import type { BundleSource } from '../../replay/stream/bundle-source.js';
import { TENANT } from '../desk/run-record.js';
import type { CliEnvironment } from '../environment.js';
import { streamNewFile } from '../new-file.js';
import type { Session } from '../session.js';
import { bundleOf, exportPlace, redacted, refuseSecretsOf, secretWatch } from './exported.js';

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
}

interface Target {
  readonly file: string;
  readonly variables: CliEnvironment['variables'];
}

/** However long the run is, little of it is held at a time. */
export async function writeStreamed(
  session: Session,
  { runId, alone }: Wanted,
  { file, variables }: Target,
): Promise<Written> {
  const { openExport } = await import('../../replay/stream/spooled-export.js');
  const place = await exportPlace(session);
  const look = await secretWatch(variables);
  const options = { alone, folder: dirname(file), look };
  const exported = await openExport(place, { tenant: TENANT, runId }, options);
  try {
    const bytes = await writeSource(exported.source, file);
    return { file, bytes, source: exported.source, ...exported.counts() };
  } finally {
    await exported.close();
  }
}

/** What hides texts looks at the whole run, several times. */
export async function writeHeld(
  session: Session,
  { runId, alone }: Wanted,
  { file, variables, rules, allowUnmatched }: Target & Hiding,
): Promise<Written> {
  const exported = await bundleOf(session, runId, { alone });
  const bundle = await redacted(exported, rules, allowUnmatched);
  await refuseSecretsOf(bundle, variables);
  const { sourceOf } = await import('../../replay/stream/bundle-source.js');
  const source = sourceOf(bundle);
  const [nodes, blobs] = [bundle.nodes, bundle.blobs].map((all) => Object.keys(all).length);
  const bytes = await writeSource(source, file);
  return { file, bytes, source, nodes: nodes!, blobs: blobs!, events: bundle.events.length };
}

interface Hiding {
  readonly rules: readonly RedactionRule[];
  readonly allowUnmatched: boolean;
}

/** Never over another file: a bundle may be the only copy of its run. */
async function writeSource(source: BundleSource, file: string): Promise<number> {
  const { bundlePieces } = await import('../../replay/stream/bundle-pieces.js');
  const packed = file.endsWith('.gz');
  return streamNewFile(bundlePieces(source), { file, what: BUNDLE, packed });
}
