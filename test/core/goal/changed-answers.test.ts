/** What answers of people and of judges decide otherwise since rules 12, each beside a goal of the rules before. */
import type { Decision } from '../../../core/state/ask.js';
import { asked, both, DAY_MS, DONE, ending, inCycle, isApproved } from './both-rules.js';
import { count, ScriptedGoal, TERMS, type GoalScript } from './shell.js';

test('an effect in doubt that a person does not clear ends the goal, whatever else is asked', () => {
  const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
  const asks = both({
    terms: { done: { mode: 'any', conditions: [TERMS.done.conditions[0]!, person] } },
    checks: { open: [count(9), count(8)] },
    cycles: [{ outcome: { doubt: 1 }, close: { proposedDone: true } }],
  }).map((shell) => {
    shell.run(({ goal: { asks: open } }) => open.length === 2);
    const doubt = shell.goal.asks.find(({ id }) => shell.goal.purposes[id]?.kind === 'doubt')!;
    shell.take({
      type: 'decision',
      decision: {
        v: 1,
        askId: doubt.id,
        argsHash: doubt.digest,
        decision: 'reject',
        by: 'berta',
        roles: [],
        decidedAt: shell.now,
      },
      at: shell.now,
    });
    shell.run(({ goal: { asks: open } }) => open.length === 2);
    return shell.goal.final === undefined ? shell.of('approval_requested').length : ending(shell);
  });
  expect(asks).toEqual(['needs_human approval_rejected', 3]);
});

test('an answer waits while a plan is being stored: the plan stays', () => {
  const plans = both({
    checks: { open: [count(9), count(8), count(7), DONE] },
    cycles: [{ outcome: { doubt: 1 } }, {}],
    storesFor: 1_000,
  }).map((shell) => {
    shell.run(asked);
    shell.say({ type: 'setPlan', steps: [{ id: 's1', title: 'One.', status: 'open' }] });
    const before = shell.rules.length;
    shell.decideAsk('approve');
    return shell.rules.slice(before).includes('answers');
  });
  expect(plans).toEqual([false, true]);
});

describe('a question in place of a judge', () => {
  const route = {
    name: 'm',
    provider: 'p',
    model: 'm',
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
    pricesVersion: '1',
    temperatureAllowed: true,
  };
  const script: GoalScript = {
    terms: {
      done: {
        mode: 'all',
        conditions: [TERMS.done.conditions[0]!, { kind: 'judge', name: 'style', atLeast: 0.8 }],
      },
      judges: [{ name: 'style', route, maxTokens: 500 }],
      roundMicroUsd: 50_000,
      stopRules: { ...TERMS.stopRules, noProgressCycles: 20 },
    },
    checks: { open: [count(9), ...Array.from({ length: 20 }, (_, n) => count(n, [0]))] },
    judges: [
      {
        invalid: 'no JSON',
        costMicroUsd: 0,
        calls: 1,
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
      },
    ],
  };

  test('is answered until the next cycle ends, whatever the checks measure', () => {
    const [goal, older] = both(script);
    goal.run(asked).decideAsk('approve').run(asked);
    expect(ending(goal)).toBe('completed done_condition');
    older.run(asked).decideAsk('approve').run(asked);
    expect(older.goal.final).toBeUndefined();
  });

  test('that nobody answers ends the goal', () => {
    const [goal, older] = both(script);
    goal.run();
    expect(ending(goal)).toBe('needs_human approval_timeout');
    older.run();
    expect(ending(older)).not.toBe('needs_human approval_timeout');
  });
});

test('a yes to an effect in doubt begins a pass: a goal that is done pays for no other cycle', () => {
  const outcomes = both({
    checks: { open: [count(9), count(8), DONE] },
    cycles: [{ outcome: { doubt: 1 } }, {}],
  }).map((shell) => {
    shell.run(asked).decideAsk('approve').run();
    return `${ending(shell)}: ${shell.of('cycle_started').length}`;
  });
  expect(outcomes).toEqual(['completed done_condition: 1', 'completed done_condition: 2']);
});

