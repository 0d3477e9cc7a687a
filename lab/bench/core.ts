/**
 * The core by itself: time of `receive` and `advance` per turn over a long run, beside the time of a whole
 * turn of the bare loop, and how large a Run has become.
 */
import { callDigest } from '../../core/json/json.js';
import { isActivity, type ActivityEffect, type Effect } from '../../core/state/effect.js';
import { advance, receive } from '../../core/loop/engine.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { Input } from '../../core/state/input.js';
import { open } from '../../core/loop/open.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { Run } from '../../core/state/run.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { bareSide } from './sides.js';
import { fixedSizes } from './message-sizes.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { figureLines, measurePairs, type PairedFigures } from './pairs.js';
import { startBenchModel, startBenchServer, turnScript, type BenchOptions } from './setting.js';

export interface CoreOptions extends BenchOptions {
  readonly turns: number;
  readonly pairs: number;
}

export interface CoreReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  /** ms per turn of the very first run, which the compiler has not seen yet. */
  readonly coldMsPerTurn: number;
  /** ms per turn: the bare loop's whole turn, and the core alone. */
  readonly figures: PairedFigures;
  readonly runBytes: number;
}

const BARE_TURNS = 100;
const WARM_BARE_TURNS = 20;
/** A worker plays many runs in one process: what its compiler has seen counts, as it does for the bare loop. */
const WARM_RUNS = 2;
/** A typical recorded result. */
const RESULT_BYTES = 500;
const STEPS_PER_TURN_MAX = 10;

export async function benchCore(options: CoreOptions): Promise<CoreReport> {
  const { environment, turns, pairs, say } = options;
  const result = 'x'.repeat(RESULT_BYTES);
  const cold = playRun(turns, result);
  for (let warm = 0; warm < WARM_RUNS; warm += 1) playRun(turns, result);
  say(`core, first run of ${turns} turns: ${cold.msPerTurn.toFixed(3)} ms per turn`);
  const server = await startBenchServer(environment);
  const machine = await machineFacts(server.address);
  const sizes = fixedSizes({ replyBytes: 0, resultBytes: RESULT_BYTES });
  const model = await startBenchModel(turnScript(sizes));
  const bare = await bareSide({ server, model }, 'delta');
  try {
    await bare.run({ turns: WARM_BARE_TURNS, label: 'warm' });
    const figures = await measurePairs({
      pairs,
      unit: 'ms per turn',
      bare: async (pair) =>
        (await bare.run({ turns: BARE_TURNS, label: `core-${pair}` })) / BARE_TURNS,
      held: async () => playRun(turns, result).msPerTurn,
      say,
    });
    for (const line of figureLines(`core, ${turns} turns`, figures)) say(line);
    say(`run after ${turns} turns: ${cold.runBytes} bytes`);
    const { msPerTurn: coldMsPerTurn, runBytes } = cold;
    return { machine, turns, coldMsPerTurn, figures, runBytes };
  } finally {
    await bare.stop();
    await model.stop();
    await server.stop();
  }
}

function playRun(turns: number, result: string) {
  const start = { v: 1, agent: 'bench', task: { goal: 'Look at all orders.' } } as const;
  let run: Run = open(start, { runId: 'bench', at: 0 });
  let spentMs = 0;
  for (let step = 0; step < turns * STEPS_PER_TURN_MAX && run.final === undefined; step += 1) {
    const began = performance.now();
    const next = advance(run);
    spentMs += performance.now() - began;
    run = next.run;
    const inputs = next.effects.flatMap((effect) =>
      outcomesOf(effect, { turns, result, at: step }),
    );
    const heard = performance.now();
    run = inputs.reduce(receive, run);
    spentMs += performance.now() - heard;
  }
  if (run.final?.kind !== 'result' || !run.final.result.completed) {
    throw new Error(`the run did not complete: ${JSON.stringify(run.final).slice(0, 500)}`);
  }
  return { msPerTurn: spentMs / turns, runBytes: Buffer.byteLength(JSON.stringify(run)) };
}

interface Play {
  readonly turns: number;
  readonly result: string;
  readonly at: number;
}

function outcomesOf(effect: Effect, play: Play): readonly Input[] {
  return isActivity(effect) ? [outcomeOf(effect, play)] : [];
}

function outcomeOf(effect: ActivityEffect, { turns, result, at }: Play): Input {
  const { id } = effect;
  const eventsUpTo = (effect.input.events.at(-1)?.stamp.seq ?? -1) + 1;
  switch (effect.kind) {
    case 'open_run':
      return { type: 'run_opened', id, at, output: { rules: 1, frozen: FROZEN, eventsUpTo } };
    case 'execute_tool': {
      const outcome = { kind: 'ok', content: { text: result } } as const;
      return {
        type: 'tool_returned',
        id,
        at,
        output: { outcome, attempts: 1, durationMs: 1, eventsUpTo },
      };
    }
    case 'call_model': {
      const call = effect.input.call;
      const named = { tool: 'orders_read', toolVersion: '1', args: { orderId: `O-${call}` } };
      const calls =
        call >= turns
          ? []
          : [{ id: `c${call}`, ...named, digest: callDigest(named), check: { ok: true as const } }];
      const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 };
      const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const stop = calls.length === 0 ? ('end_turn' as const) : ('tool_use' as const);
      const reply = { text: { text: 'On it.' }, calls, stop, usage, model: 'bench' };
      const output = { reply, head: `h${call}`, attempts: 1, lostCostMicroUsd: 0 };
      return { type: 'model_replied', id, at, output: { ...output, lostUsage: none, eventsUpTo } };
    }
    case 'close_run':
      return { type: 'run_closed', id, at, output: { head: 'end', eventsUpTo } };
    default:
      throw new Error(`nothing asked for ${effect.kind}`);
  }
}

const FROZEN: Frozen = {
  agent: { name: 'bench', version: '1' },
  route: {
    name: 'bench/model',
    provider: 'bench',
    model: 'model',
    contextWindow: 1_000_000,
    maxOutputTokens: 64_000,
    prices: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    pricesVersion: '1',
    temperatureAllowed: true,
  },
  prompt: { hash: 'root', bytes: 100 },
  tools: [
    {
      name: 'orders_read',
      version: '1',
      wireName: 'orders_read',
      kind: 'tool',
      effect: 'read',
      idempotency: 'natural',
      approval: 'never',
      concurrencySafe: true,
      timeoutMs: 30_000,
      maxResultBytes: 1_000_000,
      schemaHash: 'schema',
      probes: false,
    },
  ],
  policy: { version: '0', rules: [] },
  hooks: {},
  budget: {
    ...DEFAULT_BUDGET,
    maxTurns: 'unlimited',
    maxToolCalls: 'unlimited',
    maxInputTokens: 'unlimited',
    maxOutputTokens: 'unlimited',
  },
  settings: DEFAULT_SETTINGS,
  versions: {},
};
