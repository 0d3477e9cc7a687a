/** The checker of goals itself: what it lets pass, and that it sees each kind of damage. */
import type { Effect } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Goal } from '../../core/state/goal/goal.js';
import type { GoalMemory, PlanStep } from '../../core/state/goal/memory.js';
import type { Run, Step } from '../../core/state/run.js';
import {
  checkCycleStep,
  checkGoalEnd,
  checkGoalEvent,
  checkGoalStep,
  startGoalChecking,
} from '../../pure/goal/invariants.js';
import { count, ScriptedGoal } from '../core/goal/shell.js';

function ended(): ScriptedGoal {
  const goal = new ScriptedGoal({ checks: { open: [count(12), count(7), count(0, [0])] } });
  goal.run();
  return goal;
}

function violationsOf(events: readonly RunEvent[]): readonly string[] {
  let state = startGoalChecking();
  return events.flatMap((event) => {
    const checked = checkGoalEvent(state, event);
    state = checked.state;
    return checked.violations;
  });
}

/** The same stream without a gap in its numbers. */
function renumbered(events: readonly RunEvent[]): readonly RunEvent[] {
  return events.map((event, seq) => ({ ...event, stamp: { ...event.stamp, seq } }));
}

type Damage = (events: readonly RunEvent[]) => readonly RunEvent[];

const without =
  (type: RunEvent['type']): Damage =>
  (events) =>
    renumbered(events.filter((event) => event.type !== type));

const changed =
  (type: RunEvent['type'], change: object): Damage =>
  (events) =>
    events.map((event) => (event.type === type ? ({ ...event, ...change } as RunEvent) : event));

const resultWith =
  (change: object): Damage =>
  (events) =>
    events.map((event) =>
      event.type === 'goal_result' ? { ...event, result: { ...event.result, ...change } } : event,
    );

const beforeStop =
  (body: object): Damage =>
  (events) => {
    const place = events.findIndex(({ type }) => type === 'stop');
    const added = { ...body, stamp: events[place]!.stamp } as RunEvent;
    return renumbered(events.toSpliced(place, 0, added));
  };

test('a good goal has no violation', () => {
  const { events } = ended();
  expect(events.at(-1)?.type).toBe('goal_result');
  expect(violationsOf(events)).toEqual([]);
});

test.each<[string, Damage, RegExp]>([
  ['a missing event', (events) => events.toSpliced(2, 1), /expected seq 2/],
  ['no goal_started', without('goal_started'), /goal_started is first/],
  ['a cycle that starts while one is open (g1)', without('cycle_ended'), /\(g1\) cycle 1 is open/],
  [
    'a cycle that is left out (g1)',
    (events) =>
      renumbered(
        events.filter(
          (event) =>
            !(event.type === 'cycle_started' && event.n === 1) &&
            !(event.type === 'cycle_ended' && event.n === 1),
        ),
      ),
    /\(g1\) cycle 2 follows cycle 0/,
  ],
  ['no stop (g5)', without('stop'), /\(g5\) goal_result without a stop/],
  [
    'two stops (g5)',
    (events) => {
      const stop = events.find(({ type }) => type === 'stop')!;
      return renumbered(events.toSpliced(-1, 0, stop));
    },
    /\(g5\) a second stop/,
  ],
  [
    'something behind the result (g5)',
    (events) => renumbered([...events, { ...events[1]! }]),
    /\(g5\) nothing follows/,
  ],
  [
    'another reason than the stop said (g5)',
    changed('stop', { reason: 'failed' }),
    /\(g5\) stop said failed/,
  ],
  ['a pass without checkpoint (g6)', without('checkpoint_saved'), /\(g6\) no checkpoint/],
  ['a result that costs less than its cycles (g7)', resultWith({ costMicroUsd: -1 }), /\(g7\)/],
  [
    'counters that cost something else (g7)',
    (events) => {
      const last = events.at(-1)!;
      if (last.type !== 'goal_result') return events;
      const counters = { ...last.result.counters, costMicroUsd: 9_999_999 };
      return resultWith({ counters })(events);
    },
    /\(g7\) the counters say 9999999/,
  ],
  [
    'a completed goal with an open ask (g9)',
    beforeStop({ type: 'approval_requested', askId: 'g:1' }),
    /\(g9\) completed while g:1 is open/,
  ],
  [
    'a cycle that ends twice (g10)',
    (events) => {
      const place = events.findIndex(({ type }) => type === 'cycle_ended');
      return renumbered(events.toSpliced(place, 0, events[place]!));
    },
    /\(g10\) an end of cycle 1, open is none/,
  ],
  [
    'a cycle without an end (g10)',
    (events) => {
      const place = events.findLastIndex(({ type }) => type === 'cycle_ended');
      return renumbered(events.toSpliced(place, 1));
    },
    /\(g10\) cycle 2 has no end/,
  ],
])('%s is seen', (_, damage, violation) => {
  expect(violationsOf(damage(ended().events)).join('\n')).toMatch(violation);
});

