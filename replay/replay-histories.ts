/**
 * Replays histories with the workflow code of these sources: no server, no store.
 * Invariants: one history after another, so that every command that is heard belongs to the history under
 * replay; a replay that never ends is ended.
 */
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker, type InjectedSinks } from '@temporalio/worker';
import { HoldfastError } from '../core/errors.js';
import { PAYLOAD_CONVERTER_PATH, workflowBundle } from '../worker/workflow-code.js';
import type { RecordedCommand, ReplaySinks } from '../workflows/replay-recorder.js';
import { attributesOf, durationMs, textAt, type HistoryEvent } from './history.js';
import { keepQuiet } from './keep-quiet.js';
import { promiseHooks } from './promise-hooks.js';
import { replayedSteps, type ReplayPlace } from './replayed-steps.js';
import type { Step } from './step.js';

/** A replay of 50,000 events, the most that Temporal allows, takes about 20 s. */
const HISTORY_LIMIT_MS = 5 * 60_000;
const END_LIMIT_MS = 10_000;

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

/** One replay for each history, in order. */
export async function* replayHistories(
  histories: AsyncIterable<ReplayableHistory> | Iterable<ReplayableHistory>,
): AsyncGenerator<HistoryReplay, void> {
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
  const under: { place?: Omit<ReplayPlace, 'replayQueue'> } = {};
  async function* pushed() {
    for await (const history of histories) {
      commands = [];
      under.place = placeOf(history);
      yield { workflowId: history.workflowId, history: asProto(history) };
    }
  }
  const options = {
    workflowBundle: await workflowBundle('replay'),
    dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    sinks,
  };
  const removePromiseHooks = promiseHooks();
  const results = Worker.runReplayHistories(options, pushed());
  try {
    for (;;) {
      const next = await inTime(results.next());
      if (next.done === true) return;
      const { error } = next.value;
      const place = { ...under.place!, replayQueue: queue };
      const steps = replayedSteps(commands, place);
      yield { steps, ...(error !== undefined && { error: error.message }) };
    }
  } finally {
    removePromiseHooks();
    // Where a history never ends, neither does this.
    await inTime(Promise.resolve(results.return?.()), END_LIMIT_MS).catch(() => undefined);
  }
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
  return historyFromJSON({ events: [opening, ...rest] });
}

async function inTime<T>(work: Promise<T>, limitMs = HISTORY_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `A history did not replay within ${limitMs / 1_000} s.`;
      reject(new HoldfastError('Internal', message));
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
