/**
 * A cycle: one child run with a slice of the goal's money. Prepared (its brief, its row in the store), started, waited
 * for, closed.
 * Invariants: never two at once; the child's own word is a hint, its outcome is read from the store; money is reserved
 * before, and what is left comes back with the outcome.
 */
import type { ActivityEffect } from '../state/effect.js';
import type { Goal, OpenCycle, OpenGoal } from '../state/goal/goal.js';
import type { PrepareCycleInput } from '../state/goal/payloads.js';
import type { Slice } from '../state/goal/terms.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { flying, nextId, start } from '../step/inflight.js';
import * as watch from '../step/watch-child.js';
import { reserve } from './money.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, tell } from './telling.js';
import { startShows } from '../step/showing.js';

/** The next cycle begins: its money is reserved, its brief is written. */
export function beginCycle(goal: OpenGoal, slice: Slice): Step<OpenGoal> {
  const n = goal.cycles + 1;
  const cycle: OpenCycle = {
    n,
    child: `${goal.runId}:c${n}`,
    agent: goal.agent,
    slice,
    stage: 'preparing',
    startedAt: goal.now,
    reads: goal.unread,
    due: false,
    ...beforeApproved(goal),
  };
  const { draft: _, sleep: __, ...rest } = goal;
  const reserved = reserve(rest, slice.maxCostMicroUsd + goal.terms.roundMicroUsd);
  const begun: OpenGoal = {
    ...reserved,
    cycle,
    unread: [],
    cycles: n,
    lastCycleStart: goal.now,
    tally: { ...goal.tally, step: n },
  };
  return prepare(begun, { cycle, register: true });
}

function beforeApproved(goal: OpenGoal): Pick<OpenCycle, 'before'> {
  const { proposed, sleep, lastCycleStart } = goal;
  if (proposed.approved === undefined || !follows(goal, 'approvedBrief')) return {};
  const started = lastCycleStart !== undefined && { lastCycleStart };
  return { before: { ...(sleep !== undefined && { sleep }), ...started } };
}

function approvedFor(goal: OpenGoal, n: number): Pick<PrepareCycleInput, 'approved'> {
  const { approved } = goal.proposed;
  if (approved?.n !== n || !follows(goal, 'approvedBrief')) return {};
  return { approved: approved.digest };
}

/** The brief that a cycle would get, for whoever approves it. */
export function draftCycle(goal: OpenGoal, slice: Slice): Step<OpenGoal> {
  const n = goal.cycles + 1;
  const child = `${goal.runId}:c${n}`;
  return prepare(goal, {
    cycle: { n, child, agent: goal.agent, slice, reads: goal.unread },
    register: false,
  });
}

interface Preparing {
  readonly cycle: Pick<OpenCycle, 'n' | 'child' | 'agent' | 'slice' | 'reads'>;
  readonly register: boolean;
}

function prepare(goal: OpenGoal, { cycle, register }: Preparing): Step<OpenGoal> {
  const { n, child, agent, slice, reads } = cycle;
  const { agentVersion, briefTokens, unavailableMs } = goal.terms;
  const input = (events: PrepareCycleInput['events']): PrepareCycleInput => ({
    ...ofOpenGoal(goal),
    n,
    child,
    agent,
    ...(agentVersion !== undefined && { agentVersion }),
    slice,
    briefTokens,
    reads,
    feedback: goal.feedback,
    checks: goal.checks,
    register,
    ...(register && approvedFor(goal, n)),
    unservedMs: unavailableMs,
    events,
  });
  return start(goal, 'prepare_cycle', (id, events): ActivityEffect => ({
    kind: 'prepare_cycle',
    id,
    input: input(events),
    limits: GOAL_STORE_LIMITS,
    summary: `cycle ${n}`,
  }));
}

/** Rule: a prepared child is started, and waited for. */
export function startChild(goal: OpenGoal): Ruling<OpenGoal> {
  const { cycle } = goal;
  if (cycle?.stage !== 'starting') return undefined;
  if (flying(goal, ['start_child'])) return 'hold';
  const { n, child, agent, slice, brief, input } = cycle;
  if (input === undefined || brief === undefined) return undefined;
  const told = tell(goal, {
    type: 'cycle_started',
    n,
    runId: child,
    agent,
    budget: slice,
    brief: brief.hash,
    briefTokens: brief.tokens,
  });
  const id = nextId(goal, 'start_child');
  const inflight = { ...goal.inflight, [id]: { kind: 'start_child' as const, cancelled: false } };
  const { input: _, ...rest } = cycle;
  return {
    run: {
      ...told,
      inflight,
      nextEffect: goal.nextEffect + 1,
      cycle: rest,
      ...(cycle.begun !== true && { feedback: [], steeredBy: [] }),
    },
    effects: [{ kind: 'start_child', id, child, input, ...startShows(goal, input) }],
  };
}

/** Fact: the child is there. Of one that was there before is looked at once whether it is the same. */
export function childStarted(
  goal: OpenGoal,
  { existed }: { readonly existed?: boolean },
): OpenGoal {
  const { cycle } = goal;
  if (cycle?.stage !== 'starting') return goal;
  return { ...goal, cycle: watch.started(cycle, existed === true) };
}

/** Fact: a child says that it has ended. */
export function childEnded(goal: Goal, child: string): Goal {
  const { cycle } = goal;
  return cycle?.child === child && cycle.stage !== 'preparing'
    ? { ...goal, cycle: watch.saidToEnd(cycle) }
    : goal;
}

/** Rule: a child that is open is looked at when it says so, and at growing intervals without a word. */
export function watchChild(goal: OpenGoal): Ruling<OpenGoal> {
  const { cycle } = goal;
  if (cycle?.stage === 'closing') return 'hold';
  if (cycle?.stage !== 'open') return undefined;
  if (cycle.due) return closeCycle(goal, cycle, false);
  if (cycle.look !== undefined) return undefined;
  const { run, effects, child } = watch.lookLater(goal, cycle);
  return { run: { ...run, cycle: child }, effects };
}

/** `last`: without an outcome now the child is lost. */
export function closeCycle(goal: OpenGoal, cycle: OpenCycle, last: boolean): Step<OpenGoal> {
  const untimed = watch.closing(goal, cycle);
  const { terms } = goal;
  const begun = start(
    { ...untimed.run, cycle: untimed.child },
    'close_cycle',
    (id, events): ActivityEffect => ({
      kind: 'close_cycle',
      id,
      input: {
        ...ofOpenGoal(goal),
        n: cycle.n,
        child: cycle.child,
        agent: cycle.agent,
        holdPlan: terms.approval.some(({ before }) => before === 'plan_change'),
        handoffTo: terms.handoffTo,
        maxAskedPauseMs: terms.maxAskedPauseMs,
        last,
        slice: cycle.slice,
        events,
      },
      limits: GOAL_STORE_LIMITS,
      summary: cycle.child,
    }),
  );
  return { run: begun.run, effects: [...untimed.effects, ...begun.effects] };
}
