/**
 * The end of a cycle: what it left, what it cost, and what of it counts in a row.
 * Invariant: each cycle that was started ends once, and its reserved money comes back.
 */
import type { ClosedCycle, OpenCycle, OpenGoal } from '../state/goal/goal.js';
import type { CloseCycleOutput, CycleOutcome } from '../state/goal/payloads.js';
import type { StopReason } from '../state/result.js';
import { follows } from '../step/changes.js';
import { goesOn } from '../step/watch-child.js';
import { planAdopted } from './plan-adopted.js';
import { plus, settle } from './money.js';
import { NO_COUNTERS } from './open.js';
import { beginPass } from './pass.js';
import { warnOf } from './telling.js';

/** The store gave no answer that helps: later, or, where no more is waited for, nobody knows. */
export function cycleNotClosed(goal: OpenGoal): OpenGoal {
  const { cycle, ending } = goal;
  if (cycle?.stage !== 'closing') return goal;
  if (ending?.overdue) return endCycle(goal, { ...failedOutcome('lost'), unconfirmed: true });
  return { ...goal, cycle: { ...cycle, stage: 'open', due: false } };
}

/** Fact: the child's outcome, or none yet. */
export function cycleClosed(goal: OpenGoal, _: string, output: CloseCycleOutput): OpenGoal {
  const { cycle } = goal;
  if (cycle?.stage !== 'closing') return goal;
  if (output.outcome === undefined) {
    return { ...goal, cycle: goesOn(cycle, output.waiting === true) };
  }
  return endCycle(applied(goal, cycle, output), output.outcome, output);
}

/** What the cycle has left in the memory, and what it proposes. */
function applied(goal: OpenGoal, cycle: OpenCycle, output: CloseCycleOutput): OpenGoal {
  const { memory, plan, held, planChange, stateHeld, evidenceDigest, evidenceCount } = output;
  const { handoff, pause, proposedDone, warnings = [] } = output;
  const next: OpenGoal = {
    ...goal,
    ...(memory !== undefined && { memory }),
    ...(stateHeld !== undefined && { stateHeld }),
    ...(evidenceDigest !== undefined && { evidenceDigest }),
    ...(evidenceCount !== undefined && { evidenceCount }),
    // A person's yes was about what was there before.
    persons: Object.fromEntries(
      Object.entries(goal.persons).filter(([, { answer }]) => answer === 'no'),
    ),
    proposed: {
      ...goal.proposed,
      ...(proposedDone && { done: true }),
      ...(handoff !== undefined && { handoff: { ...handoff, by: cycle.agent } }),
      ...(pause !== undefined && { pauseUntil: pause.until, pauseBecause: pause.because }),
      ...(held !== undefined && { plan: { ...held, by: cycle.agent } }),
    },
  };
  const changed =
    plan !== undefined && planChange !== undefined && memory !== undefined
      ? planAdopted(next, { memory, facts: plan, by: planChange.by })
      : { ...next, ...(plan !== undefined && { plan }) };
  return warnings
    .slice(0, 20)
    .reduce<OpenGoal>((told, text) => warnOf(told, warningOf(text), text), changed);
}

function warningOf(text: string): 'proposal_superseded' | 'evidence_unknown' {
  return text.startsWith('superseded') ? 'proposal_superseded' : 'evidence_unknown';
}

/** Cycles whose mean cost forecasts the next ones. */
const FORECAST_CYCLES = 5;

/** Endings of a cycle after which it counts as done its part. */
const SOUND: readonly StopReason[] = [
  'completed',
  'max_turns',
  'max_tool_calls',
  'max_cost',
  'max_input_tokens',
  'max_output_tokens',
];

