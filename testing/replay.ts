/**
 * Strict replay for tests: of runs that a server holds, and of bundles that were exported from one.
 */
import type { PayloadCodec } from '@temporalio/common';
import { credentialsOf, type Credentials } from '../connection/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { checkOptions, rules, type OptionRules } from '../pure/options.js';
import type { Bundle, Segment } from '../replay/bundle.js';
import { isObject, type HistoryEvent } from '../recording/history.js';
import { fetchSegments } from '../replay/fetch-segments.js';
import { keepQuiet } from '../replay/keep-quiet.js';
import { readBundle } from '../replay/read-bundle.js';
import { reportLines } from '../replay/report-text.js';
import { replayTree } from '../replay/replay-tree.js';
import { replayRunsOf, type ReplayableRun } from '../replay/strict-replay.js';
import { connect } from '../worker/connection.js';

export interface ReplayPlace extends Credentials {
  readonly address: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** Those of the workers. */
  readonly payloadCodecs?: readonly PayloadCodec[];
}

/** Why a run did not replay, by run id; a run that replayed is not in it. */
export type ReplayFailures = ReadonlyMap<string, string>;

const TENANT = 'default';

const PLACE: OptionRules<ReplayPlace> = rules(
  'text! address, text namespace apiKey, list payloadCodecs, any tls metadata',
);

/** Replays every segment of every run. Errors: InvalidConfig for an option that cannot be used; ServerUnavailable; a run that is not there is a failure. */
export async function replayRuns(
  given: ReplayPlace,
  runIds: readonly string[],
): Promise<ReplayFailures> {
  checkOptions('replayRuns', given, PLACE);
  checkOptions('replayRuns', { runIds }, rules('texts! runIds'));
  const { address, namespace = 'default', payloadCodecs = [], ...credentials } = given;
  keepQuiet();
  const failures = new Map<string, string>();
  const connection = await connect({ address, ...credentialsOf(credentials) });
  const place = { connection, namespace, payloadCodecs };
  async function* runs(): AsyncGenerator<ReplayableRun> {
    for (const runId of runIds) {
      const run = { tenant: TENANT, runId };
      try {
        yield { run, segments: (await fetchSegments(place, run)).map(withCodeNamed) };
      } catch (error) {
        failures.set(runId, error instanceof Error ? error.message : String(error));
      }
    }
  }
  try {
    for await (const report of replayRunsOf(runs())) {
      if (!report.equal) failures.set(report.runId, reportLines(report).join('\n'));
    }
    return failures;
  } finally {
    await connection.close();
  }
}

/** Temporal's test server notes the code that decided under its former name only, where replays do not look. */
function withCodeNamed(segment: Segment): Segment {
  return { ...segment, events: segment.events.map(withBuildId) };
}

function withBuildId(event: HistoryEvent): HistoryEvent {
  const { workflowTaskCompletedEventAttributes: done } = event;
  if (!isObject(done) || done.workerVersion !== undefined) return event;
  const { binaryChecksum: buildId } = done;
  if (typeof buildId !== 'string' || buildId === '') return event;
  return {
    ...event,
    workflowTaskCompletedEventAttributes: { ...done, workerVersion: { buildId } },
  };
}

/**
 * For a test of your own: fails unless the run and all runs below it replay exactly, Temporal's check and the data of
 * every step.
 * Takes a bundle, or the file of one. Errors: `ReplayDiffers`, which says where; `InvalidBundle`.
 */
export async function expectReplays(bundle: Bundle | string): Promise<void> {
  const report = await replayTree(typeof bundle === 'string' ? await readBundle(bundle) : bundle);
  if (report.equal) return;
  throw new HoldfastError('ReplayDiffers', reportLines(report).join('\n'), {
    hint: 'This release decides otherwise than the one that recorded the run, or the record was altered.',
    details: { report },
  });
}
