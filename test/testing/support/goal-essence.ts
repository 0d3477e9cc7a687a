/** A goal without what may be otherwise when workers die and segments change: times, and whose requests were lost. */
import type { Observation } from '../../../evaluation/engine.js';

/** `isLost`: the reply of a request was lost, which is billed with its bound. */
export function essenceOf(seen: Observation, isLost = false) {
  const { result, violations, effects, goal, events } = seen;
  const of = (type: string) => events.filter((event) => event.type === type);
  return {
    violations,
    effects,
    stop: [result?.stopReason, result?.detail],
    cost: isLost || result?.costMicroUsd,
    cycles: result?.goal?.cycles,
    reviews: of('goal_review').length,
    checks: of('check_finished').map((event) => 'value' in event && event.value),
    ended: of('cycle_ended').map((event) => 'n' in event && [event.n, 'costMicroUsd' in event]),
    steered: of('goal_steered').length,
    approvals: of('approval_requested').length,
    read: goal?.briefs.map((brief) => brief.includes('Start with the oldest.')),
    plan: goal?.memory?.plan,
    state: Object.keys(goal?.memory?.state ?? {}),
    notes: goal?.memory?.notes.map(({ text }) => text),
    children: goal?.memory?.children.map(({ costMicroUsd, ...child }) => ({
      ...child,
      costMicroUsd: isLost || costMicroUsd,
    })),
    evidence: goal?.memory?.evidence,
  };
}
