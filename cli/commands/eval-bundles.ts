/** Bundles of the runs that `holdfast eval` has played on a server. */
import { existsSync } from 'node:fs';
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

/** A case that was captured has the id of its run, whose bundle may be there. Said before a case is played. Errors: `Usage`. */
export function refuseBundlesOf(
  cases: readonly { readonly caseId: string }[],
  folder: string,
): void {
  const taken = cases.find(({ caseId }) => existsSync(fileIn(folder, caseId)));
  if (taken === undefined) return;
  const file = fileIn(folder, taken.caseId);
  throw usage(`${file} is kept.`, 'Name another folder with --bundles, or move the file.');
}

function fileIn(folder: string, runId: string): string {
  return join(folder, `${fileName(runId)}.json`);
}

/** Writes `<run id>.json` for each run that has ended, for its owner alone and never over another file. */
export function bundleWriter(folder: string): (run: EndedRun) => Promise<void> {
  return async ({ address, store, runId }) => {
    const place = { address, namespace: NAMESPACE, store };
    const bundle = await exportRun(place, { tenant: TENANT, runId });
    const file = fileIn(folder, runId);
    await writeNewFile(bundleText(bundle), { file, what: 'bundle' });
  };
}
