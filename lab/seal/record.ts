/** Keeps runs that cover something which no kept one covers. */
import { CHANGES, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import { fileName } from '../../cli/commands/eval-bundles.js';
import type { Fixture } from '../../evaluation/fixture.js';
import {
  bundlesIn,
  played,
  projectCases,
  randomCases,
  type Candidate,
  type Wanted,
} from './candidates.js';
import { GOALS_SINCE } from './case-commands.js';
import { coverageOf, goalRulesBeyond, isGoal, isMixed } from './coverage.js';
import { keep, keptHistories, nameOf, readKept, rulesOfBundle } from './kept-histories.js';
import { firstBroken } from './prove.js';
import { createWitness, type Witness } from './witnessed-replay.js';

/** In the newest folder, so many have a signal and another fact in one activation. */
const MIXED_WANTED = 40;
const NAME_CHARS = 80;

export interface Recording extends Wanted {
  /** Bundles that other runs have left; they are kept in the folder of the rules that they follow. */
  readonly from?: string;
  /** Keeps each of them, whatever others cover. */
  readonly every?: boolean;
  /** Plays cases of goals alone. */
  readonly goals?: boolean;
}

export async function record(recording: Recording): Promise<void> {
  const { rules, random, seed, from, goals, every = false, say } = recording;
  const witness = await createWitness();
  const candidates = [...(from === undefined ? [] : await bundlesIn(from))];
  if (from === undefined) {
    candidates.push(...(await played(await worthwhile(recording), recording)));
    if (goals !== true) candidates.push(...(await played(randomCases(random, seed), recording)));
  }
  say(`${candidates.length} candidates`);
  const covered = new Covered(rules);
  await covered.addKept(witness);
  const all: Witnessed[] = [];
  for await (const one of witnessed(witness, candidates)) {
    covered.consider(one, { say, every });
    all.push(one);
  }
  if (goals !== true) await covered.catchChanges(witness, all);
  say(`rules ${rules}: ${covered.kept} added, ${covered.mixed} with a signal and another fact`);
  if (rules >= GOALS_SINCE) {
    for (const name of covered.goalRulesMissing()) say(`no history has the rule of goals: ${name}`);
  }
}

/** Under older rules only what the newest keep: most cases decide the same under all. */
async function worthwhile({ rules, goals }: Recording): Promise<readonly Fixture[]> {
  const cases = await projectCases(rules);
  if (goals === true) return cases.filter(({ goal }) => goal !== undefined);
  if (rules === RULES_VERSION) return cases;
  const newest = keptHistories().filter((kept) => kept.rules === RULES_VERSION);
  const names = new Set(newest.map(({ file }) => nameOf(file)));
  return cases.filter(({ caseId }) => names.has(fileName(caseId)));
}

interface Witnessed extends Candidate {
  readonly coverage: ReadonlySet<string>;
  readonly mixed: boolean;
  readonly trouble: string | undefined;
  readonly rules: number | undefined;
}

async function* witnessed(
  witness: Witness,
  candidates: readonly Candidate[],
): AsyncGenerator<Witnessed, void> {
  let index = 0;
  for await (const report of witness.replay(candidates.map(({ bundle }) => bundle))) {
    yield {
      ...candidates[index]!,
      coverage: coverageOf(report.activations, candidates[index]!.bundle),
      mixed: report.activations.some(isMixed),
      rules: rulesOfBundle(candidates[index]!.bundle),
      trouble: report.equal ? undefined : (report.error?.message ?? 'its steps differ'),
    };
    index += 1;
  }
}

/** What is covered by the kept histories of one rules number. */
class Covered {
  private readonly items = new Set<string>();
  private readonly names = new Set<string>();
  private readonly noted: Witnessed[] = [];
  mixed = 0;
  kept = 0;

  constructor(private readonly rules: number) {}

  async addKept(witness: Witness): Promise<void> {
    const kept = keptHistories().filter(({ rules }) => rules === this.rules);
    const candidates = kept.map((one) => ({ name: one.file, bundle: readKept(one) }));
    for await (const one of witnessed(witness, candidates)) {
      this.note({ ...one, name: nameOf(one.name) });
    }
  }

  consider(one: Witnessed, { say, every }: Pick<Recording, 'say' | 'every'>): void {
    const { name, coverage, mixed, trouble } = one;
    if (trouble !== undefined) return say(`${name} does not replay: ${trouble}`);
    const isNew = [...coverage].some((item) => !this.items.has(item));
    if (every === true || isNew || (mixed && this.mixed < MIXED_WANTED)) this.keep(one);
  }

  /** Of each named change one that breaks when the change is turned round. */
  async catchChanges(witness: Witness, candidates: readonly Witnessed[]): Promise<void> {
    for (const change of Object.keys(CHANGES) as ChangeName[]) {
      const asks = (one: Witnessed): boolean =>
        one.coverage.has(`asked ${change}`) || one.coverage.has(`asked !${change}`);
      if ((await firstBroken(witness, change, this.noted.filter(asks))) !== undefined) continue;
      const asking = candidates.filter((one) => asks(one) && this.isWelcome(one));
      const found = await firstBroken(witness, change, asking);
      if (found !== undefined) this.keep(asking[found]!);
    }
  }

  goalRulesMissing(): readonly string[] {
    return goalRulesBeyond(this.items);
  }

  private isWelcome({ name, rules, trouble, bundle }: Witnessed): boolean {
    if (isGoal(bundle) && this.rules < GOALS_SINCE) return false;
    return trouble === undefined && rules === this.rules && !this.names.has(fileOf(name));
  }

  private keep(one: Witnessed): void {
    const name = fileOf(one.name);
    if (!this.isWelcome(one) || !keep(this.rules, name, one.bundle)) return;
    this.note({ ...one, name });
    this.kept += 1;
  }

  private note(one: Witnessed): void {
    this.names.add(one.name);
    this.noted.push(one);
    for (const item of one.coverage) this.items.add(item);
    if (one.mixed) this.mixed += 1;
  }
}

function fileOf(name: string): string {
  return name.slice(0, NAME_CHARS);
}
