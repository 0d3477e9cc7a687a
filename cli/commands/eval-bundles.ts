/** Bundles of the runs that `holdfast eval` has played on a server. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EndedRun } from '../../evaluation/temporal/index.js';
import { sha256Hex } from '../../core/json/json.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { TENANT } from '../desk/run-record.js';
import { writeNewFile } from '../new-file.js';
import { usage } from '../usage.js';

const NAMESPACE = 'default';
/** What names of files may not have everywhere. */
const ODD_CHARACTERS = /[^\w.-]/g;

const NAME_CHARS_MAX = 150;
const DIGEST_CHARS = 8;

/** A run id or case id as the name of a file; two ids never have the same. */
export function fileName(id: string): string {
  const plain = id.replace(ODD_CHARACTERS, '_').slice(0, NAME_CHARS_MAX);
  return plain === id ? plain : `${plain}-${sha256Hex(id).slice(0, DIGEST_CHARS)}`;
}

/** Bundles of an earlier evaluation have the same names. Said before a case is played. Errors: `Usage`. */
export function refuseBundlesIn(folder: string): void {
  if (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith('.json'))) return;
  throw usage(`The *.json in ${folder} are kept.`, 'Name another folder with --bundles.');
}

/** Writes `<run id>.json` for each run that has ended, for its owner alone and never over another file. */
export function bundleWriter(folder: string): (run: EndedRun) => Promise<void> {
  return async ({ address, store, runId }) => {
    const place = { address, namespace: NAMESPACE, store };
    const bundle = await exportRun(place, { tenant: TENANT, runId });
    const file = join(folder, `${fileName(runId)}.json`);
    await writeNewFile(bundleText(bundle), { file, what: 'bundle' });
  };
}
