/** Bundles of recorded runs: the kept histories of the newest rules. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { HISTORIES, rulesFolders } from '../../../lab/seal/kept-histories.js';
import type { Bundle } from '../../../replay/bundle.js';
import { parseBundle } from '../../../replay/read-bundle.js';

const FOLDER = join(HISTORIES, `rules-${Math.max(...rulesFolders())}`);
const SUFFIX = '.json.gz';

/** Names of single runs: goals and their cycles are no runs of their own. */
export function recordedRuns(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(SUFFIX) && !/^(G-\d|S17[35])/.test(name))
    .map((name) => name.slice(0, -SUFFIX.length))
    .toSorted();
}

export function textOfRecorded(name: string): string {
  return gunzipSync(readFileSync(join(FOLDER, `${name}${SUFFIX}`))).toString('utf8');
}

export function recordedRun(name: string): Bundle {
  return parseBundle(textOfRecorded(name), name);
}