export function endCycle(
  goal: OpenGoal,
  outcome: CycleOutcome,
  output?: CloseCycleOutput,
): OpenGoal {
  const { cycle, terms } = goal;
  if (cycle === undefined) return goal;
  const { stopReason, detail, counters, replied, doubt, unconfirmed } = outcome;
  const costMicroUsd = unconfirmed ? cycle.slice.maxCostMicroUsd : outcome.costMicroUsd;
  const reservedMicroUsd = cycle.slice.maxCostMicroUsd + terms.roundMicroUsd;
  const settled = settle(goal, { reservedMicroUsd, costMicroUsd, of: 'children' });
  const { cycle: _, ...billed } = settled;
  const newest = [...goal.money.newest, costMicroUsd].slice(-FORECAST_CYCLES);
  const rest = { ...billed, money: { ...billed.money, newest } };
  const since = goal.sinceReview;
  const ended: OpenGoal = {
    ...rest,
    ...(replied ? {} : givenBack(goal, cycle)),
    tally: { ...goal.tally, counters: plus(goal.tally.counters, { ...counters, costMicroUsd }) },
    streaks: streaksAfter(goal, outcome, output),
    sinceReview: {
      ...since,
      cycles: since.cycles + 1,
      turns: since.turns + counters.turnCount,
      costMicroUsd: since.costMicroUsd + costMicroUsd,
    },
    ...(unconfirmed && { unconfirmed: [...goal.unconfirmed, cycle.child].slice(-50) }),
  };
  const told = unconfirmed
    ? warnOf(ended, 'cycle_lost', `the end of ${cycle.child} cannot be confirmed`)
    : ended;
  const counted = doubt > 0 ? { ...told, streaks: { ...told.streaks, doubt } } : told;
  const closed: ClosedCycle = {
    n: cycle.n,
    runId: cycle.child,
    agent: cycle.agent,
    stopReason,
    ...(detail !== undefined && { detail }),
    costMicroUsd,
    ...(unconfirmed && { unconfirmed }),
  };
  const passing = beginPass(counted, 'cycle', { closed, progress: output?.progress ?? [] });
  if (goal.ending === undefined) return passing;
  // An ending only notes what the cycle brought.
  return { ...passing, pass: { ...passing.pass!, step: 'progress', toCheck: [] } };
}

/** What a cycle without a reply was told comes first in the next brief. */
function givenBack(goal: OpenGoal, { reads }: OpenCycle): Partial<OpenGoal> {
  const unread = [...reads, ...goal.unread];
  if (!follows(goal, 'returnedWords')) return { unread };
  return { unread, steeredBy: [...new Set([...reads.map(({ by }) => by), ...goal.steeredBy])] };
}

/** A cycle that was prepared and never started is none. */
export function dropCycle(goal: OpenGoal): OpenGoal {
  const { cycle, ...rest } = goal;
  if (cycle === undefined) return goal;
  const reservedMicroUsd = cycle.slice.maxCostMicroUsd + goal.terms.roundMicroUsd;
  const freed = settle(rest, { reservedMicroUsd, costMicroUsd: 0, of: 'children' });
  return { ...freed, cycles: goal.cycles - 1, unread: [...cycle.reads, ...goal.unread] };
}

function streaksAfter(
  { streaks }: OpenGoal,
  { stopReason, detail, replied, unserved }: CycleOutcome,
  output: CloseCycleOutput | undefined,
): OpenGoal['streaks'] {
  const byPerson = stopReason === 'interrupted';
  const sound = SOUND.includes(stopReason);
  const failed = byPerson ? streaks.failed : sound ? 0 : streaks.failed + 1;
  const block = output?.block;
  const blockedBy = block === undefined ? undefined : `${block.kind}:${block.step ?? ''}`;
  const { blockedBy: before, failedBecause: _, unserved: __, ...rest } = streaks;
  const because = sound || byPerson ? streaks.failedBecause : (detail ?? stopReason);
  return {
    ...rest,
    failed,
    ...(because !== undefined && { failedBecause: because.slice(0, 200) }),
    blocked: blockedBy === undefined ? 0 : blockedBy === before ? streaks.blocked + 1 : 1,
    ...(blockedBy !== undefined && { blockedBy }),
    starved: stopReason === 'max_cost' && !replied,
    ...(unserved && { unserved: detail ?? 'agent' }),
  };
}

export function failedOutcome(detail: string, unserved = false): CycleOutcome {
  return {
    status: 'failed',
    stopReason: 'failed',
    detail,
    costMicroUsd: 0,
    counters: NO_COUNTERS,
    replied: false,
    doubt: 0,
    ...(unserved && { unserved: true }),
  };
}
