/**
 * Overhead per turn: one model call and one tool call, no model time, against the bare loop that passes
 * deltas (the faster of the two references). Interleaved pairs in one process on one server.
 */
import { bareSide, heldSide } from './sides.js';
import { startBenchModel, startBenchServer } from './setting.js';
import { median, quantile } from './statistics.js';

export interface TurnOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pairs: number;
  readonly turns: number;
  readonly say: (line: string) => void;
}

export interface TurnReport {
  readonly turns: number;
  readonly pairs: readonly {
    readonly bareMs: number;
    readonly heldMs: number;
    readonly ratio: number;
  }[];
  readonly bareMsPerTurn: number;
  readonly heldMsPerTurn: number;
  /** Median of the pairs' ratios. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
}

export async function benchTurn(options: TurnOptions): Promise<TurnReport> {
  const { turns, say } = options;
  const server = await startBenchServer(options.environment);
  const model = await startBenchModel(0);
  const bare = await bareSide({ server, model }, 'delta');
  const held = await heldSide({ server, model });
  try {
    for (const side of [bare, held]) await side.run({ turns: 20, label: 'warm' });
    const pairs: TurnReport['pairs'][number][] = [];
    for (let pair = 0; pair < options.pairs; pair += 1) {
      const size = { turns, label: `p${pair}` };
      // Whoever goes first finds the machine as the other left it: take turns.
      const first = pair % 2 === 0 ? bare : held;
      const second = pair % 2 === 0 ? held : bare;
      const a = (await first.run(size)) / turns;
      const b = (await second.run(size)) / turns;
      const [bareMs, heldMs] = pair % 2 === 0 ? [a, b] : [b, a];
      pairs.push({ bareMs, heldMs, ratio: heldMs / bareMs });
      say(`pair ${pair + 1}: bare ${bareMs.toFixed(2)} ms, held ${heldMs.toFixed(2)} ms per turn`);
    }
    const ratios = pairs.map((pair) => pair.ratio);
    return {
      turns,
      pairs,
      bareMsPerTurn: median(pairs.map((pair) => pair.bareMs)),
      heldMsPerTurn: median(pairs.map((pair) => pair.heldMs)),
      ratio: median(ratios),
      ratioQuartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    };
  } finally {
    await Promise.all([bare.stop(), held.stop()]);
    await model.stop();
    await server.stop();
  }
}
