/**
 * Processor time per turn of a worker's process, which other work on the machine does not change as it changes times on a
 * clock: one model call and one read, as an ordinary and as a quick one, beside bare loops.
 */
import { LOADS, openLoadedPlace, type LoadName, type LoadFigures } from './loads.js';
import type { MachineFacts } from './machine.js';
import { figureLines, figuresOf, spreadOf, spreadText, type PairedFigures } from './pairs.js';
import type { BenchOptions } from './setting.js';

export interface ProcessorOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
  readonly atOnce: number;
}

export interface ProcessorReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly atOnce: number;
  /** ms per turn. */
  readonly ordinary: PairedFigures;
  readonly quick: PairedFigures;
  readonly quickBesideLocal: PairedFigures;
}

const WARM = { runs: 10, turns: 20 };

type Round = Readonly<Record<LoadName, LoadFigures>>;

export async function benchProcessor(options: ProcessorOptions): Promise<ProcessorReport> {
  const { pairs, turns, atOnce, say } = options;
  const { place, measure } = await openLoadedPlace(options);
  try {
    for (const name of LOADS) await measure(name, { ...WARM, label: 'warm' });
    const rounds: Round[] = [];
    for (let round = 0; round < pairs; round += 1) {
      const figures = await playRound(measure, { runs: atOnce, turns, label: `p${round}` });
      const line = LOADS.map((name) => `${name} ${figures[name].cpuMsPerTurn.toFixed(2)}`);
      say(`round ${round + 1}: ${line.join(', ')} ms of processor time per turn`);
      rounds.push(figures);
    }
    const report = {
      machine: place.machine,
      turns,
      atOnce,
      ordinary: compared(rounds, 'bare', 'held'),
      quick: compared(rounds, 'bare', 'quick'),
      quickBesideLocal: compared(rounds, 'local', 'quick'),
    };
    const { ordinary, quick, quickBesideLocal } = report;
    for (const line of [
      ...figureLines('processor, ordinary read', ordinary),
      ...figureLines('processor, quick read', quick),
      ...figureLines('processor, quick read beside a local activity', quickBesideLocal),
    ])
      say(line);
    for (const name of LOADS) say(`${name}: ${spreadText(cpuOf(rounds, name))} ms per turn`);
    return report;
  } finally {
    await place.stop();
  }
}

type Measure = (
  name: LoadName,
  load: { readonly runs: number; readonly turns: number; readonly label: string },
) => Promise<LoadFigures>;

/** All loads once; the first of a round is another one each time. */
export async function playRound(measure: Measure, load: Parameters<Measure>[1]): Promise<Round> {
  const turn = Number(/\d+$/.exec(load.label)?.[0] ?? 0) % LOADS.length;
  const order = [...LOADS.slice(turn), ...LOADS.slice(0, turn)];
  const figures: Partial<Record<LoadName, LoadFigures>> = {};
  for (const name of order) figures[name] = await measure(name, load);
  return figures as Round;
}

function cpuOf(rounds: readonly Round[], name: LoadName) {
  return spreadOf(rounds.map((round) => round[name].cpuMsPerTurn));
}

function compared(rounds: readonly Round[], bare: LoadName, held: LoadName): PairedFigures {
  const pairs = rounds.map((round) => ({
    bare: round[bare].cpuMsPerTurn,
    held: round[held].cpuMsPerTurn,
  }));
  return figuresOf(pairs, 'ms per turn');
}
