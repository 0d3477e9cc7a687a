/** What a case has seen of a goal, in the terms of the comparison. */
import type { RunEvent } from '../../core/state/event.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { RunResult } from '../../core/state/result.js';
import type { SeenRequest } from '../engine.js';
import { ofType } from '../compare/trail.js';
import { occurrenceOf, type Moments, type Occurrence } from './moments.js';
import type { ReadStore } from './observe.js';

/** What the goal remembered at its end. */
export async function memoryOf(
  store: Pick<ReadStore, 'getBlob'>,
  tenant: string,
  { goal }: RunResult,
): Promise<GoalMemory | undefined> {
  if (goal?.memory === undefined) return undefined;
  const text = await store.getBlob(tenant, goal.memory);
  return text === null || text === undefined ? undefined : (JSON.parse(text) as GoalMemory);
}

/** By cycle: what the first request of its run says of the task. */
export function briefsOf(
  events: readonly RunEvent[],
  requests: readonly SeenRequest[],
): readonly string[] {
  return ofType(events, 'cycle_started').map(({ runId }) => {
    const first = requests.find((request) => request.runId === runId);
    return (first?.messages ?? []).map(({ text }) => text).join('\n');
  });
}

/** Told while a pass goes on; the seam of all of them is its checkpoint (goals.md §9). */
const OF_PASS: readonly RunEvent['type'][] = [
  'cycle_ended',
  'check_finished',
  'progress_noted',
  'goal_review',
];

export interface PassEvents {
  /** Whether something is to happen at this checkpoint. */
  expects(goalId: string): boolean;
  /** Keeps an event of a pass until its checkpoint; false: it is none, or this pass has none any more. */
  keeps(event: RunEvent): boolean;
  /** The checkpoint is stored, and the goal is about to hear of it. */
  saved(goalId: string): Promise<void>;
}

export function savedOf(moments: Moments): PassEvents {
  let kept: RunEvent[] = [];
  let count = 0;
  return {
    expects: (goalId) =>
      [...kept.map(occurrenceOf), checkpointOf(goalId, count + 1)].some((one) =>
        moments.expects(one),
      ),
    keeps({ type, ...rest }) {
      if (type === 'checkpoint_saved') return true;
      if (!OF_PASS.includes(type)) return false;
      kept.push({ type, ...rest } as RunEvent);
      return true;
    },
    async saved(goalId) {
      const events = kept;
      kept = [];
      count += 1;
      for (const event of events) await moments.reach(occurrenceOf(event));
      await moments.reach(checkpointOf(goalId, count));
    },
  };
}

/** Its event is told only when the goal has heard of it. */
function checkpointOf(runId: string, count: number): Occurrence {
  return { kind: 'event', event: 'checkpoint_saved', runId, id: `checkpoint_saved#${count}` };
}
