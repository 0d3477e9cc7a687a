/** Goals and cycles of the kept histories: a history each, put together as a tree where all cycles of a goal are kept. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isGoal } from '../../../evaluation/capture/goal-recording.js';
import { HISTORIES, rulesFolders } from '../../../lab/seal/kept-histories.js';
import type { Bundle, Member } from '../../../replay/bundle.js';
import { parseBundle } from '../../../replay/read-bundle.js';

const SUFFIX = '.json.gz';
const OF_GOALS = /^(G-\d|S17[2-7]|goal-)/;

export interface Kept {
  /** Rules number and file. */
  readonly name: string;
  readonly bundle: Bundle;
}

export interface KeptGoals {
  readonly goals: readonly Kept[];
  readonly cycles: readonly Kept[];
}

export function keptGoals(): KeptGoals {
  const all = rulesFolders().flatMap((rules) => {
    const folder = join(HISTORIES, `rules-${rules}`);
    const names = readdirSync(folder).filter(
      (name) => name.endsWith(SUFFIX) && OF_GOALS.test(name),
    );
    const kept = names.map((file): Kept & { readonly rules: number } => {
      const text = gunzipSync(readFileSync(join(folder, file))).toString('utf8');
      const name = `${rules}/${file.slice(0, -SUFFIX.length)}`;
      return { rules, name, bundle: parseBundle(text, name) };
    });
    return kept;
  });
  const goals = all.filter(({ bundle }) => isGoal(bundle));
  const cycles = all.filter(({ bundle }) => !isGoal(bundle));
  return {
    cycles,
    goals: goals.map(({ rules, name, bundle }) => ({
      name,
      bundle: withCycles(
        bundle,
        cycles.filter((one) => one.rules === rules).map((one) => one.bundle),
      ),
    })),
  };
}

function withCycles(goal: Bundle, cycles: readonly Bundle[]): Bundle {
  const { runId } = goal.run;
  const own = cycles.filter(({ run }) => run.runId.startsWith(`${runId}:c`));
  if (own.length === 0) return goal;
  return {
    ...goal,
    nodes: Object.assign({}, goal.nodes, ...own.map(({ nodes }) => nodes)) as Bundle['nodes'],
    blobs: Object.assign({}, goal.blobs, ...own.map(({ blobs }) => blobs)) as Bundle['blobs'],
    members: own.map(({ run, versions, segments, events }): Member => ({
      run,
      parent: runId,
      versions,
      segments,
      events,
    })),
  };
}
