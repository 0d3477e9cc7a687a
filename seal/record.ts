/** Keeps runs that cover something which no kept one covers. */
import { RULES_VERSION } from '../core/changes.js';
import { fileName } from '../cli/commands/eval-bundles.js';
import type { Fixture } from '../evaluation/fixture.js';
import { rulesOf } from '../replay/versions.js';
import {
  bundlesIn,
  played,
  projectCases,
  randomCases,
  type Candidate,
  type Wanted,
} from './candidates.js';
import { coverageOf, isMixed } from './coverage.js';
import { keep, keptHistories, nameOf, readKept } from './kept-histories.js';
import { createWitness, type Witness } from './witnessed-replay.js';

/** In the newest folder, so many have a signal and another fact in one activation. */
const MIXED_WANTED = 40;
const NAME_CHARS = 80;

export interface Recording extends Wanted {
  /** Bundles that other runs have left; they are kept in the folder of the rules that they follow. */
  readonly from?: string;
}

export async function record(recording: Recording): Promise<void> {
  const { rules, random, seed, from, say } = recording;
  const witness = await createWitness();
  const candidates = [...(from === undefined ? [] : await bundlesIn(from))];
  if (from === undefined) {
    candidates.push(...(await played(await worthwhile(rules), recording)));
    candidates.push(...(await played(randomCases(random, seed), recording)));
  }
  say(`${candidates.length} candidates`);
  const covered = new Covered(rules);
  await covered.addKept(witness);
  for await (const one of witnessed(witness, candidates)) covered.consider(one, say);
  say(`rules ${rules}: ${covered.kept} added, ${covered.mixed} with a signal and another fact`);
}

/** Under older rules only what the newest keep: most cases decide the same under all. */
async function worthwhile(rules: number): Promise<readonly Fixture[]> {
  const cases = await projectCases();
  if (rules === RULES_VERSION) return cases;
  const newest = keptHistories().filter((kept) => kept.rules === RULES_VERSION);
  const names = new Set(newest.map(({ file }) => nameOf(file)));
  return cases.filter(({ caseId }) => names.has(fileName(caseId)));
}

interface Witnessed extends Candidate {
  readonly coverage: ReadonlySet<string>;
  readonly mixed: boolean;
  readonly trouble: string | undefined;
}

async function* witnessed(
  witness: Witness,
  candidates: readonly Candidate[],
): AsyncGenerator<Witnessed, void> {
  let index = 0;
  for await (const report of witness.replay(candidates.map(({ bundle }) => bundle))) {
    yield {
      ...candidates[index]!,
      coverage: coverageOf(report.activations),
      mixed: report.activations.some(isMixed),
      trouble: report.equal ? undefined : (report.error?.message ?? 'its steps differ'),
    };
    index += 1;
  }
}

/** What is covered by the kept histories of one rules number. */
class Covered {
  private readonly items = new Set<string>();
  private readonly names = new Set<string>();
  mixed = 0;
  kept = 0;

  constructor(private readonly rules: number) {}

  async addKept(witness: Witness): Promise<void> {
    const kept = keptHistories().filter(({ rules }) => rules === this.rules);
    const candidates = kept.map((one) => ({ name: one.file, bundle: readKept(one) }));
    for await (const { name, coverage, mixed } of witnessed(witness, candidates)) {
      this.names.add(nameOf(name));
      for (const item of coverage) this.items.add(item);
      if (mixed) this.mixed += 1;
    }
  }

  consider(
    { name, bundle, coverage, mixed, trouble }: Witnessed,
    say: (line: string) => void,
  ): void {
    if (trouble !== undefined) return say(`${name} does not replay: ${trouble}`);
    const rules = rulesOf(bundle.segments.at(-1)!.events);
    if (rules !== this.rules) return;
    const isNew = [...coverage].some((item) => !this.items.has(item));
    if (!isNew && !(mixed && this.mixed < MIXED_WANTED)) return;
    const file = name.slice(0, NAME_CHARS);
    if (this.names.has(file) || !keep(rules, file, bundle)) return;
    this.names.add(file);
    for (const item of coverage) this.items.add(item);
    if (mixed) this.mixed += 1;
    this.kept += 1;
  }
}
