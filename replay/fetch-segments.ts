/**
 * The histories of a run: from the server, and from the store's archive where Temporal's retention has lost
 * them.
 * Invariant: the chain is walked from its end, because only the first event of a segment names the one
 * before it; what a reset has left behind is no part of it.
 */
import type { PayloadCodec } from '@temporalio/common';
import type { HistoryAccess } from '../client/index.js';
import { historyJson } from '../activities/history-json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Store } from '../store/store.js';
import type { Archival } from '../store/archivals.js';
import { LIST_ROWS_MAX } from '../store/bounds.js';
import { SEGMENTS_MAX, type Segment } from './bundle.js';
import { continuedFrom } from '../recording/chain.js';
import { decodePayloads } from './decode-payloads.js';
import type { HistoryEvent } from '../recording/history.js';

const PAGES_MAX = 10_000;
/** The gRPC status of what is not there. */
const NOT_FOUND = 5;

export interface HistoryPlace {
  readonly connection: HistoryAccess['connection'];
  readonly namespace: string;
  /** Absent: the server alone. */
  readonly archive?: Pick<Store, 'readHistories' | 'readHistory' | 'listArchivals'>;
  /** Those of the workers; the server and the archive hold what they have encoded. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Largest record, in bytes of the histories' JSON; absent: any. */
  readonly bytesMax?: number;
  /** Hears the bytes of each history that was read, and may throw. */
  readonly heard?: (bytes: number) => void;
}

interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

/** Oldest first. Errors: `RunNotFound`, `HistoryMissing`, `InvalidRequest` for a record above `bytesMax`. */
export async function fetchSegments(place: HistoryPlace, run: RunKey): Promise<readonly Segment[]> {
  const found: Omit<Segment, 'segment'>[] = [];
  for await (const one of segmentsFromNewest(place, run)) found.unshift(one);
  return found.map((one, segment) => ({ segment, ...one }));
}

/** The newest first, and one at a time; which number each has, its end alone tells. Errors: as above. */
export async function* segmentsFromNewest(
  place: HistoryPlace,
  run: RunKey,
): AsyncGenerator<Omit<Segment, 'segment'>, void> {
  const { payloadCodecs: codecs = [], namespace } = place;
  /** Empty: the newest execution. */
  let execution = '';
  let bytes = 0;
  for (let count = 0; count < SEGMENTS_MAX; count += 1) {
    const { fetched, source } = await found(place, run, execution);
    const { byteLength } = fetched.history;
    bytes += byteLength;
    place.heard?.(byteLength);
    if (bytes > (place.bytesMax ?? Infinity)) throw tooLarge(run.runId, place.bytesMax!);
    const events = eventsOf(fetched.history);
    const before = continuedFrom(events);
    const decoding = { codecs, namespace, workflowId: run.runId };
    yield {
      execution: fetched.execution,
      source,
      events: await decodePayloads(events, decoding),
    };
    if (before === undefined) return;
    execution = before;
  }
  throw new HoldfastError(
    'HistoryMissing',
    `Run ${run.runId} has more than ${SEGMENTS_MAX} segments.`,
  );
}

async function found(
  place: HistoryPlace,
  { tenant, runId }: RunKey,
  execution: string,
): Promise<{ readonly fetched: Fetched; readonly source: Segment['source'] }> {
  const fetched = await fetchExecution(place, runId, execution);
  if (fetched !== undefined) return { fetched, source: 'temporal' };
  const kept =
    execution === '' ? undefined : await place.archive?.readHistory({ tenant, runId, execution });
  if (kept !== undefined) return { fetched: kept, source: 'store' };
  throw await missingFrom(place, { tenant, runId }, execution);
}

interface Fetched {
  readonly execution: string;
  /** Temporal's own JSON. */
  readonly history: Uint8Array;
}

type Page = Awaited<
  ReturnType<HistoryAccess['connection']['workflowService']['getWorkflowExecutionHistory']>
>;

/** Undefined: the server does not know this execution (any more). */
async function fetchExecution(
  { connection, namespace }: HistoryPlace,
  workflowId: string,
  runId: string,
): Promise<Fetched | undefined> {
  const events: NonNullable<NonNullable<Page['history']>['events']> = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  try {
    const execution =
      runId === '' ? await newestExecution(connection, namespace, workflowId) : runId;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const answer = await connection.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId, runId: execution },
        nextPageToken,
      });
      events.push(...(answer.history?.events ?? []));
      nextPageToken = answer.nextPageToken;
      if (nextPageToken.length === 0) {
        return { execution, history: Buffer.from(historyJson().write({ events })) };
      }
    }
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === NOT_FOUND) return undefined;
    throw error;
  }
  throw new HoldfastError('Internal', `The history of ${workflowId} has too many pages.`);
}

async function newestExecution(
  connection: HistoryAccess['connection'],
  namespace: string,
  workflowId: string,
): Promise<string> {
  const described = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution: { workflowId },
  });
  return described.workflowExecutionInfo?.execution?.runId ?? '';
}

/** Temporal's own JSON: written by its library, here or in the activity that archives. */
function eventsOf(json: Uint8Array): readonly HistoryEvent[] {
  return (JSON.parse(Buffer.from(json).toString('utf8')) as { events: HistoryEvent[] }).events;
}

function tooLarge(runId: string, bytesMax: number): HoldfastError {
  return new HoldfastError(
    'InvalidRequest',
    `The record of ${runId.slice(0, 200)} is larger than ${bytesMax} bytes.`,
    { hint: 'Look at it with `holdfast inspect`.' },
  );
}

/** The archive may know why, and since when. */
async function missingFrom(
  { archive }: HistoryPlace,
  run: RunKey,
  execution: string,
): Promise<HoldfastError> {
  const rows = (await archive?.listArchivals({ run, limit: LIST_ROWS_MAX })) ?? [];
  const lost = rows.find((one) => one.execution === execution && one.state === 'history_lost');
  if (lost !== undefined) return lostForGood(lost);
  // How many there are matters only where not even the newest execution is known.
  const archived =
    execution === '' ? ((await archive?.readHistories(run.tenant, run.runId)) ?? []) : [];
  return missing(run.runId, execution, archived.length);
}

function lostForGood({ runId, segment, execution, since, lostAt = since }: Archival) {
  return new HoldfastError(
    'HistoryMissing',
    `history_lost: Temporal deleted the history of run ${runId}, segment ${segment}, before it was archived; found ${new Date(lostAt).toISOString()}.`,
    {
      hint: 'This run cannot be exported or replayed; `holdfast show` has its events. Raise the retention of the namespace, and let a worker run within it.',
      details: { runId, segment, execution, lostAt },
    },
  );
}

function missing(runId: string, execution: string, archived: number): HoldfastError {
  if (execution === '' && archived === 0) {
    return new HoldfastError('RunNotFound', `There is no run ${runId.slice(0, 200)}.`, {
      hint: 'List the runs with `holdfast list`.',
    });
  }
  const what = execution === '' ? 'its newest segment' : `the segment ${execution}`;
  return new HoldfastError(
    'HistoryMissing',
    `The history of run ${runId} is not whole: ${what} is gone.`,
    {
      hint: 'Temporal has deleted it; export runs within the retention of the namespace, or raise it.',
      details: { runId, ...(execution !== '' && { execution }) },
    },
  );
}
