/** Proof that the kept histories catch a change of meaning: each named change, turned round, breaks one of them. */
import { CHANGES, type ChangeName } from '../../core/step/changes.js';
import { drawn } from '../../test/draw.js';
import type { Bundle } from '../../replay/bundle.js';
import { coverageOf, goalRulesBeyond, isMixed } from './coverage.js';
import { keptHistories, readKept } from './kept-histories.js';
import { createWitness, type Witness } from './witnessed-replay.js';

export const MIXED_LEAST = 30;

export interface Proof {
  readonly histories: number;
  /** Files that do not replay with today's code. */
  readonly broken: readonly string[];
  /** How many have a signal and another fact in one activation. */
  readonly mixed: number;
  /** The file that catches each change that was turned round; undefined: none does. */
  readonly caughtBy: ReadonlyMap<ChangeName, string | undefined>;
}

/** Turns round `changes` of the named changes, which the seed draws; by default all. Replays every history in any case. */
export async function prove(
  say: (line: string) => void,
  { changes, seed = 0 }: { readonly changes?: number; readonly seed?: number } = {},
): Promise<Proof> {
  const witness = await createWitness();
  const kept = keptHistories();
  const bundles = kept.map(readKept);
  const broken: string[] = [];
  const asking = new Map<ChangeName, number[]>();
  const covered = new Set<string>();
  let [index, mixed] = [0, 0];
  for await (const report of witness.replay(bundles)) {
    for (const item of coverageOf(report.activations, bundles[index]!)) covered.add(item);
    if (!report.equal) broken.push(kept[index]!.file);
    if (report.activations.some(isMixed)) mixed += 1;
    for (const name of askedIn(report.activations.flatMap(({ asked }) => asked))) {
      asking.set(name, [...(asking.get(name) ?? []), index]);
    }
    index += 1;
  }
  say(`${kept.length} histories replayed, ${broken.length} differ`);
  for (const name of goalRulesBeyond(covered)) say(`no history has the rule of goals: ${name}`);
  const caughtBy = new Map<ChangeName, string | undefined>();
  const names = Object.keys(CHANGES) as ChangeName[];
  for (const name of drawn(names, changes ?? names.length, seed)) {
    const places = asking.get(name) ?? [];
    const chosen = places.map((place) => ({ bundle: bundles[place]! }));
    const found = await firstBroken(witness, name, chosen);
    const file = found === undefined ? undefined : kept[places[found]!]!.file;
    caughtBy.set(name, file);
    say(
      `${name}: ${file ?? `NOT CAUGHT by any of the ${places.length} histories that ask for it`}`,
    );
  }
  return { histories: kept.length, broken, mixed, caughtBy };
}

function askedIn(asked: readonly string[]): ReadonlySet<ChangeName> {
  return new Set(asked.map((item) => item.replace('!', '') as ChangeName));
}

/** Which of them is the first that does not replay when the change is turned round. */
export async function firstBroken(
  witness: Witness,
  change: ChangeName,
  histories: readonly { readonly bundle: Bundle }[],
): Promise<number | undefined> {
  let index = 0;
  const bundles = histories.map(({ bundle }) => bundle);
  for await (const { equal } of witness.replayReversed(change, bundles)) {
    if (!equal) return index;
    index += 1;
  }
  return undefined;
}
