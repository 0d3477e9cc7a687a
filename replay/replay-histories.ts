/**
 * Replays histories with the workflow code of these sources: no server, no store.
 * Invariants: one history after another, so that every command that is heard belongs to the history under
 * replay; a replay that never ends is ended, and so is one whose worker has died: the SDK does not tell.
 * Errors: `InvalidBundle` for a history over which Temporal's replayer breaks.
 */
import type { InjectedSinks, ReplayWorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import { historyJson } from '../activities/history-json.js';
import { HoldfastError } from '../core/state/errors.js';
import { HoldfastReplayer } from '../worker/vm/holdfast-worker.js';
import { PAYLOAD_CONVERTER_PATH, replayBundle } from '../worker/workflow-code.js';
import type { RecordedCommand, ReplaySinks } from '../workflows/replay-recorder.js';
import { attributesOf, durationMs, textAt, type HistoryEvent } from '../recording/history.js';
import { keepQuiet } from './keep-quiet.js';
import { replayedSteps, type ReplayPlace } from './replayed-steps.js';
import type { Step } from './step.js';

/** What a replay takes on a machine under load; of 50,000 events, the most that Temporal allows, it is 20 s. */
const HISTORY_LIMIT_MS = 60_000;
const EVENT_LIMIT_MS = 5;
const END_LIMIT_MS = 10_000;
const REASON_CHARS_MAX = 500;

export interface ReplayableHistory {
  readonly workflowId: string;
  /** Temporal run id. */
  readonly execution: string;
  readonly events: readonly HistoryEvent[];
}

export interface HistoryReplay {
  readonly steps: readonly Step[];
  /** Why Temporal's own check failed. */
  readonly error?: string;
}

/** What replays instead of the workflow code of these sources. */
export interface ReplayCode {
  readonly bundle: WorkflowBundleOption;
  /** What its interceptors call. */
  readonly sinks?: NonNullable<ReplayWorkerOptions['sinks']>;
}

/** One replay for each history, in order. */
export async function* replayHistories(
  histories: AsyncIterable<ReplayableHistory> | Iterable<ReplayableHistory>,
  code?: ReplayCode,
): AsyncGenerator<HistoryReplay, void> {
  const waiting = inTurn(histories);
  let history = await waiting.next();
  // Temporal's runtime ends with its last worker: begun for no worker, it keeps the process alive.
  if (history.done === true) return;
  keepQuiet();
  let commands: RecordedCommand[] = [];
  let queue = '';
  const sinks: InjectedSinks<ReplaySinks> = {
    replay: {
      commands: {
        callDuringReplay: true,
        fn(info, given) {
          queue = info.taskQueue;
          commands.push(...given);
        },
      },
    },
  };
  let current: ReplayableHistory | undefined;
  /** The replayer asks for a history when its replay is asked for. */
  function* pushed() {
    while (current !== undefined) {
      yield { workflowId: current.workflowId, history: asProto(current) };
    }
  }
  const options = {
    workflowBundle: code?.bundle ?? (await replayBundle()),
    dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    sinks: { ...code?.sinks, ...sinks },
  };
  const results = HoldfastReplayer.runReplayHistories(options, pushed());
  try {
    for (; history.done !== true; history = await waiting.next()) {
      commands = [];
      current = history.value;
      const next = await breaking(inTime(results.next(), limitOf(current)), current);
      if (next.done === true) return;
      const { error } = next.value;
      const steps = replayedSteps(commands, { ...placeOf(current), replayQueue: queue });
      yield { steps, ...(error !== undefined && { error: error.message }) };
    }
  } finally {
    await waiting.return();
    // Where a history never ends, neither does this.
    await inTime(Promise.resolve(results.return?.()), END_LIMIT_MS).catch(() => undefined);
  }
}

async function* inTurn<T>(values: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T, void, void> {
  yield* values;
}

function placeOf({ events }: ReplayableHistory): Omit<ReplayPlace, 'replayQueue'> {
  const started = attributesOf(events[0], 'workflowExecutionStarted');
  return {
    taskQueue: textAt(started, 'taskQueue', 'name') ?? '',
    runTimeoutMs: durationMs(started.workflowRunTimeout),
  };
}

/**
 * A replay takes the execution's id from the field that a reset leaves as it was, while the code that was
 * recorded after the reset knew the new one.
 */
function asProto({ execution, events }: ReplayableHistory) {
  const [first, ...rest] = events;
  const started = {
    ...attributesOf(first, 'workflowExecutionStarted'),
    originalExecutionRunId: execution,
  };
  const opening = { ...first, workflowExecutionStartedEventAttributes: started };
  return historyJson().read({ events: [opening, ...rest] });
}

function limitOf({ events }: ReplayableHistory): number {
  return HISTORY_LIMIT_MS + events.length * EVENT_LIMIT_MS;
}

/** An error of the replayer itself is one of the history that it was given. */
async function breaking<T>(work: Promise<T>, history: ReplayableHistory): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const { workflowId, execution } = history;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError(
      'InvalidBundle',
      `The history of ${workflowId}, execution ${execution}, ends Temporal's replay: ${reason.slice(0, REASON_CHARS_MAX)}`,
      { hint: 'Export the run again with `holdfast export`.', cause },
    );
  }
}

async function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `it does not end within ${limitMs / 1_000} s.`;
    timer = setTimeout(() => reject(new Error(message)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
