/** A process that plays cases in a copy with switches, as it is told by the process that started it. */
import { join } from 'node:path';
import { collectFixtures } from '../../evaluation/collect.js';
import { compare } from '../../evaluation/compare.js';
import type { Fixture } from '../../evaluation/fixture.js';
import {
  firstDifference,
  isPlayedUnder,
  keptCommands,
  keptNumbers,
  playerOf,
} from '../seal/case-commands.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { switches } from './switch.js';

/** Plays these cases until one of them notices the change; without a change notes what would differ. */
export interface Order {
  readonly mutant?: number;
  readonly cases: readonly number[];
}

export interface Ready {
  /** How many there are. */
  readonly cases: number;
}

export interface Report {
  /** The first case that noticed, and where. */
  readonly noticed?: string;
  /** Of each case that was played, in the order of the order: the changes that would have made a difference. */
  readonly differed: readonly (readonly number[])[];
  /** Of the same: microseconds of processor time. */
  readonly costs: readonly number[];
  /** The same while sources and cases were loaded. */
  readonly atLoad: readonly number[];
}

const FOLDER = join(__dirname, '..', '..');
const engine = createSimulationEngine();

/** What may notice a change, by position; undefined: it does not. */
type Witness = () => Promise<string | undefined>;

/** Each case as it is expected, then as it commands under the newest sealed rules, then under older ones in turn. */
function witnesses(fixtures: readonly Fixture[]): readonly Witness[] {
  const [newest = 0, ...older] = keptNumbers().toReversed();
  return [
    ...fixtures.map((fixture) => () => noticing(fixture)),
    ...fixtures.map(commanding(() => newest)),
    ...fixtures.map(commanding((index) => older[index % older.length] ?? newest)),
  ];
}

async function noticing(fixture: Fixture): Promise<string | undefined> {
  const run = await engine.run(fixture, { seed: 1 });
  if (run.kind !== 'observed') return `${fixture.caseId} (engine)`;
  const [first] = compare(fixture, run.observed);
  return first === undefined ? undefined : `${fixture.caseId} (${first.path})`;
}

function commanding(rulesAt: (index: number) => number) {
  return (fixture: Fixture, index: number): Witness => {
    const rules = rulesAt(index);
    return async () => {
      if (!isPlayedUnder(rules, fixture)) return undefined;
      const now = await playerUnder(rules).play(fixture);
      const kept = commandsUnder(rules).get(fixture.caseId) ?? [];
      const found = firstDifference(kept, now);
      return found === undefined ? undefined : `${fixture.caseId}, rules ${rules}: ${found}`;
    };
  };
}

const playerUnder = remembered(playerOf);
const commandsUnder = remembered(keptCommands);

function remembered<T>(make: (rules: number) => T): (rules: number) => T {
  const made = new Map<number, T>();
  return (rules) => {
    const value = made.get(rules) ?? make(rules);
    made.set(rules, value);
    return value;
  };
}

async function main(): Promise<void> {
  const all = witnesses(await collectFixtures({ paths: ['test/scenarios'], folder: FOLDER }));
  const atLoad = [...switches.differed];
  process.on('message', (order: Order) => void follow(order));
  process.send!({ cases: all.length } satisfies Ready);

  async function follow({ mutant, cases }: Order): Promise<void> {
    switches.active = mutant;
    const differed: number[][] = [];
    const costs: number[] = [];
    let noticed: string | undefined;
    for (const index of cases) {
      switches.differed.clear();
      switches.uses = 0;
      const before = process.cpuUsage();
      const by = await all[index]!();
      const { user, system } = process.cpuUsage(before);
      costs.push(user + system);
      differed.push([...switches.differed]);
      if (by === undefined) continue;
      noticed = by;
      break;
    }
    process.send!({
      differed,
      costs,
      atLoad,
      ...(noticed !== undefined && { noticed }),
    } satisfies Report);
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
