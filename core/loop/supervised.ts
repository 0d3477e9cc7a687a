/**
 * Who supervises a run, from its opening and from each handoff on.
 * Invariants: a run that goes on under another agent keeps its supervisor unless that agent has one of its own; what was
 * looked at is not looked at again.
 */
import type { EventBody } from '../state/event.js';
import type { Frozen } from '../state/frozen.js';
import type { OpenRun, Run } from '../state/run.js';
import { follows } from '../step/changes.js';

/** Nothing of a run that nobody supervises. */
export function supervised(
  run: Pick<Run, 'rules' | 'supervision'>,
  { supervisor }: Frozen,
): Pick<Run, 'supervision'> {
  if (supervisor === undefined || !follows(run, 'supervision')) return {};
  const { looks, turns, seen } = run.supervision ?? { looks: 0, turns: 0, seen: 0 };
  const { on } = supervisor;
  return {
    supervision: {
      looks,
      turns,
      seen,
      ...(on !== undefined && { on: on satisfies readonly EventBody['type'][] }),
    },
  };
}

/** Of the agent that takes a run over. */
export function supervisorAfter(
  { frozen: { supervisor: before } }: OpenRun,
  { supervisor }: Frozen,
): Pick<Frozen, 'supervisor'> {
  const next = supervisor ?? before;
  return next === undefined ? {} : { supervisor: next };
}

/**
 * What supervision itself tells between two moments of a run calls for no look: a supervisor that watches warnings, or
 * questions, would otherwise look at its own for ever.
 */
export function unwatched(before: OpenRun, after: OpenRun): OpenRun {
  if (after.supervision === undefined) return after;
  const { due: _, ...supervision } = after.supervision;
  return {
    ...after,
    supervision: { ...supervision, ...(before.supervision?.due === true && { due: true }) },
  };
}
