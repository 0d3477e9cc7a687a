/**
 * Pictures, documents and sounds of a bundle: no rule can look into them, so a redaction takes the bytes of all of them out.
 * Invariant: their references stay, with type, name and size.
 */
import type { Json } from '../../core/json/json.js';
import type { Bundle, Redaction } from '../bundle.js';
import { referencesIn } from '../references.js';

/** Under which a redacted bundle tells of it. */
const FILES_RULE = 'files';

export interface WithoutFiles {
  /** Under the old names: whoever hides texts gives the new ones. */
  readonly bundle: Bundle;
  readonly redactions: readonly Redaction[];
}

export function withoutFiles(bundle: Bundle, documents: readonly Json[]): WithoutFiles {
  const files = [...referencesIn(documents).attachments].filter((hash) =>
    Object.hasOwn(bundle.blobs, hash),
  );
  if (files.length === 0) return { bundle, redactions: [] };
  const removed = files.map((hash, index) => [hash, `[file ${index + 1} taken out]`] as const);
  const places = files.map((hash) => `/blobs/${hash}`);
  return {
    bundle: { ...bundle, blobs: { ...bundle.blobs, ...Object.fromEntries(removed) } },
    redactions: [{ rule: FILES_RULE, markers: [], places, count: files.length }],
  };
}
