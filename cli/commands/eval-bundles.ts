/** Bundles of the runs that `holdfast eval` has played on a server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndedRun } from '../../evaluation/temporal/index.js';
import { sha256Hex } from '../../core/json/json.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { makeFolder } from '../../store/make-folder.js';
import { TENANT } from '../desk/run-record.js';
import { noteWritten } from '../written.js';

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

/** Writes `<run id>.json` for each run that has ended. */
export function bundleWriter(folder: string): (run: EndedRun) => Promise<void> {
  return async ({ address, store, runId }) => {
    const place = { address, namespace: NAMESPACE, store };
    const bundle = await exportRun(place, { tenant: TENANT, runId });
    makeFolder(folder);
    const file = join(folder, `${fileName(runId)}.json`);
    noteWritten(file);
    await writeFile(file, bundleText(bundle));
  };
}
