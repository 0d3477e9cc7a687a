/** What a run waits for, since when, and what to do about it: for show, list and doctor. */
import type { Wait } from '../../client/index.js';
import { sandboxQueueOf } from '../../authoring/tool-queues.js';
import { plural } from '../../pure/plural.js';
import { dateTimeText, durationText, relativeText, timeText } from './amounts.js';
import { inert } from './inert.js';
import { NEWER_BACKUP, NEWER_BACKUP_OR_WAIT } from '../../store/newer-backup.js';

const MESSAGE_CHARS_MAX = 400;

/** `The run waits for the store since 2026-11-22 12:20:03 +01:00 (4 min), for callModel, tried 7 times: …` */
export function waitLine(wait: Wait, now: number): string {
  const { for: what, since, activity, attempts, message, nextAt } = wait;
  const when = `${dateTimeText(since)} (${durationText(Math.max(0, now - since))})`;
  const tried = attempts === 0 ? '' : `, tried ${plural(attempts, 'time')}`;
  const how = activity === undefined ? '' : `, for ${inert(activity)}${tried}`;
  const why = message === undefined ? '' : `: ${inert(message, MESSAGE_CHARS_MAX)}`;
  const next = nextAt === undefined || nextAt <= now ? '' : `, next ${tryText(nextAt, now)}`;
  return `The run waits for ${inert(what)} since ${when}${how}${next}${why}`;
}

/** The next action, where the store was read while Temporal still tells of the attempt that did not reach it. */
export function mendWaitNow(wait: Wait, now: number): string {
  if (wait.for !== 'the store') return mendWait(wait.for, wait.activity);
  const when =
    wait.nextAt === undefined || wait.nextAt <= now ? '' : `, ${tryText(wait.nextAt, now)}`;
  return `The store answers this command: the run goes on with its next try${when}, unless its workers do not reach the store.`;
}

/** `at 12:20:03 (in 24.0 s)` */
function tryText(at: number, now: number): string {
  return `at ${timeText(at)} (${relativeText(at, now)})`;
}

const OF_QUEUE = 'a worker of the task queue ';
/** How the queue of calls in a sandbox ends. */
const OF_SANDBOX = sandboxQueueOf('');

/** The next action of whoever operates it. `activity`: what waits, where that is known. */
export function mendWait(what: string, activity?: string): string {
  switch (what) {
    case 'a worker':
      return 'Start a worker on its task queue: holdfast worker (or holdfast dev).';
    case 'the store':
      return 'Bring the store back, so that the workers reach it.';
    case 'the right store':
      return 'Give its workers the store that the run was begun with (HOLDFAST_STORE). Where that one is gone, or a restored copy lacks the run, see docs/operate/postgres.md in the package holdfast.';
    case 'the transcript':
      return activity === 'close_run' ? NEWER_BACKUP_OR_WAIT : NEWER_BACKUP;
    default:
      if (what.startsWith(OF_QUEUE)) {
        const queue = inert(what.slice(OF_QUEUE.length));
        if (queue.endsWith(OF_SANDBOX))
          return 'Start a worker that isolates them: holdfast worker --only sandbox (or holdfast worker, which serves everything).';
        return `Start a worker of that queue: holdfast worker --only activities --queue ${queue}.`;
      }
      return `Start ${inert(what)}.`;
  }
}
