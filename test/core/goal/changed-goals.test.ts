/** What goals decide otherwise since rules 12, each beside a goal of the rules before. */
import type { Decision } from '../../../core/state/ask.js';
import type { GoalMessage, MessageBody } from '../../../core/state/goal/message.js';
import { count, ScriptedGoal, TERMS, type GoalScript } from './shell.js';

const BEFORE = 11;
const DAY_MS = 86_400_000;
const DONE = count(0, [0]);

const inCycle = ({ goal }: ScriptedGoal) => goal.cycle?.stage === 'open';
const asleep = ({ goal }: ScriptedGoal) => goal.sleep !== undefined && goal.sleep.over !== true;
const asked = ({ goal }: ScriptedGoal) => goal.asks.length > 0;
const isApproved = ({ goal }: ScriptedGoal) => goal.proposed.approved !== undefined;

/** Under both rules: the goal of the new ones first. */
function both(script: GoalScript): readonly [ScriptedGoal, ScriptedGoal] {
  return [new ScriptedGoal(script), new ScriptedGoal({ ...script, rules: BEFORE })];
}

function ending({ goal: { final } }: ScriptedGoal): string {
  if (final?.kind !== 'result') throw new Error(`no result: ${JSON.stringify(final)}`);
  const { stopReason, detail = '' } = final.result;
  return `${stopReason} ${detail}`;
}

function verdictOf(shell: ScriptedGoal, body: MessageBody, at = shell.now) {
  const message: GoalMessage = { v: 1, id: `t${at}`, by: 'berta', roles: [], at, ...body };
  shell.take({ type: 'goal_message', message, ticket: 'one', at: shell.now });
  return shell.goal.verdicts.find(({ ticket }) => ticket === 'one')?.verdict;
}

const reads = ({ effects }: ScriptedGoal) =>
  effects.flatMap((effect) =>
    effect.kind === 'prepare_cycle' && effect.input.register
      ? [effect.input.reads.map(({ text }) => ('text' in text ? text.text : text.preview))]
      : [],
  );

describe('a goal that is handed over', () => {
  const script: GoalScript = {
    checks: { open: [count(9), count(8), DONE] },
    cycles: [{ outcome: { doubt: 1 } }, {}],
  };
  const handOff = { type: 'handoffGoal', goalId: 'other' } as const;

  test('in an open cycle is refused, so that it never completes with an effect in doubt', () => {
    const [goal, older] = both(script);
    expect(verdictOf(goal.run(inCycle), handOff)).toMatchObject({
      accepted: false,
      reason: 'not_applicable',
      message: expect.stringContaining('pause the goal') as string,
    });
    older.run(inCycle).say(handOff).run();
    expect(ending(older)).toBe('completed handed_off');
    expect(older.goal.streaks.doubt).toBe(1);
  });

  test('is handed over when its cycle has ended', () => {
    const goal = new ScriptedGoal({ ...script, cycles: [{}] })
      .run(inCycle)
      .say({ type: 'pause' })
      .run(({ goal: { cycle, pass } }) => cycle === undefined && pass === undefined);
    goal.say(handOff).run();
    expect(ending(goal)).toBe('completed handed_off');
  });
});

test('a cycle that ran before a reset takes no words with it that its brief never had', () => {
  const [goal, older] = both({
    terms: { pace: { everyMs: DAY_MS } },
    checks: { open: [count(9), count(8), count(7), DONE] },
    cycles: [{}, { ms: 0, silent: true }, {}],
    begun: [2],
  });
  for (const shell of [goal, older])
    shell.run(asleep).say({ type: 'steer', text: 'Oldest first.' }).run();
  expect(reads(goal)).toEqual([[], ['Oldest first.'], ['Oldest first.']]);
  expect(reads(older)).toEqual([[], ['Oldest first.'], []]);
});

test('what the goal had to tell a cycle is told to the next one when that cycle ran before a reset', () => {
  const person = { kind: 'person', roles: [], question: 'Is it fine?' } as const;
  const [goal, older] = both({
    terms: { done: { mode: 'all', conditions: [TERMS.done.conditions[0]!, person] } },
    checks: { open: [count(9), DONE] },
    begun: [2],
  });
  const feedback = (shell: ScriptedGoal) =>
    shell
      .run(asked)
      .decideAsk('reject')
      .run()
      .effects.flatMap((effect) =>
        effect.kind === 'prepare_cycle' ? [effect.input.feedback.length] : [],
      );
  expect(feedback(goal).slice(0, 3)).toEqual([0, 1, 1]);
  expect(feedback(older).slice(0, 3)).toEqual([0, 1, 0]);
});

