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

/** The same with segments that may come one by one, oldest first. */
export interface StreamedRun {
  readonly run: Bundle['run'];
  readonly segments: Iterable<Segment> | AsyncIterable<Segment>;
}

/** Replays one run with the workflow code of this release. */
export async function replayRun(run: ReplayableRun): Promise<ReplayReport> {
  for await (const report of replayRunsOf([run])) return report;
  throw new Error('a run has one report');
}

/** Replays runs one after another, in one replaying worker; of segments that come one by one, two are held at a time. */
export async function* replayRunsOf(
  runs: AsyncIterable<StreamedRun> | Iterable<StreamedRun>,
  code?: ReplayCode,
): AsyncGenerator<ReplayReport, void> {
  const at: { now?: Replaying } = {};
  // A history is asked for when the one before it has been replayed and added up.
  async function* histories(): AsyncGenerator<ReplayableHistory> {
    for await (const { run, segments } of runs) {
      const tally = tallyOf(run.runId);
      for await (const { value: segment, isLast } of withLast(segments)) {
        at.now = { tally, segment, isLast };
        const { execution, events } = segment;
        yield { workflowId: run.runId, execution, events };
      }
    }
  }
  for await (const replay of replayHistories(histories(), code)) {
    if (at.now === undefined) continue;
    const { tally, segment, isLast } = at.now;
    tally.add(segment, replay);
    if (isLast) yield tally.report();
  }
}

interface Replaying {
  readonly tally: Tally;
  readonly segment: Segment;
  readonly isLast: boolean;
}

async function* withLast<T>(
  values: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<{ readonly value: T; readonly isLast: boolean }, void> {
  let held: { readonly value: T } | undefined;
  for await (const value of values) {
    if (held !== undefined) yield { value: held.value, isLast: false };
    held = { value };
  }
  if (held !== undefined) yield { value: held.value, isLast: true };
}

interface Tally {
  add(segment: Segment, replay: HistoryReplay): void;
  report(): ReplayReport;
}

function tallyOf(runId: string): Tally {
  const differences: ReplayDifference[] = [];
  let segments = 0;
  let steps = 0;
  let open = true;
  let error: ReplayReport['error'];
  let last: HistoryEvent | undefined;
  return {
    add({ events }, replay) {
      const recorded = recordedSteps(events);
      steps += recorded.length;
      open = !isClosed(events);
      const found = compareSteps(recorded, {
        steps: replay.steps,
        broken: replay.error !== undefined,
        open,
      });
      const crossing = segments === 0 ? undefined : wrongCrossing(last, events[0]);
      const rules = rulesOf(events);
      const place = { segment: segments, ...(rules !== undefined && { rules }) };
      const all = crossing === undefined ? found : [crossing, ...found];
      differences.push(...all.map((difference) => ({ ...difference, ...place })));
      if (replay.error !== undefined) error ??= { segment: segments, message: replay.error };
      last = events.at(-1);
      segments += 1;
    },
    report: () => ({
      runId,
      segments,
      steps,
      open,
      equal: differences.length === 0 && error === undefined,
      ...(error !== undefined && { error }),
      differences: differences.slice(0, DIFFERENCES_MAX),
    }),
  };
}

/** What a segment hands over is what the next one begins with. */
function wrongCrossing(
  last: HistoryEvent | undefined,
  first: HistoryEvent | undefined,
): StepDifference | undefined {
  const given: Json = argumentsOf(
    at(attributesOf(last, 'workflowExecutionContinuedAsNew'), 'input'),
  );
  const begun: Json = argumentsOf(at(attributesOf(first, 'workflowExecutionStarted'), 'input'));
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
