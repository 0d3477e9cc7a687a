/** Bundles of recorded runs: the kept histories of the newest rules numbers. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { HISTORIES, rulesFolders } from '../../../lab/seal/kept-histories.js';
import type { Bundle } from '../../../replay/bundle.js';
import { parseBundle } from '../../../replay/read-bundle.js';

/** The newest rules first. */
const FOLDERS = rulesFolders()
  .toSorted((a, b) => b - a)
  .map((rules) => join(HISTORIES, `rules-${rules}`));
const SUFFIX = '.json.gz';
/** A number that has few, or trees alone, would show little: older ones are taken until there are so many. */
const RUNS_LEAST = 200;

/** Names of single runs: goals and their cycles are no runs of their own. */
export function recordedRuns(): readonly string[] {
  const runs = new Set<string>();
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder)) {
      const isRun = name.endsWith(SUFFIX) && !/^(G-\d|S17[35])/.test(name);
      if (isRun) runs.add(name.slice(0, -SUFFIX.length));
    }
    if (runs.size >= RUNS_LEAST) break;
  }
  return [...runs].toSorted();
}

/** As the newest rules that kept it decided it. */
export function textOfRecorded(name: string): string {
  const files = FOLDERS.map((folder) => join(folder, `${name}${SUFFIX}`));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`No rules number has kept ${name}.`);
  return gunzipSync(readFileSync(file)).toString('utf8');
}

export function recordedRun(name: string): Bundle {
  return parseBundle(textOfRecorded(name), name);
}
