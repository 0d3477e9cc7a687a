/** The bytes of a redacted export, and those of a redaction of what is held whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle } from '../../../replay/bundle.js';
import { redactBundle } from '../../../replay/redaction/redact-bundle.js';
import type { RedactionRule } from '../../../replay/redaction/rules.js';
import { bundlePieces } from '../../../replay/stream/bundle-pieces.js';
import { sourceOf, type BundleSource } from '../../../replay/stream/bundle-source.js';
import { openRedactedExport } from '../../../replay/stream/redacted-export.js';
import type { World } from './world.js';

async function textOf(source: BundleSource): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of bundlePieces(source)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** `whole`: what the server has, unredacted. */
export async function redactedBothWays(
  { place, store }: Pick<World, 'place' | 'store'>,
  whole: Bundle,
  rules: readonly RedactionRule[],
): Promise<{ readonly streamed: string; readonly held: string; readonly places: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-redacted-'));
  const salt = 'salt';
  const { exportedAt } = whole;
  const alone = whole.members === undefined;
  const options = { folder, rules, salt, exportedAt, alone };
  const exported = await openRedactedExport({ ...place, store }, whole.run, options);
  try {
    const held = await redactBundle(whole, rules, { salt });
    return {
      streamed: await textOf(exported.source),
      held: await textOf(sourceOf(held)),
      places: held.redactions.reduce((sum, { count }) => sum + count, 0),
    };
  } finally {
    await exported.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
