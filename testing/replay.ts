/**
 * Replays the histories of runs that a server holds, with the workflow code of these sources.
 * Invariant: the history is taken as the server sent it, never through JSON, which loses types.
 */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import { HoldfastError } from '../core/errors.js';
import { PAYLOAD_CONVERTER_PATH, workflowBundle } from '../worker/workflow-code.js';

/** Continue-as-new makes a chain of executions; a test's run has few of them. */
const SEGMENTS_MAX = 100;
const PAGES_MAX = 1_000;

export interface ReplayPlace {
  readonly address: string;
  /** Default `default`. */
  readonly namespace?: string;
}

/** Why a run did not replay, by run id; a run that replayed is not in it. */
export type ReplayFailures = ReadonlyMap<string, string>;

type HistoryPage = Awaited<
  ReturnType<NativeConnection['workflowService']['getWorkflowExecutionHistory']>
>;
type HistoryEvent = NonNullable<NonNullable<HistoryPage['history']>['events']>[number];

interface ReplayedHistory {
  readonly workflowId: string;
  readonly history: { events: HistoryEvent[] };
}

/** Replays every segment of every run. Errors: ServerUnavailable; a run that is not there is a failure. */
export async function replayRuns(
  place: ReplayPlace,
  runIds: readonly string[],
): Promise<ReplayFailures> {
  keepQuiet();
  const failures = new Map<string, string>();
  const connection = await NativeConnection.connect({ address: place.address });
  try {
    const reader = { connection, namespace: place.namespace ?? 'default', failures };
    const results = Worker.runReplayHistories(
      {
        workflowBundle: await workflowBundle(),
        dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
      },
      historiesOf(reader, runIds),
    );
    for await (const { workflowId, error } of results) {
      if (error !== undefined) failures.set(workflowId, error.message);
    }
    return failures;
  } finally {
    await connection.close();
  }
}

interface Reader {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly failures: Map<string, string>;
}

async function* historiesOf(
  reader: Reader,
  runIds: readonly string[],
): AsyncGenerator<ReplayedHistory> {
  for (const workflowId of runIds) {
    // Newest first: only the first event of a segment names the one before it.
    let runId: string | undefined = '';
    for (let segment = 0; runId !== undefined && segment < SEGMENTS_MAX; segment += 1) {
      try {
        const events = await eventsOf(reader, workflowId, runId);
        const before: string | null | undefined =
          events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
        runId = before === null || before === '' ? undefined : before;
        yield { workflowId, history: { events } };
      } catch (error) {
        reader.failures.set(workflowId, error instanceof Error ? error.message : String(error));
        runId = undefined;
      }
    }
  }
}

async function eventsOf(
  { connection, namespace }: Reader,
  workflowId: string,
  runId: string,
): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      nextPageToken,
    });
    events.push(...(answer.history?.events ?? []));
    nextPageToken = answer.nextPageToken;
    if (nextPageToken.length === 0) return events;
  }
  throw new HoldfastError('Internal', `The history of ${workflowId} has too many pages.`);
}

/** The SDK reports every replay on standard error unless told otherwise; its runtime is one per process. */
function keepQuiet(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
