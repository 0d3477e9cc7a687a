/**
 * Strict replay: Temporal's own check, and every step's data compared with the history.
 * Invariant: a run that replays strictly was decided by code that decides the same today.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import type { Bundle, Segment } from './bundle.js';
import { isClosed } from '../recording/chain.js';
import { compareSteps, type StepDifference } from './compare-steps.js';
import { firstDifference } from './first-difference.js';
import { argumentsOf, at, attributesOf, type HistoryEvent } from '../recording/history.js';
import { recordedSteps } from './recorded-steps.js';
import {
  replayHistories,
  type HistoryReplay,
  type ReplayCode,
  type ReplayableHistory,
} from './replay-histories.js';
import { rulesOf } from './versions.js';

/** Enough to see what has changed; a run's later steps mostly differ for the same reason. */
const DIFFERENCES_MAX = 20;

export interface ReplayDifference extends StepDifference {
  readonly segment: number;
  /** Rule set that the segment follows. */
  readonly rules?: number;
}

export interface ReplayReport {
  readonly runId: string;
  readonly segments: number;
  /** Steps that were compared. */
  readonly steps: number;
  /** The history ends while the run goes on. */
  readonly open: boolean;
  readonly equal: boolean;
  /** Why Temporal's own check failed, with its segment. */
  readonly error?: { readonly segment: number; readonly message: string };
  /** The first of them. */
  readonly differences: readonly ReplayDifference[];
}

/** What of a bundle is replayed. */
export type ReplayableRun = Pick<Bundle, 'run' | 'segments'>;

/** Replays one run with the workflow code of this release. */
export async function replayRun(run: ReplayableRun): Promise<ReplayReport> {
  for await (const report of replayRunsOf([run])) return report;
  throw new Error('a run has one report');
}

/** Replays runs one after another, in one replaying worker. */
export async function* replayRunsOf(
  runs: AsyncIterable<ReplayableRun> | Iterable<ReplayableRun>,
  code?: ReplayCode,
): AsyncGenerator<ReplayReport, void> {
  const pushed: ReplayableRun[] = [];
  async function* histories(): AsyncGenerator<ReplayableHistory> {
    for await (const run of runs) {
      pushed.push(run);
      const workflowId = run.run.runId;
      for (const { execution, events } of run.segments) yield { workflowId, execution, events };
    }
  }
  let replays: HistoryReplay[] = [];
  for await (const replay of replayHistories(histories(), code)) {
    replays.push(replay);
    const [run] = pushed;
    if (run === undefined || replays.length < run.segments.length) continue;
    yield reportOf(run, replays);
    pushed.shift();
    replays = [];
  }
}

function reportOf(
  { run, segments }: ReplayableRun,
  replays: readonly HistoryReplay[],
): ReplayReport {
  const differences: ReplayDifference[] = [];
  let steps = 0;
  for (const [index, segment] of segments.entries()) {
    const replay = replays[index]!;
    const recorded = recordedSteps(segment.events);
    steps += recorded.length;
    const found = compareSteps(recorded, {
      steps: replay.steps,
      broken: replay.error !== undefined,
      open: !isClosed(segment.events),
    });
    const crossing = wrongCrossing(segments[index - 1], segment);
    const rules = rulesOf(segment.events);
    const place = { segment: index, ...(rules !== undefined && { rules }) };
    const all = crossing === undefined ? found : [crossing, ...found];
    differences.push(...all.map((difference) => ({ ...difference, ...place })));
  }
  const failed = replays.findIndex(({ error }) => error !== undefined);
  const error = replays[failed]?.error;
  return {
    runId: run.runId,
    segments: segments.length,
    steps,
    open: !isClosed(segments.at(-1)!.events),
    equal: differences.length === 0 && error === undefined,
    ...(error !== undefined && { error: { segment: failed, message: error } }),
    differences: differences.slice(0, DIFFERENCES_MAX),
  };
}

/** What a segment hands over is what the next one begins with. */
function wrongCrossing(before: Segment | undefined, segment: Segment): StepDifference | undefined {
  if (before === undefined) return undefined;
  const last: HistoryEvent | undefined = before.events.at(-1);
  const given: Json = argumentsOf(
    at(attributesOf(last, 'workflowExecutionContinuedAsNew'), 'input'),
  );
  const begun: Json = argumentsOf(
    at(attributesOf(segment.events[0], 'workflowExecutionStarted'), 'input'),
  );
  if (canonicalJson(given) === canonicalJson(begun)) return undefined;
  const found = firstDifference(begun, given, 'input');
  return {
    kind: 'continue_as_new',
    id: '',
    eventId: 1,
    what: 'value',
    path: found?.path ?? 'input',
    ...(found?.recorded !== undefined && { recorded: found.recorded }),
    ...(found?.replayed !== undefined && { replayed: found.replayed }),
  };
}
