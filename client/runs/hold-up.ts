/**
 * What holds up a run that is started and not open, as Temporal knows it: no worker, a task that was lost with one, a
 * task or an opening that fails, or workers that have not got to it.
 * Invariant: what is said happened; a task that a worker took along has not failed.
 */
import type { Link } from '../link.js';
import { lastTaskEnd, type TaskEnd } from '../read/task-end.js';
import { START_A_WORKER } from '../server-failure.js';
import { deciders, pollers, type Poller } from '../workers.js';
import type { Execution } from './execution.js';

export type HoldUpKind = 'no_worker' | 'lost' | 'failing' | 'busy' | 'store';

export interface HoldUp {
  readonly kind: HoldUpKind;
  /** The run goes on without anybody's help: its opening is only late. */
  readonly goesOn: boolean;
  /** Ends the sentence "Run X is started, but …". */
  readonly says: string;
  /** What to do. */
  readonly next: string;
  readonly workers: number;
}

/** What is known of a run that is not open. */
export interface HoldUpFacts extends Pick<Execution, 'runId' | 'attempt' | 'task' | 'activities'> {
  readonly taskQueue: string;
  /** Those that could take what is pending. */
  readonly takers: readonly Poller[];
  readonly workers: number;
  /** Of its workflow task, above its first attempt. */
  readonly lastEnd: TaskEnd | undefined;
}

/** The kinds of activity that open: whatever else is pending, the run is open. */
const OPENINGS = ['open_run', 'open_goal'];
/** So many losses in a row are no accident. */
const LOSSES_MANY = 4;

/** The work of a run begins when it is open. */
export function isAtWork({ activities }: Pick<Execution, 'activities'>): boolean {
  return activities.some(({ type }) => !OPENINGS.includes(type));
}

export async function holdUpOf(link: Link, execution: Execution): Promise<HoldUp> {
  const all = await pollers(link);
  const takers = execution.task === undefined ? all : await deciders(link);
  const lastEnd = execution.attempt > 1 ? await lastTaskEnd(link, execution) : undefined;
  const known = { taskQueue: link.taskQueue, takers, workers: all.length, lastEnd };
  return holdUp({ ...execution, ...known }, Date.now());
}

export function holdUp(facts: HoldUpFacts, now: number): HoldUp {
  const { runId, attempt, task, activities, takers, workers, lastEnd } = facts;
  if (takers.length === 0) return { kind: 'no_worker', goesOn: false, workers, ...nobody(facts) };
  const opening = activities.find(({ lastFailure }) => lastFailure !== undefined);
  if (attempt > 1 && lastEnd?.isLost === false) {
    const says = `its workflow task failed, and is tried again (attempt ${attempt}): ${lastEnd.reason}`;
    return { kind: 'failing', goesOn: false, workers, says, next: MEND };
  }
  if (attempt > 1) {
    const says = `its workflow task was lost with a worker that died, or was too slow; ${whereIs(facts, now)}`;
    return { kind: 'lost', goesOn: true, workers, says, next: afterLoss(facts) };
  }
  if (opening?.lost) {
    const says = `its opening was lost with a worker that died, or was too slow; Temporal hands it out again (attempt ${opening.attempt})`;
    return { kind: 'lost', goesOn: true, workers, says, next: BY_ITSELF };
  }
  if (opening !== undefined) {
    const says = `its opening fails (attempt ${opening.attempt}): ${opening.lastFailure?.replace(/\.$/, '')}`;
    const next = `${MEND} \`holdfast show ${runId}\` says what the run waits for.`;
    return { kind: 'failing', goesOn: false, workers, says, next };
  }
  const says =
    task !== undefined
      ? whereIs(facts, now)
      : activities.length > 0
        ? 'its opening has not ended yet'
        : 'no worker has said yet that it is open';
  return { kind: 'busy', goesOn: true, workers, says, next: MORE_WORKERS };
}

/** The same where the store of whoever starts could not be reached: workers that wait for it are not busy. */
export function withoutStore(held: HoldUp): HoldUp {
  if (held.kind !== 'busy') return held;
  return {
    ...held,
    kind: 'store',
    says: `${held.says}, and the store cannot be reached`,
    next: STORE,
  };
}

const STORE =
  'See that the store runs and can be reached; the run is opened by itself then, and nothing is lost.';
const MEND =
  'Mend the fault that is named, or deploy a worker as new as the run; the run goes on by itself and loses nothing.';
const BY_ITSELF = 'Temporal hands it to a worker again by itself, and nothing is lost.';
const START_ONE = 'start one with `holdfast worker` (or `holdfast dev`).';
const MORE_WORKERS = 'If the workers are busy, start more of them.';

function nobody({ taskQueue, workers }: HoldUpFacts): Pick<HoldUp, 'says' | 'next'> {
  if (workers === 0) {
    return {
      says: `no worker is running on task queue ${taskQueue}`,
      next: `${START_A_WORKER} The run begins as soon as one is there.`,
    };
  }
  return {
    says: `none of the workers on task queue ${taskQueue} takes workflow tasks`,
    next: 'Start a worker there without --only, or with --only workflows. The run begins as soon as one is there.',
  };
}

/** Who waits in vain for an answer of a worker asked before the task was due, and would have got it. */
function whereIs({ attempt, task, takers }: HoldUpFacts, now: number): string {
  const which = attempt > 1 ? `attempt ${attempt}` : 'its workflow task';
  if (task?.isInHand) return `${which} is in the hands of a worker`;
  const askedAt = Math.max(...takers.map((taker) => taker.askedAt));
  const due = task?.dueAt === undefined ? '' : `since ${secondsAgo(task.dueAt, now)} s `;
  return `${which} waits ${due}for a worker, and the last one asked for work ${secondsAgo(askedAt, now)} s ago`;
}

function afterLoss({ attempt, task }: HoldUpFacts): string {
  const often =
    attempt > LOSSES_MANY ? ' So many losses have a cause: look at the logs of the workers.' : '';
  const start = task?.isInHand ? '' : ` If none is left, ${START_ONE}`;
  return `${BY_ITSELF}${start}${often}`;
}

/** Clocks of server and machine may differ. */
function secondsAgo(at: number, now: number): number {
  return Math.max(0, Math.round((now - at) / 1000));
}
