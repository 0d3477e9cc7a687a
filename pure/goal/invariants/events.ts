/** What must hold of each event of a goal. */
import type { RunEvent } from '../../../core/state/event.js';
import type { GoalChecking } from './track.js';

type GoalEventPredicate = (state: GoalChecking, event: RunEvent) => string | undefined;

export const GOAL_EVENT_PREDICATES: readonly GoalEventPredicate[] = [
  seqHasNoGap,
  goalStartedIsFirst,
  endIsOnceAndLast,
  oneCycleAtOnce,
  eachCycleEndsOnce,
  passesAreSaved,
  completedAtRest,
  resultIsConsistent,
];

function seqHasNoGap(state: GoalChecking, event: RunEvent): string | undefined {
  return event.stamp.seq === state.nextSeq ? undefined : `expected seq ${state.nextSeq}`;
}

function goalStartedIsFirst(_: GoalChecking, event: RunEvent): string | undefined {
  const first = event.stamp.seq === 0;
  return first === (event.type === 'goal_started')
    ? undefined
    : 'goal_started is first, only first';
}

/** (g5) */
function endIsOnceAndLast(state: GoalChecking, event: RunEvent): string | undefined {
  if (state.ended) return '(g5) nothing follows goal_result';
  if (event.type === 'goal_result' && state.stop === undefined)
    return '(g5) goal_result without a stop';
  if (event.type === 'stop' && state.stop !== undefined) return '(g5) a second stop';
  return undefined;
}

/** (g1) */
function oneCycleAtOnce(state: GoalChecking, event: RunEvent): string | undefined {
  if (event.type !== 'cycle_started') return undefined;
  if (state.stop !== undefined) return '(g1) a cycle starts behind the stop';
  if (state.open !== undefined) return `(g1) cycle ${state.open} is open`;
  return event.n === state.cycles + 1
    ? undefined
    : `(g1) cycle ${event.n} follows cycle ${state.cycles}`;
}

/** (g10) */
function eachCycleEndsOnce(state: GoalChecking, event: RunEvent): string | undefined {
  if (event.type === 'cycle_ended' && event.n !== state.open) {
    return `(g10) an end of cycle ${event.n}, open is ${state.open ?? 'none'}`;
  }
  return event.type === 'stop' && state.open !== undefined
    ? `(g10) cycle ${state.open} has no end`
    : undefined;
}

/** Ends that cut a pass short. */
const CUT_SHORT: readonly string[] = ['aborted', 'interrupted', 'timeout', 'failed'];

/** (g6) */
function passesAreSaved(state: GoalChecking, event: RunEvent): string | undefined {
  if (!state.unsaved) return undefined;
  const behind =
    event.type === 'cycle_started' ||
    event.type === 'goal_sleeping' ||
    (event.type === 'stop' && !CUT_SHORT.includes(event.reason));
  return behind ? '(g6) no checkpoint behind the pass' : undefined;
}

/** (g9) */
function completedAtRest({ asks }: GoalChecking, event: RunEvent): string | undefined {
  return event.type === 'stop' && event.reason === 'completed' && asks.length > 0
    ? `(g9) completed while ${asks.join(', ')} is open`
    : undefined;
}

/** (g5), (g7) */
function resultIsConsistent(state: GoalChecking, event: RunEvent): string | undefined {
  if (event.type !== 'goal_result') return undefined;
  const { result } = event;
  if (result.completed !== (result.stopReason === 'completed'))
    return '(g5) completed is not the reason';
  if (result.stopReason !== state.stop?.reason)
    return `(g5) stop said ${state.stop?.reason ?? 'nothing'}`;
  if (result.trace.events !== event.stamp.seq + 1)
    return `(g5) ${result.trace.events} events in trace`;
  if (result.goal?.cycles !== state.cycles)
    return `(g10) ${result.goal?.cycles} cycles in the result, ${state.cycles} were started`;
  const told = state.cycleCostMicroUsd + state.reviewCostMicroUsd;
  if (result.costMicroUsd < told)
    return `(g7) the result costs ${result.costMicroUsd}, cycles and reviews ${told}`;
  return result.counters.costMicroUsd === result.costMicroUsd
    ? undefined
    : `(g7) the counters say ${result.counters.costMicroUsd}, the result ${result.costMicroUsd}`;
}
