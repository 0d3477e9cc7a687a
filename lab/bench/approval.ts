/**
 * B7, approval latency: from the return of the signal's RPC to the first step of the gated tool, against a
 * bare loop that waits for a signal. Ours checks the decision, claims the call and then starts the tool.
 */
import { parked, type Approve } from './gate.js';
import { parkMany } from './loads.js';
import type { MachineFacts } from './machine.js';
import { startOutside, type OutsideServer } from './outside-server.js';
import { figureLines, measurePairs, spreadText, type PairedFigures } from './pairs.js';
import { openPlace, type Place, type SideName } from './place.js';
import { postDecisions, type PostedDecisions } from './posted-decisions.js';
import { oneCallScript, PAY, type BenchOptions } from './setting.js';
import { median } from './statistics.js';

export interface ApprovalOptions extends BenchOptions {
  readonly pairs: number;
  /** Approvals per measurement, of which the median counts. */
  readonly samples: number;
  /** Runs of each side that wait meanwhile. */
  readonly parked: number;
}

export interface ApprovalReport {
  readonly machine: MachineFacts;
  readonly samples: number;
  readonly parked: number;
  readonly ms: PairedFigures;
  /** The same decision over the desk's HTTP API. */
  readonly posted: PostedDecisions;
}

export async function benchApproval(options: ApprovalOptions): Promise<ApprovalReport> {
  const { pairs, samples, say } = options;
  const outside = await startOutside();
  const place = await openPlace({
    ...options,
    script: oneCallScript(PAY),
    outsideUrl: outside.url,
  });
  try {
    for (const side of ['bare', 'held'] as const) {
      await place.spawn(side);
      await parkMany(place, side, options.parked);
      await latencyOf({ place, outside }, side, { samples: 3, label: 'warm' });
    }
    const bench = { place, outside };
    const ms = await measurePairs({
      pairs,
      unit: 'ms',
      bare: (pair) => latencyOf(bench, 'bare', { samples, label: `p${pair}` }),
      held: (pair) => latencyOf(bench, 'held', { samples, label: `p${pair}` }),
      say,
    });
    for (const line of figureLines('approval to tool', ms)) say(line);
    const posted = await postDecisions({ ...bench, samples: samples * pairs });
    say(`POST of a decision: answered after ${spreadText(posted.answer)} ms`);
    say(`POST of a decision: tool begun after ${spreadText(posted.toTool)} ms`);
    return { machine: place.machine, samples, parked: options.parked, ms, posted };
  } finally {
    await place.stop();
    await outside.stop();
  }
}

interface Bench {
  readonly place: Place;
  readonly outside: OutsideServer;
}

/** Median of some approvals, one after the other. */
async function latencyOf(
  { place, outside }: Bench,
  side: SideName,
  { samples, label }: { readonly samples: number; readonly label: string },
): Promise<number> {
  const latencies: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const runId = `approval-${side}-${label}-${sample}`;
    await place.start(side, runId);
    const approve = await parked(place, side, runId);
    latencies.push(await startAfter(outside, runId, approve));
    await place.ended(side, runId);
  }
  return median(latencies);
}

/** Below zero: the tool began before the RPC had returned. */
async function startAfter(outside: OutsideServer, runId: string, approve: Approve) {
  const visited = outside.visited(runId, 1);
  await approve();
  const returned = performance.now();
  return (await visited) - returned;
}
