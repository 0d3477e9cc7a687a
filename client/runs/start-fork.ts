/**
 * Starting a fork of a recorded run: its state is written beside the runs, then it is started as any run.
 * Invariant: nothing of the recorded run is written; a fork without its row is refused by every worker.
 */
import type { KnownFields } from '../../authoring/known-fields.js';
import { jsonBytes, PAYLOAD_BYTES_MAX } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Fork } from '../../core/state/fork.js';
import { AGENT_RUN } from '../../workflows/messages.js';
import type { RecordedCallRow } from '../../store/forks.js';
import { isRecord } from '../../pure/options.js';
import { checkNames } from '../closed-options.js';
import { openLimitOf, type Link } from '../link.js';
import { checkIsFork, FORK_MEMO, writeForkRow, type ForkRows } from './fork-row.js';
import { refuseBesideOlder } from './refuse-older.js';
import { runHandle, type RunHandle } from './run-handle.js';
import { checkRunId, newRunId } from './run-id.js';
import { ownStore, startPrepared } from './start-workflow.js';
import { untilOpen, waitingOf } from './until-open.js';

export interface ForkOptions {
  readonly fork: Fork;
  /** The store that the fork runs on; it has conversation and texts of the state. */
  readonly store: ForkRows;
  /** What the record gave to executors: the fork asks before it does the same. Absent: what the ledger has of the run. */
  readonly calls?: readonly RecordedCallRow[];
  /** Default: a new `run_<ulid>`. The same id with the same state, whatever became of its calls since, gives the fork that is under way. */
  readonly runId?: string | undefined;
  /** False: it does not wait until the fork is open. */
  readonly wait?: boolean | undefined;
}

const OPTIONS: KnownFields<ForkOptions> = {
  fork: true,
  store: true,
  calls: true,
  runId: true,
  wait: true,
};

/** What an output has beside the state. */
const MARGIN_BYTES = 4_096;

/** Errors: `ForkRefused`, `RunExists`, `InvalidTask`. */
export async function startFork(link: Link, options: ForkOptions): Promise<RunHandle> {
  checkNames(options, OPTIONS, {});
  checkParts(options);
  const { fork, store, calls, wait } = options;
  const { run, step } = fork;
  const runId = options.runId === undefined ? newRunId() : checkRunId(options.runId);
  const bytes = jsonBytes(fork);
  if (bytes > PAYLOAD_BYTES_MAX - MARGIN_BYTES) {
    throw new HoldfastError('ForkRefused', `The state after step ${step} takes ${bytes} bytes.`, {
      hint: 'Fork at a step with fewer open calls, or play the fork dry.',
      details: { bytes, limit: PAYLOAD_BYTES_MAX - MARGIN_BYTES },
    });
  }
  await refuseBesideOlder(link, store);
  const { tenant } = run;
  const place = { tenant, runId, parent: run.runId, step };
  const digest = await writeForkRow(link, store, {
    ...place,
    body: JSON.stringify(fork),
    at: Date.now(),
    ...(calls !== undefined && { calls }),
    isGivenId: options.runId !== undefined,
  });
  const agent = run.start.agent;
  await startPrepared(link, {
    type: AGENT_RUN,
    id: runId,
    input: {
      v: 1,
      agent,
      task: { goal: run.start.task.goal, taskId: runId },
      tenant,
      ...(await ownStore(link)),
      fork: { id: run.runId, step, digest },
    },
    agent,
    tenant,
    summary: `fork of ${run.runId} after step ${step}`,
    memo: { [FORK_MEMO]: digest },
  });
  // A new id of ours is nobody else's.
  if (options.runId !== undefined) await checkIsFork(link, { runId, digest });
  if (wait !== false) {
    // Whoever asked may be a page that waits for its answer.
    const waiting = waitingOf(link, { openLimitMs: openLimitOf(link) });
    await untilOpen(link, runId, { ...waiting, signal: undefined });
  }
  return runHandle({ ...link, tenant }, runId);
}

/** A state comes from a record: nobody writes one by hand. */
function checkParts({ fork, store }: { readonly fork: unknown; readonly store: unknown }): void {
  const isState = isRecord((fork as Partial<Fork> | null | undefined)?.run?.start);
  if (isState && hasForkRows(store)) return;
  const [path, is] = isState
    ? ['store', 'what openStore gives']
    : ['fork', 'the state of a recorded run after a step'];
  throw new HoldfastError('InvalidTask', `${path} cannot be used: it must be ${is}.`, {
    hint: 'Fork a run by its id: `forkRun`, or `holdfast fork RUN --at STEP --live`.',
    details: { path },
  });
}

function hasForkRows(store: unknown): boolean {
  const { getFork, putFork } = (store ?? {}) as Partial<ForkRows>;
  return typeof getFork === 'function' && typeof putFork === 'function';
}
