import { count, playGoal, ScriptedGoal, TERMS, START_AT } from './shell.js';

const DAY_MS = 86_400_000;
const DONE = count(0, [0]);

function ending(shell: ScriptedGoal) {
  const { final } = shell.goal;
  if (final?.kind !== 'result') throw new Error(`the goal has no result: ${JSON.stringify(final)}`);
  const { stopReason, detail } = final.result;
  return detail === undefined ? stopReason : `${stopReason} ${detail}`;
}

const types = (shell: ScriptedGoal) => shell.events.map(({ type }) => type);

describe('a goal', () => {
  test('ends done_condition when its check holds behind a cycle, with one checkpoint for each pass', () => {
    const shell = playGoal({
      terms: { pace: { everyMs: DAY_MS } },
      checks: { open: [count(12), count(7), count(2), DONE] },
    });
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.of('cycle_ended')).toHaveLength(3);
    expect(shell.of('goal_review')).toHaveLength(3);
    expect(shell.of('checkpoint_saved')).toHaveLength(4);
    expect(types(shell).slice(-2)).toEqual(['stop', 'goal_result']);
  });

  test('that is done at its baseline starts no cycle', () => {
    const shell = playGoal({ checks: { open: [DONE] } });
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.of('cycle_started')).toEqual([]);
    expect(shell.of('goal_review')).toHaveLength(1);
    expect(shell.of('checkpoint_saved')).toHaveLength(1);
  });

  test('makes no progress by words: three cycles without any end it', () => {
    const shell = playGoal({ checks: { open: [count(5)] } });
    expect(ending(shell)).toBe('needs_human no_progress');
    expect(shell.of('cycle_ended')).toHaveLength(3);
  });

  test('counts progress without a measurement a bounded number of times in a row', () => {
    const step = { progress: [{ kind: 'step', id: 's' }] } as const;
    const shell = playGoal({
      terms: {
        stopRules: { ...TERMS.stopRules, noMeasureCycles: 4 },
        budget: { ...TERMS.budget, maxCycles: 50 },
      },
      checks: { open: [count(5)] },
      cycles: [{ close: step }],
    });
    expect(ending(shell)).toBe('needs_human no_progress');
    expect(shell.of('cycle_ended')).toHaveLength(7);
  });

  test('ends with the newest detail when cycles fail three times in a row', () => {
    const shell = playGoal({
      checks: { open: [count(9), count(8), count(7), count(6)] },
      cycles: [{ outcome: { stopReason: 'tool_failure', detail: 'ledger' } }],
    });
    expect(ending(shell)).toBe('needs_human ledger');
  });

  test('ends max_cost when no slice fits, and never spends more than its budget', () => {
    const shell = playGoal({
      terms: {
        budget: { ...TERMS.budget, maxCostMicroUsd: 250_000, hardMaxCostMicroUsd: 250_000 },
      },
      checks: { open: [count(9), count(8), count(7), count(6), count(5)] },
      cycles: [{ outcome: { costMicroUsd: 100_000 } }],
    });
    expect(ending(shell)).toBe('max_cost');
    expect(shell.of('cycle_started').map(({ budget }) => budget.maxCostMicroUsd)).toEqual([
      100_000, 100_000, 50_000,
    ]);
  });

  test('ends at max_cycles', () => {
    const values = Array.from({ length: 12 }, (_, n) => count(100 - n));
    const shell = playGoal({ checks: { open: values } });
    expect(ending(shell)).toBe('max_turns max_cycles');
    expect(shell.of('cycle_started')).toHaveLength(10);
  });

  test('interrupts its cycle at the deadline and ends timeout', () => {
    const shell = playGoal({
      terms: { budget: { ...TERMS.budget, deadlineMs: 3_600_000 } },
      checks: { open: [count(9)] },
      cycles: [{ ms: 2 * 3_600_000 }],
    });
    expect(ending(shell)).toBe('timeout deadline');
    expect(shell.now - START_AT).toBeLessThan(3_700_000);
    expect(shell.of('cycle_ended')[0]?.stopReason).toBe('interrupted');
    expect(types(shell).slice(-3)).toEqual(['checkpoint_saved', 'stop', 'goal_result']);
  });

  test('sleeps to its deadline and no longer', () => {
    const shell = playGoal({
      terms: { pace: 'when_woken', budget: { ...TERMS.budget, deadlineMs: 5 * DAY_MS } },
      checks: { open: [count(9), count(8)] },
    });
    expect(ending(shell)).toBe('timeout deadline');
    expect(shell.now).toBe(START_AT + 5 * DAY_MS + 10);
  });

  test('waits for its cycle when a person stops it, and cancels the cycle when cancelled', () => {
    const script = { checks: { open: [count(9)] }, cycles: [{ ms: 600_000 }] };
    const open = (shell: ScriptedGoal) => shell.goal.cycle?.stage === 'open';
    const stopped = new ScriptedGoal(script).run(open).say({ type: 'stop' }).run();
    expect(ending(stopped)).toBe('interrupted');
    expect(stopped.of('cycle_ended')[0]?.stopReason).toBe('completed');
    const cancelled = new ScriptedGoal(script).run(open).say({ type: 'cancel' }).run();
    expect(ending(cancelled)).toBe('aborted');
    expect(cancelled.of('cycle_ended')[0]?.stopReason).toBe('aborted');
  });

  test('bills the whole slice of a cycle that nobody can confirm, and names it', () => {
    const shell = new ScriptedGoal({
      checks: { open: [count(9)] },
      cycles: [{ ms: 30 * DAY_MS, deaf: true }],
    })
      .run(({ goal }) => goal.cycle?.stage === 'open')
      .say({ type: 'stop' })
      .run();
    expect(ending(shell)).toBe('interrupted');
    const { final } = shell.goal;
    expect(final?.kind === 'result' && final.result.goal?.unconfirmed).toEqual(['g:c1']);
    expect(final?.kind === 'result' && final.result.costMicroUsd).toBe(100_000);
    expect(shell.now - START_AT).toBeLessThan(700_000);
  });

  test('finds the outcome of a cycle whose signal was lost', () => {
    const shell = playGoal({
      checks: { open: [count(9), DONE] },
      cycles: [{ ms: 10 * 60_000, silent: true }],
    });
    expect(ending(shell)).toBe('completed done_condition');
    // Looked at after 1, 3, 7 and 15 minutes.
    expect(shell.effects.filter((effect) => effect.kind === 'close_cycle')).toHaveLength(4);
  });

  test('looks at once at a cycle that ran before a reset', () => {
    const shell = playGoal({
      checks: { open: [count(9), DONE] },
      cycles: [{ ms: 0, silent: true }],
      taken: [1],
    });
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.effects.filter((effect) => effect.kind === 'close_cycle')).toHaveLength(1);
    expect(shell.effects.filter((effect) => effect.kind === 'timer')).toEqual([]);
  });

  test('goes on in a new segment after twenty cycles, with an open question as well', () => {
    const values = Array.from({ length: 45 }, (_, n) => count(100 - n));
    const shell = playGoal({
      terms: { budget: { ...TERMS.budget, maxCycles: 42 } },
      checks: { open: values },
    });
    expect(ending(shell)).toBe('max_turns max_cycles');
    expect(shell.segments).toBe(3);
  });
});

