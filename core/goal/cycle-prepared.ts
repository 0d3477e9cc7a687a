/**
 * The brief of a cycle is written, or cannot be.
 * Invariants: a cycle whose brief people approved begins with that brief alone; a cycle that ran before a reset was told
 * what its stored brief has, and nothing else.
 */
import type { Failure } from '../state/failure.js';
import type { OpenCycle, OpenGoal } from '../state/goal/goal.js';
import type { PrepareCycleOutput } from '../state/goal/payloads.js';
import { follows } from '../step/changes.js';
import { dropCycle, endCycle, failedOutcome } from './cycle-end.js';
import { warnOf } from './telling.js';

/** Fact: a brief is written, and the child's row with it. */
export function cyclePrepared(goal: OpenGoal, _: string, output: PrepareCycleOutput): OpenGoal {
  const { cycle } = goal;
  const { brief, start: input, taken, begun } = output;
  if (cycle?.stage !== 'preparing') {
    const { hash, digest } = brief;
    return { ...goal, draft: { n: goal.cycles + 1, digest, hash } };
  }
  if (taken) {
    const warned = warnOf(goal, 'child_id_taken', `${cycle.child} belongs to another start`);
    return endCycle(warned, failedOutcome('child_id_taken'));
  }
  if (begun !== true && !isApproved(goal, cycle, brief)) return askedAnew(goal, cycle);
  const { hash, digest, tokens } = brief;
  const { before: _before, ...rest } = cycle;
  const prepared: OpenCycle = {
    ...rest,
    stage: 'starting',
    // It ran before a reset: its word has come already.
    due: begun === true,
    brief: { hash, digest, tokens },
    input,
  };
  return begun === true && follows(goal, 'heardWhenBegun')
    ? asBegun(goal, prepared, output.unheard ?? [])
    : { ...goal, cycle: prepared };
}

/** Where nobody is asked, any brief is. */
function isApproved(
  { proposed, ...goal }: OpenGoal,
  { n }: OpenCycle,
  { digest }: PrepareCycleOutput['brief'],
): boolean {
  const { approved } = proposed;
  if (approved?.n !== n || !follows(goal, 'approvedBrief')) return true;
  return approved.digest === digest;
}

/** A worker of another release wrote the brief: people are shown the new one. */
function askedAnew(goal: OpenGoal, { before = {} }: OpenCycle): OpenGoal {
  const { lastCycleStart: _, ...dropped } = dropCycle(goal);
  const tally = { ...goal.tally, step: dropped.cycles };
  return { ...dropped, ...before, tally, approvalStale: true };
}

/** What people said since then stands in no brief yet. */
function asBegun(goal: OpenGoal, cycle: OpenCycle, unheard: readonly number[]): OpenGoal {
  const isUnheard = (_: unknown, place: number): boolean => unheard.includes(place);
  const { reads } = cycle;
  return {
    ...goal,
    cycle: { ...cycle, begun: true, reads: reads.filter((_, place) => !isUnheard(_, place)) },
    unread: [...reads.filter(isUnheard), ...goal.unread],
  };
}

export function cycleNotPrepared(goal: OpenGoal, _: string, failure: Failure): OpenGoal {
  if (goal.cycle?.stage === 'preparing')
    return endCycle(goal, failedOutcome(failure.code, isUnserved(failure)));
  // A brief that nobody can write is approved by nobody: the goal ends (rows.ts).
  const { message } = failure;
  return { ...goal, passed: true, streaks: { ...goal.streaks, unserved: message.slice(0, 200) } };
}

function isUnserved({ code }: Failure): boolean {
  return code === 'ToolUnavailable' || code === 'UnknownAgent' || code === 'NotServed';
}
