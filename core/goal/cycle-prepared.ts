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
    ? asBegun(goal, prepared, output)
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

/** What was approved is not there any more: people are shown the new brief. */
function askedAnew(goal: OpenGoal, { n, before = {} }: OpenCycle): OpenGoal {
  const text = `the brief of cycle ${n} is not the one that was approved; the new one is asked about`;
  const told = warnOf(goal, 'brief_changed', text);
  const { lastCycleStart: _, ...dropped } = dropCycle(told);
  const tally = { ...goal.tally, step: dropped.cycles };
  return { ...dropped, ...before, tally, approvalStale: true };
}

/** What people said since then stands in no brief yet. */
function asBegun(
  goal: OpenGoal,
  cycle: OpenCycle,
  { unheard }: Pick<PrepareCycleOutput, 'unheard'>,
): OpenGoal {
  // A worker of an older release does not say: heard twice is better than never.
  const isUnheard = (place: number): boolean => unheard?.includes(place) ?? true;
  const reads = cycle.reads.filter((_, place) => !isUnheard(place));
  const unread = [...cycle.reads.filter((_, place) => isUnheard(place)), ...goal.unread];
  const steeredBy = [...new Set(unread.map(({ by }) => by))];
  return { ...goal, cycle: { ...cycle, begun: true, reads }, unread, steeredBy };
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