function stepViolations(before: Goal, after: Goal, effects: readonly Effect[] = []) {
  const step: Step<Goal> = { run: after, effects };
  return checkGoalStep(startGoalChecking(), before, step).violations.join('\n');
}

const START = { kind: 'start_child', id: 's', child: 'g:c1', input: {} } as unknown as Effect;
const steer = { id: 'm1', text: { text: 'Hurry.' }, by: 'ann', proven: false };

function alive(): Goal {
  const goal = new ScriptedGoal({ checks: { open: [count(12), count(7), count(0, [0])] } });
  goal.run(({ goal: one }) => one.cycle?.stage === 'open');
  return goal.goal;
}

test('a good step has no violation', () => {
  expect(stepViolations(alive(), alive())).toBe('');
});

test.each<[string, (goal: Goal) => readonly [Goal, Goal, (readonly Effect[])?], RegExp]>([
  ['two cycles at once (g1)', (goal) => [goal, goal, [START, START]], /\(g1\) two cycles/],
  ['a cycle beside an open one (g1)', (goal) => [goal, goal, [START]], /\(g1\) cycle 1 is open/],
  [
    'a start behind the end (g1)',
    (goal) => {
      const { cycle: _, ...rest } = goal;
      const over: Goal = { ...rest, ending: { row: 'stop', reason: 'interrupted' } };
      return [over, over, [START]];
    },
    /\(g1\) start_child behind the end/,
  ],
  [
    'a cycle beyond the budget (g2)',
    (goal) => {
      const { cycle: _, ...rest } = goal;
      const poor = { ...rest, money: { ...goal.money, reservedMicroUsd: 2_000_000 } };
      return [poor, poor, [START]];
    },
    /\(g2\) 0 spent and 2000000 reserved of 1000000/,
  ],
  [
    'done without its condition (g3)',
    (goal) => {
      const { cycle: _, ...rest } = goal;
      return [rest, { ...rest, ending: { row: 'done', reason: 'completed' } }];
    },
    /\(g3\) done, and its conditions do not hold/,
  ],
  [
    'done by a check of an earlier cycle (g3)',
    (goal) => {
      const { cycle: _, ...rest } = goal;
      const checks = { open: { ...goal.checks['open']!, known: true, held: [0], cycle: 0 } };
      const stale = { ...rest, checks, cycles: 1 };
      return [stale, { ...stale, ending: { row: 'done', reason: 'completed' } }];
    },
    /\(g3\)/,
  ],
  [
    'money that does not add up (g7)',
    (goal) => [goal, { ...goal, money: { ...goal.money, spentMicroUsd: 1 } }],
    /\(g7\) 1 spent, parts sum up to 0/,
  ],
  [
    'a message that is lost (g8)',
    (goal) => [
      { ...goal, unread: [steer] },
      { ...goal, unread: [] },
    ],
    /\(g8\) the message m1 is lost/,
  ],
  [
    'handed off while an effect is in doubt (g9)',
    (goal) => {
      const { cycle: _, ...rest } = goal;
      const doubt = { ...rest, streaks: { ...goal.streaks, doubt: 1 } };
      return [doubt, { ...doubt, ending: { row: 'handed_off', reason: 'completed' } }];
    },
    /\(g9\) completed while an effect is in doubt/,
  ],
  [
    'completed while a cycle is open (g9)',
    (goal) => [goal, { ...goal, ending: { row: 'handed_off', reason: 'completed' } }],
    /\(g9\) completed while a cycle is open/,
  ],
  [
    'an end that changes (g5)',
    (goal) => [
      { ...goal, ending: { row: 'stop', reason: 'interrupted' } },
      { ...goal, ending: { row: 'done', reason: 'completed' } },
    ],
    /\(g5\) the end was stop, now it is done/,
  ],
  [
    'a goal that is too large',
    (goal) => [goal, { ...goal, feedback: ['x'.repeat(40_000)] }],
    /larger than 32768 bytes/,
  ],
])('%s is seen', (_, damage, violation) => {
  expect(stepViolations(...damage(alive()))).toMatch(violation);
});