describe('what people say to a goal', () => {
  const asleep = (shell: ScriptedGoal) => shell.goal.sleep !== undefined && !shell.goal.sleep.over;

  test('is in the brief of one cycle', () => {
    const shell = new ScriptedGoal({
      terms: { pace: { everyMs: DAY_MS } },
      checks: { open: [count(12), count(7), count(2), DONE] },
    })
      .run(asleep)
      .say({ type: 'steer', text: 'Start with the oldest.' })
      .run();
    const reads = shell.effects.flatMap((effect) =>
      effect.kind === 'prepare_cycle' ? [effect.input.reads.length] : [],
    );
    expect(reads).toEqual([0, 1, 0]);
  });

  test('is in the next brief as well when the cycle got no reply', () => {
    const shell = new ScriptedGoal({
      terms: { pace: { everyMs: DAY_MS } },
      checks: { open: [count(12), count(7), count(2), DONE] },
      cycles: [{}, { outcome: { replied: false, stopReason: 'failed' } }, {}],
    })
      .run(asleep)
      .say({ type: 'steer', text: 'Start with the oldest.' })
      .run();
    const reads = shell.effects.flatMap((effect) =>
      effect.kind === 'prepare_cycle' ? [effect.input.reads.length] : [],
    );
    expect(reads).toEqual([0, 1, 1]);
  });

  test('wakes it, holds it, and lets it go on', () => {
    const script = {
      terms: { pace: 'when_woken' as const },
      checks: { open: [count(9), count(8), count(7), DONE] },
    };
    const shell = new ScriptedGoal(script).run(asleep).say({ type: 'wake' }).run(asleep);
    expect(shell.of('cycle_ended')).toHaveLength(2);
    shell.say({ type: 'pause' }).say({ type: 'wake' }).run();
    expect(shell.of('cycle_ended')).toHaveLength(2);
    shell.say({ type: 'resume' }).run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.of('cycle_ended')).toHaveLength(3);
  });

  test('a kept wake ends the next sleep at once, once', () => {
    const script = {
      terms: { pace: { everyMs: DAY_MS } },
      checks: { open: [count(9), count(8), count(7), DONE] },
    };
    const shell = new ScriptedGoal(script)
      .run(({ goal }) => goal.cycle?.stage === 'open')
      .say({ type: 'wake' })
      .say({ type: 'wake' })
      .run();
    expect(shell.of('goal_sleeping')).toHaveLength(1);
    expect(shell.now - START_AT).toBeLessThan(DAY_MS + 3_600_000);
  });

  test('changes the budget within what is possible, and says what is', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8)] },
    }).run(asleep);
    shell.say({ type: 'setBudget', budget: { maxCostMicroUsd: 10 } });
    expect(shell.of('warning').at(-1)?.message).toContain('possible is $0.001 to $1.00');
    shell
      .say({ type: 'setBudget', budget: { maxCycles: 1 } })
      .say({ type: 'wake' })
      .run();
    expect(ending(shell)).toBe('max_turns max_cycles');
  });

  test('a pace that is set during a sleep counts for it', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8), DONE] },
    })
      .run(asleep)
      .say({ type: 'setPace', pace: { everyMs: DAY_MS } })
      .run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.now - START_AT).toBeGreaterThanOrEqual(DAY_MS);
  });

  test('a person says that the objective is not valid any more', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8)] },
    })
      .run(asleep)
      .say({ type: 'review', objectiveValid: false, because: 'sold' })
      .run();
    expect(ending(shell)).toBe('needs_human objective_invalid');
  });
});

