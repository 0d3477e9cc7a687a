/** What a goal has shown so far, as far as what must hold of it next depends on it. */
import type { RunEvent } from '../../../core/state/event.js';
import type { Goal } from '../../../core/state/goal/goal.js';

export interface GoalChecking {
  readonly nextSeq: number;
  /** Number of the open cycle. */
  readonly open?: number;
  /** Cycles so far. */
  readonly cycles: number;
  readonly cycleCostMicroUsd: number;
  readonly reviewCostMicroUsd: number;
  /** Something of a pass was told, and no checkpoint since. */
  readonly unsaved: boolean;
  readonly asks: readonly string[];
  readonly stop?: Extract<RunEvent, { type: 'stop' }>;
  readonly ended: boolean;
  /** What people said, by its id: unread, in the brief of the cycle with this number, or read. */
  readonly said: ReadonlyMap<string, 'unread' | 'read' | number>;
}

export function startGoalChecking(): GoalChecking {
  return {
    nextSeq: 0,
    cycles: 0,
    cycleCostMicroUsd: 0,
    reviewCostMicroUsd: 0,
    unsaved: false,
    asks: [],
    ended: false,
    said: new Map(),
  };
}

/** The state after an event. */
export function takenEvent(state: GoalChecking, event: RunEvent): GoalChecking {
  const next = { ...state, nextSeq: event.stamp.seq + 1 };
  switch (event.type) {
    case 'cycle_started':
      return { ...next, open: event.n, cycles: Math.max(state.cycles, event.n) };
    case 'cycle_ended': {
      const { open: _, ...rest } = next;
      const cycleCostMicroUsd = state.cycleCostMicroUsd + event.costMicroUsd;
      return { ...rest, cycleCostMicroUsd, unsaved: true };
    }
    case 'goal_review': {
      const reviewCostMicroUsd = state.reviewCostMicroUsd + (event.costMicroUsd ?? 0);
      return { ...next, reviewCostMicroUsd, unsaved: true };
    }
    case 'check_finished':
    case 'progress_noted':
      return { ...next, unsaved: true };
    case 'checkpoint_saved':
      return { ...next, unsaved: false };
    case 'approval_requested':
    case 'input_request':
      return { ...next, asks: [...state.asks, event.askId] };
    case 'approval_resolved':
    case 'approval_withdrawn':
    case 'input_provided':
      return { ...next, asks: state.asks.filter((id) => id !== event.askId) };
    case 'stop':
      return { ...next, stop: event };
    case 'goal_result':
      return { ...next, ended: true };
    default:
      return next;
  }
}

/** Follows what people said through the goal's state: (g8). */
export function takenGoal(
  state: GoalChecking,
  goal: Goal,
): { readonly state: GoalChecking; readonly violations: readonly string[] } {
  const unread = new Set(goal.unread.map(({ id }) => id));
  const reads = new Set(goal.cycle?.reads.map(({ id }) => id));
  if (state.said.size === 0 && unread.size === 0 && reads.size === 0) {
    return { state, violations: [] };
  }
  const said = new Map(state.said);
  const violations: string[] = [];
  for (const id of [...unread, ...reads]) {
    if (said.get(id) === 'read') violations.push(`(g8) the message ${id} was read before`);
    said.set(id, reads.has(id) ? goal.cycle!.n : 'unread');
  }
  for (const [id, place] of said) {
    if (unread.has(id) || reads.has(id) || place === 'read') continue;
    // It was in no brief when it went: nobody can have read it.
    if (place === 'unread' && !goal.unprocessed.includes(id)) {
      violations.push(`(g8) the message ${id} is lost`);
    }
    said.set(id, 'read');
  }
  return { state: { ...state, said }, violations };
}
