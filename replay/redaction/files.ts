/**
 * Pictures, documents and sounds of a bundle: no rule can look into them, so a redaction takes the bytes of all of them out.
 * Invariant: their references stay, with type, name and size.
 */
import type { Redaction } from '../bundle.js';
import { referencesIn } from '../references.js';
import { documentsOf } from './documents.js';
import { keyedOf, type Recorded } from './recorded.js';

/** Under which a redacted bundle tells of it. */
const FILES_RULE = 'files';

export interface WithoutFiles {
  /** Under the old names: whoever hides texts gives the new ones. */
  readonly recorded: Recorded;
  readonly redactions: readonly Redaction[];
}

export async function withoutFiles(recorded: Recorded): Promise<WithoutFiles> {
  const { blobs } = recorded;
  const held = new Set(blobs.names);
  const files = [...(await filesIn(recorded))].filter((hash) => held.has(hash));
  if (files.length === 0) return { recorded, redactions: [] };
  const removed = new Map(
    files.map((hash, index) => [hash, `[file ${index + 1} taken out]`] as const),
  );
  const bare = keyedOf(blobs.names, async (hash) => removed.get(hash) ?? (await blobs.get(hash)));
  const places = files.map((hash) => `/blobs/${hash}`);
  return {
    recorded: { ...recorded, blobs: bare },
    redactions: [{ rule: FILES_RULE, markers: [], places, count: files.length }],
  };
}

/** Their hashes, in the order in which they were met. */
async function filesIn(recorded: Recorded): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  for await (const value of documentsOf(recorded)) {
    for (const hash of referencesIn([value]).attachments) files.add(hash);
  }
  return files;
}