test('a message that was read and comes back is seen (g8)', () => {
  const goal = alive();
  const reading = { ...goal, cycle: { ...goal.cycle!, reads: [steer] } };
  let state = startGoalChecking();
  const violations = [reading, goal, { ...goal, unread: [steer] }].flatMap((one) => {
    const checked = checkGoalStep(state, one, { run: one, effects: [] });
    state = checked.state;
    return checked.violations;
  });
  expect(violations.join('\n')).toMatch(/\(g8\) the message m1 was read before/);
});

test('a request of a cycle that leaves beyond the budget is seen (g2)', () => {
  const goal = alive();
  const poor = { ...goal, money: { ...goal.money, spentMicroUsd: 1_000_000 } };
  const step = {
    run: { runId: 'g:c1' },
    effects: [{ kind: 'call_model' }],
  } as unknown as Step<Run>;
  expect(checkCycleStep(goal, step)).toEqual([]);
  expect(checkCycleStep(poor, step).join()).toMatch(/step of g:c1: \(g2\)/);
});

describe('a goal that has ended', () => {
  function whole(change: Partial<Parameters<typeof checkGoalEnd>[0]> = {}) {
    const { goal, events } = ended();
    const last = events.at(-1)!;
    if (last.type !== 'goal_result') throw new Error('it has not ended');
    return checkGoalEnd({ goal, result: last.result, events, cycles: [], ...change }).join('\n');
  }

  function memoryWith(step: Partial<PlanStep>): GoalMemory {
    const steps = [{ id: 's1', title: 'One', status: 'done' as const, by: 'agent', ...step }];
    return { plan: { revision: 1, steps }, ancestors: [] } as unknown as GoalMemory;
  }

  test('has no violation when all is well', () => {
    expect(whole({ memory: memoryWith({ evidence: ['check/open/1'] }) })).toBe('');
  });

  test.each<[string, Parameters<typeof whole>[0], RegExp]>([
    [
      'a step done without evidence (g4)',
      { memory: memoryWith({}) },
      /\(g4\) the step s1 is done without/,
    ],
    [
      'a step done by what is not there (g4)',
      { memory: memoryWith({ evidence: ['c1/zzz'] }) },
      /\(g4\) the step s1 is done by c1\/zzz/,
    ],
    [
      'a message that nobody read and nobody kept (g8)',
      { checking: { ...startGoalChecking(), said: new Map([['m1', 'unread']]) } },
      /\(g8\) the message m1 was neither read/,
    ],
  ])('with %s is seen', (_, change, violation) => {
    expect(whole(change)).toMatch(violation);
  });

  test('with a cycle that says that it cost something else is seen (g7)', () => {
    const own = { type: 'run_result', result: { costMicroUsd: 77 }, stamp: {} } as RunEvent;
    expect(whole({ cycles: [{ n: 1, events: [own] }] })).toMatch(/\(g7\) cycle 1 cost 77/);
  });
});
