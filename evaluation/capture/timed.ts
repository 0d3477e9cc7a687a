/**
 * How much workflow time each activity of a recorded run took. A case has no workers that are busy: what a run waited for
 * them is part of the answer that it waited for, so time ends the case where time ended the run.
 */
import type { Frozen } from '../../core/state/frozen.js';
import { timeOf, typeOf, type HistoryEvent } from '../../recording/history.js';
import type { Heard } from './heard.js';

/** Of an activity: its places in the whole chain of histories. */
interface Spent {
  readonly kind: string;
  readonly from: number;
  readonly to: number | undefined;
  /** It ran within the task that decided, so long, ms. */
  readonly withinMs?: number;
}

interface Untimed<Activity extends Spent> {
  readonly events: readonly HistoryEvent[];
  readonly activities: readonly Activity[];
  readonly heard: readonly Heard[];
  readonly counts: Frozen['settings']['timeoutCounts'];
}

/** The activities with their `tookMs`, in ms, and when the run heard of their ends, in ms since epoch. */
export function timed<Activity extends Spent>({
  events,
  activities,
  heard,
  counts,
}: Untimed<Activity>): readonly (Activity & {
  readonly tookMs: number;
  readonly heardAt?: number;
})[] {
  const tasks = events.flatMap((event, place) =>
    typeOf(event) === 'WORKFLOW_TASK_STARTED' ? [{ place, at: timeOf(event) }] : [],
  );
  const began = timeOf(events[0] as HistoryEvent);
  const heardAt = (place: number): number => tasks.find((task) => task.place > place)?.at ?? began;
  const decidedAt = (place: number): number =>
    tasks.findLast((task) => task.place < place)?.at ?? began;
  const endOf = ({ from, to = from, withinMs }: Spent): number =>
    withinMs === undefined ? heardAt(to) : decidedAt(from) + withinMs;
  /** A model call takes all time since the answer before it; time of people only where that counts. */
  const askedSince = ({ from }: Spent): number => {
    const answers = activities.filter(
      ({ kind, to = Infinity }) => (kind === 'call_model' || kind === 'execute_tool') && to < from,
    );
    const said = counts === 'wall' ? [] : heard.filter(({ place }) => place < from);
    return Math.max(began, ...answers.map(endOf), ...said.map((one) => one.at));
  };
  return activities.map((activity) => {
    if (activity.to === undefined) return { ...activity, tookMs: 0 };
    if (activity.withinMs !== undefined) {
      return { ...activity, tookMs: activity.withinMs, heardAt: endOf(activity) };
    }
    const since = activity.kind === 'call_model' ? askedSince(activity) : decidedAt(activity.from);
    const at = endOf(activity);
    return { ...activity, tookMs: Math.max(0, at - since), heardAt: at };
  });
}
