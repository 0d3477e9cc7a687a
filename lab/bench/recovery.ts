/**
 * B8, recovery: from SIGKILL of the worker to the next durable step, with a second worker standing by and
 * equal timeouts, against the bare loop. By position: during a model call, during a tool call, parked.
 */
import { parked } from './gate.js';
import type { MachineFacts } from './machine.js';
import { startOutside, type OutsideServer } from './outside-server.js';
import { figureLines, measurePairs, type PairedFigures } from './pairs.js';
import { openPlace, type Place, type SideName } from './place.js';
import { PAY, WAIT, type BenchOptions } from './setting.js';
import type { Script, ScriptedReply } from '../../testing/index.js';

export const POSITIONS = ['model', 'tool', 'parked'] as const;
export type Position = (typeof POSITIONS)[number];

export interface RecoveryOptions extends BenchOptions {
  readonly pairs: number;
  readonly positions: readonly Position[];
  /** How soon a worker that says nothing counts as dead. */
  readonly heartbeatMs: number;
  /** How long a workflow task waits for the worker that knows its run. */
  readonly stickyMs: number;
}

export interface RecoveryReport {
  readonly machine: MachineFacts;
  readonly heartbeatMs: number;
  readonly stickyMs: number;
  readonly seconds: { readonly [position in Position]?: PairedFigures };
}

/** A reply held back for longer than any recovery takes. */
const STALL_MS = 10 * 60_000;

export async function benchRecovery(options: RecoveryOptions): Promise<RecoveryReport> {
  const { pairs, say, heartbeatMs, stickyMs } = options;
  const asked = askedFor();
  const outside = await startOutside((runId, nth) => nth === 1 && positionOf(runId) === 'tool');
  const place = await openPlace({
    ...options,
    script: scriptOf(asked),
    outsideUrl: outside.url,
  });
  try {
    const seconds: { [position in Position]?: PairedFigures } = {};
    for (const position of options.positions) {
      const bench = { place, outside, asked, heartbeatMs, stickyMs };
      say(`killed while: ${position}`);
      seconds[position] = await measurePairs({
        pairs,
        unit: 's',
        bare: (pair) => recoveryOf(bench, 'bare', `${position}-bare-${pair}`),
        held: (pair) => recoveryOf(bench, 'held', `${position}-held-${pair}`),
        say,
      });
      for (const line of figureLines(`killed while ${position}`, seconds[position])) say(line);
    }
    return { machine: place.machine, heartbeatMs, stickyMs, seconds };
  } finally {
    await place.stop();
    await outside.stop();
  }
}

/** The position is the first word of a run's id. */
function positionOf(runId: string): Position | undefined {
  return POSITIONS.find((position) => runId.startsWith(position));
}

interface RequestsSeen {
  /** Notes a request of a run. */
  note(runId: string): void;
  /** Resolves when the run has asked the model. */
  first(runId: string): Promise<void>;
}

function askedFor(): RequestsSeen {
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  return {
    note(runId) {
      seen.add(runId);
      waiting.get(runId)?.();
    },
    first: (runId) =>
      new Promise((resolve) => {
        if (seen.has(runId)) resolve();
        else waiting.set(runId, resolve);
      }),
  };
}

/** The first attempt of the first reply stalls where the model is the position; every other is quick. */
function scriptOf(asked: RequestsSeen): Script {
  return ({ runId, assistantMessages, attempt }): ScriptedReply => {
    asked.note(runId);
    if (assistantMessages > 0) return { text: 'Done.' };
    const position = positionOf(runId);
    const tool = position === 'parked' ? PAY : WAIT;
    const stalls = position === 'model' && attempt === 1;
    return {
      calls: [{ tool, input: { orderId: 'O-1', bytes: 500 } }],
      ...(stalls && { delayMs: STALL_MS }),
    };
  };
}

interface Bench {
  readonly place: Place;
  readonly outside: OutsideServer;
  readonly asked: RequestsSeen;
  readonly heartbeatMs: number;
  readonly stickyMs: number;
}

/** Seconds from the kill to the visit of the tool that comes after it. */
async function recoveryOf(bench: Bench, side: SideName, runId: string): Promise<number> {
  const { place, outside, asked, heartbeatMs, stickyMs } = bench;
  const tuning = { stickyTimeoutMs: stickyMs };
  const victim = await place.spawn(side, tuning);
  await place.start(side, runId, { heartbeatMs });
  const position = positionOf(runId);
  if (position === 'model') await asked.first(runId);
  if (position === 'tool') await outside.visited(runId, 1);
  const approve = position === 'parked' ? await parked(place, side, runId) : undefined;
  const heir = await place.spawn(side, tuning);
  const killed = performance.now();
  await victim.kill();
  await approve?.();
  const next = await outside.visited(runId, position === 'tool' ? 2 : 1);
  await place.ended(side, runId);
  await heir.kill();
  return (next - killed) / 1_000;
}
