/** Random goals: outcomes, words of people, lost signals, segments. */
import fc from 'fast-check';
import type { MessageBody } from '../../../core/state/goal/message.js';
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { NO_COUNTERS } from '../../../core/goal/open.js';
import { count, ScriptedGoal, TERMS, type CycleScript, type GoalScript } from './shell.js';
import { drawsOf } from '../../properties.js';

const HOUR_MS = 3_600_000;

const checkRun = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map((value) => count(value)),
  fc.constant({ known: false, held: [], because: 'away' }),
  fc.constant(count(0, [0])),
);

const cycle: fc.Arbitrary<CycleScript> = fc.record({
  ms: fc.integer({ min: 0, max: 3 * HOUR_MS }),
  outcome: fc.record({
    stopReason: fc.constantFrom(
      'completed',
      'max_turns',
      'max_cost',
      'tool_failure',
      'interrupted',
      'failed',
    ),
    // A child never costs more than its slice: its own budget sees to it.
    costMicroUsd: fc.integer({ min: 0, max: 5_000 }),
    replied: fc.boolean(),
    doubt: fc.constantFrom(0, 0, 0, 0, 1),
    counters: fc
      .integer({ min: 0, max: 5 })
      .map((modelCalls) => ({ ...NO_COUNTERS, modelCalls, turnCount: modelCalls })),
  }),
  close: fc.record({
    progress: fc.constantFrom(
      [],
      [{ kind: 'step' as const, id: 's' }],
      [{ kind: 'effect' as const, id: '1' }],
    ),
    proposedDone: fc.boolean(),
    plan: fc.constantFrom(
      { revision: 1, open: 1, done: 0, steps: 1 },
      { revision: 2, open: 0, done: 1, steps: 1 },
    ),
  }),
}) as fc.Arbitrary<CycleScript>;

const silent = fc
  .tuple(cycle, fc.boolean())
  .map(([one, isSilent]): CycleScript => (isSilent ? { ...one, silent: true } : one));

const word: fc.Arbitrary<MessageBody> = fc.constantFrom<MessageBody>(
  { type: 'pause' },
  { type: 'resume' },
  { type: 'wake' },
  { type: 'steer', text: 'Oldest first.' },
  { type: 'steer', text: 'x'.repeat(900), wake: true },
  { type: 'review' },
  { type: 'review', objectiveValid: false },
  { type: 'stop' },
  { type: 'cancel' },
  { type: 'setBudget', budget: { maxCostMicroUsd: 60_000 } },
  { type: 'setBudget', budget: { maxCycles: 30 } },
  { type: 'setPace', pace: { everyMs: 60_000 } },
  { type: 'setPace', pace: 'when_woken' },
  { type: 'setPlan', steps: [{ id: 'a', title: 'A', status: 'open' }] },
);

const terms: fc.Arbitrary<Partial<GoalTerms>> = fc.record({
  pace: fc.constantFrom(
    'continuous' as const,
    'when_woken' as const,
    { everyMs: HOUR_MS },
    { cron: '0 8 * * *', timezone: 'UTC' },
  ),
  done: fc.constantFrom(
    TERMS.done,
    {
      mode: 'any' as const,
      conditions: [
        TERMS.done.conditions[0]!,
        { kind: 'person' as const, roles: [], question: 'Fine?' },
      ],
    },
    { mode: 'all' as const, conditions: [TERMS.done.conditions[0]!, { kind: 'plan' as const }] },
  ),
  budget: fc
    .record({
      maxCostMicroUsd: fc.constantFrom(50_000, 100_000, 1_000_000),
      deadlineMs: fc.constantFrom('unlimited' as const, 30 * HOUR_MS),
      onBudget: fc.constantFrom('stop' as const, 'ask' as const),
    })
    .map((some) => ({ ...TERMS.budget, ...some, hardMaxCostMicroUsd: 1_000_000 })),
  cycle: fc.constant({ ...TERMS.cycle, maxCostMicroUsd: 5_000, minCostMicroUsd: 500 }),
  stopRules: fc.constantFrom(TERMS.stopRules, { ...TERMS.stopRules, onStuck: 'ask' as const }),
  approval: fc.constantFrom(
    [],
    [
      {
        before: 'every_cycle' as const,
        roles: [],
        quorum: 1,
        expiresInMs: HOUR_MS,
        onExpiry: 'reject' as const,
      },
    ],
    [
      {
        before: 'plan_change' as const,
        roles: [],
        quorum: 1,
        expiresInMs: HOUR_MS,
        onExpiry: 'stop' as const,
      },
    ],
  ),
});

const script: fc.Arbitrary<GoalScript> = fc.record({
  terms,
  checks: fc.record({ open: fc.array(checkRun, { minLength: 1, maxLength: 8 }) }),
  cycles: fc.array(silent, { minLength: 1, maxLength: 6 }),
});

const moves = fc.array(
  fc.oneof(
    word.map((body) => ({ kind: 'say' as const, body })),
    fc
      .constantFrom('approve' as const, 'reject' as const)
      .map((decision) => ({ kind: 'decide' as const, decision })),
    fc.constant({ kind: 'segment' as const }),
  ),
  { maxLength: 12 },
);

test('a goal keeps its invariants whatever happens, and rests only where somebody can wake it', () => {
  fc.assert(
    fc.property(
      script,
      moves,
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 12, maxLength: 12 }),
      (given, said, gaps) => {
        const shell = new ScriptedGoal(given);
        for (const [index, move] of said.entries()) {
          let rounds = gaps[index]!;
          shell.run(() => (rounds -= 1) < 0);
          if (shell.goal.final !== undefined) break;
          if (move.kind === 'say') shell.say(move.body);
          else if (move.kind === 'segment') shell.take({ type: 'segment_full', at: shell.now });
          else if (shell.goal.asks.length > 0) shell.decideAsk(move.decision);
        }
        shell.run();
        check(shell);
      },
    ),
    drawsOf(300),
  );
});

function check(shell: ScriptedGoal): void {
  const { goal, events } = shell;
  expect(events.map(({ stamp }) => stamp.seq)).toEqual(events.map((_, seq) => seq));
  expect(shell.of('cycle_started').length - shell.of('cycle_ended').length).toBeLessThanOrEqual(1);
  expect(goal.money.spentMicroUsd).toBe(
    goal.money.children + goal.money.reviews + goal.money.judges,
  );
  if (goal.final?.kind === 'result') {
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['stop', 'goal_result']);
    expect(shell.of('stop')).toHaveLength(1);
    expect(shell.of('cycle_ended')).toHaveLength(shell.of('cycle_started').length);
    expect(shell.of('checkpoint_saved')).toHaveLength(goal.passes);
    expect(goal.money.reservedMicroUsd).toBe(0);
    expect(goal.verdicts.every(({ ticket }) => ticket !== undefined)).toBe(true);
    return;
  }
  // Asleep until it is woken, or held by a person.
  expect(
    goal.paused !== undefined || (goal.sleep !== undefined && goal.sleep.until === undefined),
  ).toBe(true);
}
