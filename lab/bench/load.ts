/**
 * B14, load of a long run that waits for a person and is no longer in its worker's memory: from the return of the
 * signal's RPC to the first step of the gated tool. The worker fetches the segment's history and replays it.
 */
import { parked, type Approve } from './gate.js';
import type { MachineFacts } from './machine.js';
import { fixedSizes } from './message-sizes.js';
import { startOutside } from './outside-server.js';
import { spreadOf, spreadText, type Spread } from './pairs.js';
import { openPlace } from './place.js';
import { PAY, turnScript, type BenchOptions } from './setting.js';
import { executionsOf } from './history-size.js';
import type { Script } from '../../testing/index.js';

export interface LoadBenchOptions extends BenchOptions {
  readonly turns: number;
  readonly runs: number;
}

export interface LoadReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  /** Events that are replayed. */
  readonly events: number;
  readonly loadedMs: Spread;
  readonly p95Ms: number;
  /** Of runs of one turn that are in memory. */
  readonly cachedMs: Spread;
}

/** The fewest that the SDK keeps when it is told to keep few. */
const EVICTING_CACHE = 10;
/** Fewer than are kept: a run at work stays in memory. */
const PARKED_AT_ONCE = 2;
const RESULT_BYTES = 500;
const P95 = 0.95;

export async function benchLoad(options: LoadBenchOptions): Promise<LoadReport> {
  const { turns, runs, say } = options;
  const outside = await startOutside();
  const place = await openPlace({ ...options, script, outsideUrl: outside.url });
  try {
    await place.spawn('held', { maxCachedWorkflows: EVICTING_CACHE });
    const long = await waiting(runs, (run) => `load-t${turns + 1}-long-${run}`);
    // Newer runs take the place of the long ones.
    const short = await waiting(2 * EVICTING_CACHE, (run) => `load-t2-short-${run}`);
    const [first] = await executionsOf(place.client, long[0]!.runId);
    const { historyLength: events } = await place.client.workflow
      .getHandle(long[0]!.runId, first)
      .describe();
    const cached: number[] = [];
    for (const one of short.slice(-EVICTING_CACHE / 2)) cached.push(await startAfter(one));
    const loaded: number[] = [];
    for (const one of long) loaded.push(await startAfter(one));
    const report = {
      machine: place.machine,
      turns,
      events,
      loadedMs: spreadOf(loaded),
      p95Ms: loaded.toSorted((a, b) => a - b)[Math.ceil(loaded.length * P95) - 1]!,
      cachedMs: spreadOf(cached),
    };
    say(`in memory: ${spreadText(report.cachedMs)} ms from approval to tool`);
    say(
      `${turns} turns, ${events} events to replay: ${spreadText(report.loadedMs)} ms, p95 ${report.p95Ms.toFixed(0)} ms of ${runs} runs`,
    );
    return report;
  } finally {
    await place.stop();
    await outside.stop();
  }

  async function waiting(count: number, idOf: (run: number) => string): Promise<readonly One[]> {
    const all: One[] = [];
    for (let from = 0; from < count; from += PARKED_AT_ONCE) {
      const some = Array.from({ length: Math.min(PARKED_AT_ONCE, count - from) }, async (_, n) => {
        const runId = idOf(from + n);
        await place.start('held', runId);
        return { runId, approve: await parked(place, 'held', runId) };
      });
      all.push(...(await Promise.all(some)));
    }
    return all;
  }

  async function startAfter({ runId, approve }: One): Promise<number> {
    const visited = outside.visited(runId, 1);
    await approve();
    const returned = performance.now();
    return (await visited) - returned;
  }
}

interface One {
  readonly runId: string;
  readonly approve: Approve;
}

const turnsFirst = turnScript(fixedSizes({ replyBytes: 0, resultBytes: RESULT_BYTES }));

/** Reads, then the call that waits for a person. */
function script(request: Parameters<Script>[0]): ReturnType<Script> {
  const turns = Number(/-t(\d+)-/.exec(request.runId)?.[1] ?? 0);
  if (request.assistantMessages + 1 < turns) return turnsFirst(request);
  return request.assistantMessages + 1 === turns
    ? { calls: [{ tool: PAY, input: { orderId: 'O-1', bytes: RESULT_BYTES } }] }
    : { text: 'Done.' };
}
