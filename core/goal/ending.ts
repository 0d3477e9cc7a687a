/**
 * The way out of a goal.
 * Invariants: the first ending stands; nothing new starts behind it; an open cycle is cancelled, interrupted or awaited,
 * and its stored outcome counts; `stop`, then `goal_result`, each exactly once, last.
 */
import { refOf, type ActivityEffect } from '../state/effect.js';
import type { EndingRow, Goal, OpenCycle, OpenGoal } from '../state/goal/goal.js';
import { UNPROCESSED_MAX, type Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import {
  cancelAll,
  cancelTimer,
  flying,
  nextId,
  only,
  start,
  startTimer,
  WORK,
} from '../step/inflight.js';
import { fitsOneBatch } from '../step/outbox.js';
import { withdrawGoalAsks } from './asks.js';
import { closeCycle } from './cycle.js';
import { dropCycle } from './cycle-end.js';
import { goalResult } from './result.js';
import { GOAL_STORE_LIMITS, tell } from './telling.js';

export function end<G extends Goal>(goal: G, row: EndingRow): G {
  return goal.ending === undefined ? { ...goal, ending: row } : goal;
}

/** Rule: one step towards the end. */
export function closing(goal: OpenGoal): Ruling<OpenGoal> {
  const { ending } = goal;
  if (ending === undefined) return undefined;
  if (ending.result !== undefined) return storeLast(goal);
  const cancelled = cancelAll(goal, ['run_check', 'ask_judge', 'find_tick']);
  if (cancelled.effects.length > 0) return cancelled;
  const withdrawn = withdrawGoalAsks(goal, {
    which: () => true,
    reason: `the goal ends: ${ending.reason}`,
  });
  if (withdrawn.run !== goal) return withdrawn;
  // One at a time writes the memory.
  if (flying(goal, ['take_message'])) return 'hold';
  if (goal.cycle !== undefined) return closeOpenCycle(goal, goal.cycle);
  if (goal.pass !== undefined || flying(goal, [...WORK, 'flush'])) return 'hold';
  return announce(goal);
}

/** Rule: of the pass that an ending meets only the progress and the checkpoint are left. */
export function cutShort(goal: OpenGoal): Ruling<OpenGoal> {
  const { pass, ending } = goal;
  if (ending === undefined || pass === undefined || goal.cycle !== undefined) return undefined;
  if (pass.step === 'progress' || pass.step === 'checkpoint') return undefined;
  if (flying(goal, ['run_check', 'ask_judge'])) return undefined;
  const next = pass.step === 'validate' ? 'progress' : 'checkpoint';
  const { asking: _, answered: __, ...rest } = pass;
  return only({ ...goal, pass: { ...rest, step: next, toCheck: [], checking: {} } });
}

function closeOpenCycle(goal: OpenGoal, cycle: OpenCycle): Ruling<OpenGoal> {
  const { ending } = goal;
  if (ending === undefined || cycle.stage === 'closing') return 'hold';
  if (cycle.stage === 'preparing') return 'hold';
  if (cycle.stage === 'starting') {
    if (flying(goal, ['start_child'])) return 'hold';
    // What ran before a reset has cost what it has cost.
    return only(cycle.due ? { ...goal, cycle: { ...cycle, stage: 'open' } } : dropCycle(goal));
  }
  if (ending.row === 'stop' && ending.looked !== true) {
    return closeCycle({ ...goal, ending: { ...ending, looked: true } }, cycle, false);
  }
  // Its own outcome comes first, and nothing is told to a run that turns out to be a stranger's.
  if (cycle.due) return closeCycle(goal, cycle, ending.overdue === true);
  if (ending.told !== true) return tellChild(goal, cycle);
  return ending.overdue === true ? giveUp(goal, cycle) : 'hold';
}

/** Nobody waits for it any more, and nothing goes on behind the end of its goal. */
function giveUp(goal: OpenGoal, cycle: OpenCycle): Step<OpenGoal> {
  const closed = closeCycle(goal, cycle, true);
  const told = { kind: 'tell_child', child: cycle.child, message: 'cancel' } as const;
  return { run: closed.run, effects: [...closed.effects, told] };
}

/** Cancel: cancelled. Deadline: interrupted. A stop interrupts a child that waits, and awaits any other. */
function tellChild(goal: OpenGoal, cycle: OpenCycle): Step<OpenGoal> {
  const ending = goal.ending!;
  const timed = startTimer(goal, {
    at: goal.now + goal.terms.closeMs,
    summary: 'end of the last cycle',
  });
  const told: OpenGoal = {
    ...timed.run,
    ending: { ...ending, told: true, timer: nextId(goal, 'timer') },
  };
  const message = messageFor(ending, cycle);
  if (message === undefined) return { run: told, effects: timed.effects };
  return {
    run: told,
    effects: [...timed.effects, { kind: 'tell_child', child: cycle.child, message }],
  };
}

function messageFor({ row }: EndingRow, cycle: OpenCycle): 'cancel' | 'interrupt' | undefined {
  if (row === 'cancel') return 'cancel';
  if (row === 'deadline') return 'interrupt';
  return row === 'stop' && cycle.waiting ? 'interrupt' : undefined;
}

function announce(goal: OpenGoal): Step<OpenGoal> {
  const { reason, detail } = goal.ending!;
  const timers = Object.entries(goal.inflight).filter(([, entry]) => entry.kind === 'timer');
  const untimed = timers.reduce<Step<OpenGoal>>((step, [id]) => {
    const cancelled = cancelTimer(step.run, id);
    return { run: cancelled.run, effects: [...step.effects, ...cancelled.effects] };
  }, only(goal));
  const stopped = tell(unheard(untimed.run), {
    type: 'stop',
    reason,
    ...(detail !== undefined && { detail }),
  });
  const result = goalResult(stopped);
  const told = tell(stopped, { type: 'goal_result', result });
  return {
    run: { ...told, ending: { ...goal.ending!, result } },
    effects: untimed.effects,
  };
}

/** What came too late is named in the result, and its sender is told. */
export function unheard<G extends Goal>(goal: G): G {
  const late = [
    ...goal.messages.map(({ message, ticket }) => ({ name: message.type, ticket })),
    ...goal.unjudged.map(({ message, ticket }) => ({ name: message?.type ?? 'decision', ticket })),
  ];
  if (late.length === 0) return goal;
  const verdict = { accepted: false, reason: 'goal_ended', message: 'the goal is ending' } as const;
  const tickets = late.flatMap(({ ticket }) => (ticket === undefined ? [] : [{ ticket, verdict }]));
  return {
    ...goal,
    messages: [],
    unjudged: [],
    verdicts: [...goal.verdicts, ...tickets],
    unprocessed: [...goal.unprocessed, ...late.map(({ name }) => name)].slice(0, UNPROCESSED_MAX),
  };
}

/** Everything is in the store before the goal is over. */
function storeLast(goal: OpenGoal): Ruling<OpenGoal> {
  const { result } = goal.ending!;
  if (goal.outbox.carrier !== undefined || flying(goal, WORK)) return 'hold';
  if (goal.outbox.events.length > 0 || !fitsOneBatch(goal)) return flushGoal(goal);
  return only({ ...goal, final: { kind: 'result', result: { ...result!, ...late(goal) } } });
}

/** For the result: what arrived too late to be in it. */
export function late({ unprocessed }: Goal): { readonly unprocessed?: readonly string[] } {
  return unprocessed.length === 0 ? {} : { unprocessed };
}

export function flushGoal<G extends Goal>(goal: G): Step<G> {
  return start(goal, 'flush', (id, events): ActivityEffect => ({
    kind: 'flush',
    id,
    input: { v: 1, run: refOf(goal), events },
    limits: GOAL_STORE_LIMITS,
    summary: `${events.length} events`,
  }));
}