describe('an approved cycle', () => {
  const approve = (shell: ScriptedGoal): ScriptedGoal => {
    const [ask] = shell.goal.asks;
    const decision: Decision = {
      v: 1,
      askId: ask!.id,
      argsHash: ask!.digest,
      decision: 'approve',
      by: 'carla',
      roles: ['lead'],
      decidedAt: shell.now,
    };
    shell.take({ type: 'decision', decision, at: shell.now });
    return shell;
  };
  const script: GoalScript = {
    terms: {
      approval: [
        {
          before: 'every_cycle',
          roles: ['lead'],
          quorum: 1,
          expiresInMs: DAY_MS,
          onExpiry: 'stop',
        },
      ],
      pace: { everyMs: DAY_MS },
    },
    checks: { open: [count(9), DONE] },
    releases: ['1', '2'],
  };

  test('begins with the approved brief, whatever release of a worker registers the cycle', () => {
    const [goal, older] = both(script);
    const briefs = [goal, older].map((shell) => {
      approve(shell.run(asked)).run(inCycle);
      return shell.goal.cycle?.brief?.digest;
    });
    expect(briefs).toEqual([JSON.stringify([1, [], '1']), JSON.stringify([1, [], '2'])]);
    expect(goal.of('approval_requested')).toHaveLength(1);
  });

  test('does not begin with another brief when the approved one is gone: the new one is asked about', () => {
    const [goal, older] = both({ ...script, briefsGone: true });
    approve(goal.run(asked)).run(asked);
    expect(goal.of('cycle_started')).toEqual([]);
    expect(goal.of('approval_requested').map(({ args }) => args)).toMatchObject([
      { n: 1, brief: JSON.stringify([1, [], '1']) },
      { n: 1, brief: JSON.stringify([1, [], '2']) },
    ]);
    expect(goal.goal).toMatchObject({ cycles: 0, money: { reservedMicroUsd: 0 } });
    expect(isApproved(goal)).toBe(false);
    approve(goal).run();
    expect(ending(goal)).toBe('completed done_condition');
    approve(older.run(asked)).run();
    expect(older.of('approval_requested')).toHaveLength(1);
  });

  test('is asked about once more when a pass begins while its brief is being written', () => {
    const asks = both({ ...script, checks: { open: [count(9), count(9), DONE] } }).map((shell) => {
      shell.run(({ effects }) => effects.some(({ kind }) => kind === 'prepare_cycle'));
      shell.say({ type: 'review' }).run(asked);
      return shell.effects.filter(({ kind }) => kind === 'prepare_cycle').length;
    });
    expect(asks).toEqual([2, 1]);
  });

  test('keeps its time when it is asked about again', () => {
    const goal = new ScriptedGoal({
      ...script,
      briefsGone: true,
      checks: { open: [count(9), count(8), DONE] },
      releases: ['1', '1', '1', '2'],
    });
    approve(goal.run(asked)).run(inCycle);
    approve(goal.run(asked)).run(asked);
    const [first] = goal.of('cycle_started');
    approve(goal).run();
    const second = goal.of('cycle_started')[1]!;
    expect(second.stamp.at - first!.stamp.at).toBeLessThan(DAY_MS + 60_000);
  });
});

test('a judge and a reviewer that are left out for want of money are a warning each', () => {
  const route = {
    name: 'm',
    provider: 'p',
    model: 'm',
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
    pricesVersion: '1',
    temperatureAllowed: true,
  };
  const warnings = both({
    terms: {
      done: { mode: 'all', conditions: [{ kind: 'judge', name: 'style', atLeast: 0.8 }] },
      judges: [{ name: 'style', route, maxTokens: 500 }],
      reviewer: { name: 'reviewer', route, maxTokens: 500, roles: [] },
      roundMicroUsd: 10,
      budget: { ...TERMS.budget, maxCycles: 2 },
    },
    checks: { open: [count(9)] },
  }).map((shell) =>
    shell
      .run()
      .of('warning')
      .filter(({ code }) => code === 'judge_unpaid')
      .map(({ message }) => message),
  );
  expect(warnings).toEqual([
    [
      '$0.00001 is left in this pass, too little to ask: judge style at least 0.8',
      '$0.00001 is left in this pass, too little to ask: judge style at least 0.8',
      '$0.00001 is left in this pass, too little to ask: reviewer',
      '$0.00001 is left in this pass, too little to ask: judge style at least 0.8',
    ],
    [],
  ]);
});
