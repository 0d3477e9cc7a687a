/**
 * B1, overhead per turn: one model call and one tool call, no model time, against the bare loop that passes
 * deltas (the faster of the two references).
 */
import { fixedSizes } from './message-sizes.js';
import { figureLines, measurePairs, type PairedFigures } from './pairs.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { bareSide, heldSide } from './sides.js';
import { startBenchModel, startBenchServer, turnScript, type BenchOptions } from './setting.js';

export interface TurnOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
}

export interface TurnReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly msPerTurn: PairedFigures;
}

/** A typical recorded result. */
const RESULT_BYTES = 500;

export async function benchTurn(options: TurnOptions): Promise<TurnReport> {
  const { turns, pairs, say } = options;
  const server = await startBenchServer(options.environment);
  const machine = await machineFacts(server.address);
  const sizes = fixedSizes({ replyBytes: 0, resultBytes: RESULT_BYTES });
  const model = await startBenchModel(turnScript(sizes));
  const bare = await bareSide({ server, model }, 'delta');
  const held = await heldSide({ server, model });
  try {
    for (const side of [bare, held]) await side.run({ turns: 20, label: 'warm' });
    const msPerTurn = await measurePairs({
      pairs,
      unit: 'ms per turn',
      bare: async (pair) => (await bare.run({ turns, label: `p${pair}` })) / turns,
      held: async (pair) => (await held.run({ turns, label: `p${pair}` })) / turns,
      say,
    });
    for (const line of figureLines('turn', msPerTurn)) say(line);
    return { machine, turns, msPerTurn };
  } finally {
    await Promise.all([bare.stop(), held.stop()]);
    await model.stop();
    await server.stop();
  }
}