describe('a message with a date', () => {
  const script: GoalScript = {
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
  };
  const steer = { type: 'steer', text: 'Oldest first.' } as const;

  test('of more than a minute ahead does not count', () => {
    const [goal, older] = both(script);
    goal.run(asleep);
    expect(verdictOf(goal, steer, goal.now + 60_001)).toMatchObject({
      accepted: false,
      reason: 'not_applicable',
      message: expect.stringContaining('ahead') as string,
    });
    expect(verdictOf(new ScriptedGoal(script).run(asleep), steer, goal.now + 60_000)).toEqual({
      accepted: true,
    });
    older.run(asleep);
    expect(verdictOf(older, steer, older.now + DAY_MS)).toEqual({ accepted: true });
  });

  test('older than all that is remembered does not count, but for a cancel', () => {
    const outcomes = both(script).map((shell) => {
      shell.run(asleep);
      for (let n = 0; n < 250; n += 1) {
        shell.now += 1;
        shell.say({ type: 'wake' }).say({ type: 'review' });
        shell.run(({ goal }) => goal.messages.length === 0);
      }
      const old = shell.now - DAY_MS;
      expect(verdictOf(shell, { type: 'pause' }, old)).toMatchObject({ accepted: false });
      shell.goal = { ...shell.goal, verdicts: [] };
      return verdictOf(shell, { type: 'cancel' }, old - 1)?.accepted;
    });
    expect(outcomes).toEqual([true, false]);
  });

  test('is no matter for a cancel that comes while too much waits', () => {
    const outcomes = both(script).map((shell) => {
      shell.run(({ goal }) => goal.cycle?.stage === 'preparing' || goal.pass !== undefined);
      for (let n = 0; n < 100; n += 1) shell.say({ type: 'wake' });
      return verdictOf(shell, { type: 'cancel' })?.accepted;
    });
    expect(outcomes).toEqual([true, false]);
  });
});

describe('a message that is large', () => {
  const script: GoalScript = {
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
  };

  test('is refused when no payload holds it, and the goal goes on', () => {
    const steps = Array.from({ length: 100 }, (_, n) => ({
      id: `s${n}`,
      title: 't'.repeat(200),
      status: 'open' as const,
      note: 'n'.repeat(500),
    }));
    const [goal, older] = both(script);
    goal.run(asleep);
    expect(verdictOf(goal, { type: 'setPlan', steps })).toMatchObject({
      accepted: false,
      reason: 'beyond_limits',
      message: expect.stringContaining('say it in parts') as string,
    });
    expect(goal.goal.ending).toBeUndefined();
    older.run(asleep).say({ type: 'setPlan', steps }).run();
    expect(ending(older)).toBe('failed payload_too_large:take_message');
  });

  test('lies in the store when it has more than 200 bytes', () => {
    const text = 'ü'.repeat(150);
    const taken = both(script).map(
      (shell) =>
        shell
          .run(asleep)
          .say({ type: 'steer', text })
          .effects.filter(({ kind }) => kind === 'take_message').length,
    );
    expect(taken).toEqual([1, 0]);
  });

  test('is the fifty-first with those that the open cycle was told', () => {
    const words = both(script).map((shell) => {
      shell.run(asleep);
      for (let n = 0; n < 50; n += 1) shell.say({ type: 'steer', text: `word ${n}` });
      shell.say({ type: 'wake' }).run(inCycle);
      return verdictOf(shell, { type: 'steer', text: 'one more' });
    });
    expect(words[0]).toMatchObject({ accepted: false, reason: 'too_many' });
    expect(words[1]).toEqual({ accepted: true });
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

  test('does not begin with another brief: the new one is asked about', () => {
    const [goal, older] = both(script);
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

  test('keeps its time when it is asked about again', () => {
    const goal = new ScriptedGoal({
      ...script,
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
      '$0.00001 is left in this pass, too little to ask a judge',
      '$0.00001 is left in this pass, too little to ask a judge',
      '$0.00001 is left in this pass, too little to ask the reviewer',
      '$0.00001 is left in this pass, too little to ask a judge',
    ],
    [],
  ]);
});
