/**
 * B1, overhead per turn: one model call and one tool call, no model time, against the bare loop that passes
 * deltas (the faster of the two references): with an ordinary tool, and with a quick read beside a bare loop of two
 * activities and beside one whose tool is a local activity.
 */
import { fixedSizes } from './message-sizes.js';
import { figureLines, measurePairs, type PairedFigures } from './pairs.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { bareSide, heldSide, type RunSize, type Side } from './sides.js';
import {
  QUICK_READER,
  startBenchModel,
  startBenchServer,
  turnScript,
  type BenchOptions,
} from './setting.js';

export interface TurnOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
  /** Turns of each side before any is measured: an engine compiles what has run often. */
  readonly warm: number;
  /** Nothing but the time with an ordinary tool. */
  readonly ordinary?: boolean;
}

export interface TurnReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly warm: number;
  readonly msPerTurn: PairedFigures;
  /** With a quick read, against the same bare loop and against one with a local activity. */
  readonly quickMsPerTurn?: PairedFigures;
  readonly quickBesideLocal?: PairedFigures;
  /** By sides; of a turn in the middle of a run: the start and the end of a run are taken off. */
  readonly perTurn: { readonly [side: string]: TurnSize };
}

interface TurnSize {
  readonly events: number;
  readonly bytes: number;
}

type Runs = Pick<Side, 'run' | 'history'>;

/** A typical recorded result. */
const RESULT_BYTES = 500;

export async function benchTurn(options: TurnOptions): Promise<TurnReport> {
  const server = await startBenchServer(options.environment);
  const machine = await machineFacts(server.address);
  const sizes = fixedSizes({ replyBytes: 0, resultBytes: RESULT_BYTES });
  const model = await startBenchModel(turnScript(sizes));
  const place = { server, model };
  const bare = await bareSide(place, 'delta');
  const held = await heldSide(place);
  try {
    for (const side of [bare, held]) await side.run(warmUp(options));
    const { turns, warm } = options;
    const msPerTurn = await compared(options, { what: 'turn', bare, held });
    if (options.ordinary === true) return { machine, turns, warm, msPerTurn, perTurn: {} };
    const quick = await quickOf(place, options, { bare, quick: held.as(QUICK_READER), held });
    return { machine, turns, warm, msPerTurn, ...quick };
  } finally {
    await Promise.all([bare.stop(), held.stop()]);
    await model.stop();
    await server.stop();
  }
}

function warmUp({ warm }: TurnOptions): RunSize {
  return { turns: warm, label: 'warm' };
}

type Sides = { readonly [name: string]: Runs };

async function quickOf(
  place: Parameters<typeof heldSide>[0],
  options: TurnOptions,
  sides: Sides & { readonly bare: Runs; readonly quick: Runs },
): Promise<Omit<TurnReport, 'machine' | 'turns' | 'warm' | 'msPerTurn'>> {
  const { bare, quick } = sides;
  const local = await bareSide({ ...place, localTool: true }, 'delta');
  try {
    for (const side of [local, quick]) await side.run(warmUp(options));
    const quickMsPerTurn = await compared(options, { what: 'turn, quick read', bare, held: quick });
    const what = 'turn, quick read beside a local activity';
    const quickBesideLocal = await compared(options, { what, bare: local, held: quick });
    const perTurn = await sizesOf(options, { ...sides, local });
    return { quickMsPerTurn, quickBesideLocal, perTurn };
  } finally {
    await local.stop();
  }
}

async function sizesOf({ turns, say }: TurnOptions, sides: Sides): Promise<TurnReport['perTurn']> {
  const perTurn: { [side: string]: TurnSize } = {};
  for (const [name, side] of Object.entries(sides)) {
    perTurn[name] = await sizeOfTurn(side, turns);
    const { events, bytes } = perTurn[name];
    say(`${name}: ${events.toFixed(1)} events and ${bytes.toFixed(0)} bytes of history a turn`);
  }
  return perTurn;
}

interface Compared {
  readonly what: string;
  readonly bare: Runs;
  readonly held: Runs;
}

async function compared(
  { turns, pairs, say }: TurnOptions,
  { what, bare, held }: Compared,
): Promise<PairedFigures> {
  const label = (pair: number): string => `${what.replaceAll(/\W+/g, '')}-p${pair}`;
  const figures = await measurePairs({
    pairs,
    unit: 'ms per turn',
    bare: async (pair) => (await bare.run({ turns, label: label(pair) })) / turns,
    held: async (pair) => (await held.run({ turns, label: label(pair) })) / turns,
    say,
  });
  for (const line of figureLines(what, figures)) say(line);
  return figures;
}

/** Of a shorter run, which is taken off: what begins and ends a run is no turn. */
const BEGINNING_TURNS = 20;

async function sizeOfTurn(side: Runs, turns: number): Promise<TurnSize> {
  const label = 'size';
  const [short, long] = [
    { turns: BEGINNING_TURNS, label },
    { turns: BEGINNING_TURNS + turns, label },
  ];
  for (const size of [short, long]) await side.run(size);
  const [less, more] = [await side.history(short), await side.history(long)];
  return {
    events: (more.events - less.events) / turns,
    bytes: (more.bytes - less.bytes) / turns,
  };
}