describe('questions of a goal', () => {
  const asked = (shell: ScriptedGoal) => shell.goal.asks.length > 0;
  const approval = (before: 'first_cycle' | 'every_cycle' | 'plan_change' | 'handoff') => [
    { before, roles: ['lead'], quorum: 1, expiresInMs: DAY_MS, onExpiry: 'stop' as const },
  ];

  test('an approval comes before the first cycle, and a refusal ends the goal', () => {
    const script = {
      terms: { approval: approval('first_cycle') },
      checks: { open: [count(9), DONE] },
    };
    const shell = new ScriptedGoal(script).run(asked);
    expect(shell.of('cycle_started')).toEqual([]);
    shell.decideAsk('approve', 'anna', ['lead']);
    expect(shell.of('warning').at(-1)?.message).toContain('own request');
    shell.decideAsk('approve', 'carla', ['lead']).run();
    expect(ending(shell)).toBe('completed done_condition');
    const refused = new ScriptedGoal(script)
      .run(asked)
      .decideAsk('reject', 'carla', ['lead'])
      .run();
    expect(ending(refused)).toBe('needs_human approval_rejected');
    const expired = playGoal(script);
    expect(ending(expired)).toBe('needs_human approval_timeout');
  });

  test('is asked anew when somebody steers, who then decides nothing', () => {
    const script = {
      terms: { approval: approval('every_cycle') },
      checks: { open: [count(9), DONE] },
    };
    const shell = new ScriptedGoal(script)
      .run(asked)
      .say({ type: 'steer', text: 'Oldest first.' }, 'carla')
      .run(asked);
    expect(shell.of('approval_withdrawn')).toHaveLength(1);
    shell.run(asked).decideAsk('approve', 'carla', ['lead']);
    expect(shell.of('warning').at(-1)?.message).toContain('steered');
    shell.decideAsk('approve', 'dora', ['lead']).run();
    expect(ending(shell)).toBe('completed done_condition');
  });

  test('a person is asked when everything else holds, and a yes begins a pass', () => {
    const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
    const script = {
      terms: { done: { mode: 'all' as const, conditions: [TERMS.done.conditions[0]!, person] } },
      checks: { open: [count(9), DONE] },
    };
    const shell = new ScriptedGoal(script).run(asked);
    expect(shell.of('cycle_ended')).toHaveLength(1);
    shell.decideAsk('approve').run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.of('check_finished')).toHaveLength(3);
  });

  test('a no is a reason in the next brief, and is asked again only after progress', () => {
    const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
    const script = {
      terms: { done: { mode: 'all' as const, conditions: [TERMS.done.conditions[0]!, person] } },
      checks: { open: [count(9), DONE] },
    };
    const shell = new ScriptedGoal(script).run(asked).decideAsk('reject').run();
    expect(ending(shell)).toBe('needs_human no_progress');
    expect(shell.of('approval_requested')).toHaveLength(1);
    const feedback = shell.effects.flatMap((effect) =>
      effect.kind === 'prepare_cycle' ? [effect.input.feedback] : [],
    );
    expect(feedback[1]?.[0]).toContain('Is it fine?');
  });

  test('a used-up budget is asked about, once for each end', () => {
    const script = {
      terms: { budget: { ...TERMS.budget, maxCycles: 1, onBudget: 'ask' as const } },
      checks: { open: [count(9), count(8), DONE] },
    };
    const shell = new ScriptedGoal(script).run(asked).decideAsk('approve').run();
    expect(ending(shell)).toBe('completed done_condition');
    const refused = new ScriptedGoal(script).run(asked).decideAsk('reject').run();
    expect(ending(refused)).toBe('max_turns max_cycles');
  });
});

