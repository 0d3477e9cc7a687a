/**
 * B4, a very long run: time per turn and the worker's memory over thousands of turns, with continue-as-new
 * and compaction on the way. Flat means that the last turns take no longer than the first.
 */
import { historySize } from './history-size.js';
import type { MachineFacts } from './machine.js';
import { openPlace, type Place } from './place.js';
import { GOAL, MARATHON, type BenchOptions } from './setting.js';
import { median, slopeOf, type Point } from './statistics.js';
import { startTurnClock } from './turn-clock.js';
import type { BenchWorker } from './worker-process.js';

export interface LongOptions extends BenchOptions {
  readonly turns: number;
}

export interface LongReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  /** Histories that continue-as-new has made of the run. */
  readonly segments: number;
  readonly compactions: number;
  readonly events: number;
  readonly bytes: number;
  /** The first and the last turns of each thousand. */
  readonly edges: readonly { readonly turn: number; readonly msPerTurn: number }[];
  readonly firstMsPerTurn: number;
  readonly lastMsPerTurn: number;
  readonly lastByFirst: number;
  /** Growth of the worker's resident memory over the second half of the run. */
  readonly rssKbPerThousandTurns: number;
  readonly rssMb: { readonly half: number; readonly end: number };
  readonly flat: boolean;
}

export const LAST_BY_FIRST_MAX = 1.1;
const RUN_ID = 'bench-long';
const THOUSAND = 1_000;
const EDGE_TURNS = 50;
/** The first turns warm the worker up and fill the first context. */
const WARM_TURNS = 100;
/** Windows that are compared: many contexts are filled and summarised in each. */
const WINDOW_SHARE = 0.2;
const MEASURE_EVERY_MS = 1_000;

export async function benchLong(options: LongOptions): Promise<LongReport> {
  const { turns, say } = options;
  const clock = startTurnClock(turns);
  const place = await openPlace({ ...options, script: clock.script });
  try {
    const memory = watchMemory(await place.spawn('held'), () => clock.turn());
    const compactions = await run(place, turns).finally(() => memory.stop());
    const report = {
      machine: place.machine,
      turns,
      compactions,
      ...(await historySize(place.client, RUN_ID)),
      ...timesOf(clock.msPerTurn()),
      ...growthOf(memory.points(), turns),
    };
    for (const line of linesOf(report)) say(line);
    return report;
  } finally {
    await place.stop();
  }
}

/** Gives the number of its compactions. */
async function run({ holdfast }: Place, turns: number): Promise<number> {
  const started = await holdfast.start({
    agent: MARATHON,
    task: { goal: GOAL },
    runId: RUN_ID,
    wait: false,
  });
  const { completed, stopReason, counters } = await started.result();
  if (!completed || counters.toolCalls < turns - 1) {
    throw new Error(`it ended with ${stopReason} after ${counters.toolCalls} calls`);
  }
  return counters.compactions.proactive + counters.compactions.reactive;
}

function watchMemory(worker: BenchWorker, turn: () => number) {
  const points: Point[] = [];
  // No collection: it would take time from the turns that are measured.
  const timer = setInterval(() => {
    worker.rssBytes('measure').then(
      (bytes) => points.push({ x: turn(), y: bytes / 1_024 }),
      () => clearInterval(timer),
    );
  }, MEASURE_EVERY_MS);
  return { points: () => points, stop: () => clearInterval(timer) };
}

function timesOf(msPerTurn: readonly number[]) {
  const starts = Array.from(
    { length: Math.ceil(msPerTurn.length / THOUSAND) },
    (_, index) => index * THOUSAND,
  );
  const edges = starts.flatMap((from) => {
    const thousand = msPerTurn.slice(from, from + THOUSAND);
    const end = from + thousand.length;
    return [
      { turn: from, msPerTurn: median(thousand.slice(0, EDGE_TURNS)) },
      { turn: end, msPerTurn: median(thousand.slice(-EDGE_TURNS)) },
    ];
  });
  const warm = msPerTurn.slice(WARM_TURNS);
  const window = Math.ceil(warm.length * WINDOW_SHARE);
  const firstMsPerTurn = median(warm.slice(0, window));
  const lastMsPerTurn = median(warm.slice(-window));
  const lastByFirst = lastMsPerTurn / firstMsPerTurn;
  const flat = lastByFirst <= LAST_BY_FIRST_MAX;
  return { edges, firstMsPerTurn, lastMsPerTurn, lastByFirst, flat };
}

function growthOf(points: readonly Point[], turns: number) {
  const half = points.filter(({ x }) => x >= turns / 2);
  const [first] = half;
  return {
    rssKbPerThousandTurns: slopeOf(half) * THOUSAND,
    rssMb: { half: (first?.y ?? Number.NaN) / 1_024, end: (half.at(-1)?.y ?? Number.NaN) / 1_024 },
  };
}

function linesOf(report: LongReport): readonly string[] {
  const { turns, segments, compactions, events, bytes, edges } = report;
  const { rssMb, rssKbPerThousandTurns: slope } = report;
  const flat = report.flat ? 'flat' : `more than ${LAST_BY_FIRST_MAX}`;
  return [
    ...edges.map((edge) => `near turn ${edge.turn}: ${edge.msPerTurn.toFixed(2)} ms per turn`),
    `${turns} turns, ${segments} histories, ${compactions} compactions, ${events} events, ${bytes} bytes`,
    `worker: ${rssMb.half.toFixed(0)} MB at half, ${rssMb.end.toFixed(0)} MB at the end, ${slope.toFixed(0)} KB for each 1,000 turns between`,
    `first ${report.firstMsPerTurn.toFixed(2)} ms, last ${report.lastMsPerTurn.toFixed(2)} ms per turn: ratio ${report.lastByFirst.toFixed(3)}, ${flat}`,
  ];
}