describe('judges and reviews', () => {
  const judge = {
    name: 'quality',
    route: {
      name: 'm',
      provider: 'p',
      model: 'm',
      contextWindow: 200_000,
      maxOutputTokens: 8_000,
      prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
      pricesVersion: '1',
      temperatureAllowed: true,
    },
    maxTokens: 500,
  };
  const said = (score: number) => ({
    judgement: { valid: true, score, evidence: ['c1/a'], because: { text: 'seen' } },
    costMicroUsd: 5_000,
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
    calls: 1,
  });
  const terms = {
    done: {
      mode: 'all' as const,
      conditions: [
        TERMS.done.conditions[0]!,
        { kind: 'judge' as const, name: 'quality', atLeast: 0.8 },
      ],
    },
    judges: [judge],
    roundMicroUsd: 50_000,
  };

  test('a judge is asked only when the cheaper conditions hold, and once for the same evidence', () => {
    const shell = playGoal({
      terms,
      checks: { open: [count(9), count(8), DONE, DONE, DONE, DONE] },
      judges: [said(0.2), said(0.9)],
      cycles: [{}, {}, { close: { evidenceDigest: 'g:c2' } }, {}],
    });
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.effects.filter((effect) => effect.kind === 'ask_judge')).toHaveLength(2);
    expect(shell.of('cycle_ended')).toHaveLength(4);
    expect(shell.goal.money.judges).toBe(10_000);
    expect(shell.goal.money.spentMicroUsd).toBe(14_000);
  });

  test('three answers without a verdict are a question to a person', () => {
    const invalid = { invalid: 'no JSON', costMicroUsd: 0, usage: said(0).usage, calls: 1 };
    const progress = { progress: [{ kind: 'effect', id: '1' }] } as const;
    const shell = new ScriptedGoal({
      terms,
      checks: { open: [count(9), DONE] },
      judges: [invalid],
      cycles: [{ close: progress }],
    }).run(({ goal }) => goal.asks.length > 0);
    expect(shell.of('cycle_ended')).toHaveLength(3);
    shell.decideAsk('approve').run();
    expect(ending(shell)).toBe('completed done_condition');
  });
});

describe('a goal that ends', () => {
  test('is cancelled at once, in the middle of a pass as well, with a checkpoint behind it', () => {
    const shell = new ScriptedGoal({ checks: { open: [count(9)] } })
      .run(({ goal }) => Object.keys(goal.pass?.checking ?? {}).length > 0)
      .say({ type: 'cancel' })
      .run();
    expect(ending(shell)).toBe('aborted');
    expect(types(shell).slice(-3)).toEqual(['checkpoint_saved', 'stop', 'goal_result']);
    expect(shell.of('cycle_started')).toEqual([]);
  });

  test('interrupts a cycle that waits for a person when somebody stops it', () => {
    const shell = new ScriptedGoal({
      checks: { open: [count(9)] },
      cycles: [{ ms: DAY_MS, waiting: true }],
    })
      .run(({ goal }) => goal.cycle?.stage === 'open')
      .say({ type: 'stop' })
      .run();
    expect(ending(shell)).toBe('interrupted');
    expect(shell.of('cycle_ended')[0]?.stopReason).toBe('interrupted');
  });

  test('names what came too late to count', () => {
    const shell = new ScriptedGoal({ checks: { open: [count(9)] }, cycles: [{ ms: 60_000 }] })
      .run(({ goal }) => goal.cycle?.stage === 'open')
      .say({ type: 'stop' })
      .say({ type: 'steer', text: 'Wait.' })
      .run();
    const { final } = shell.goal;
    expect(final?.kind === 'result' && final.result.unprocessed).toEqual(['steer']);
  });
});

test('a plan that a person sets takes the place of one that waits for an approval', () => {
  const held = { held: { memory: 'held', facts: { revision: 2, open: 1, done: 0, steps: 1 } } };
  const shell = new ScriptedGoal({
    terms: {
      approval: [
        { before: 'plan_change', roles: [], quorum: 1, expiresInMs: DAY_MS, onExpiry: 'stop' },
      ],
    },
    checks: { open: [count(9), count(8), DONE] },
    cycles: [{ close: held }, {}],
  })
    .run(({ goal }) => goal.asks.length > 0)
    .say({ type: 'setPlan', steps: [{ id: 'a', title: 'A', status: 'open' }] })
    .run();
  expect(shell.of('approval_withdrawn')).toHaveLength(1);
  expect(shell.of('plan_changed').map(({ by }) => by)).toEqual(['berta']);
  expect(ending(shell)).toBe('completed done_condition');
});
