/** What goals decide otherwise since rules 12, each beside a goal of the rules before. */
import type { GoalMessage, MessageBody } from '../../../core/state/goal/message.js';
import { asked, asleep, both, DAY_MS, DONE, ending, inCycle } from './both-rules.js';
import { count, ScriptedGoal, TERMS, type GoalScript } from './shell.js';

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

test('a cycle that ran before a reset, of which an older worker says nothing, has heard no word', () => {
  const goal = new ScriptedGoal({
    terms: { pace: { everyMs: DAY_MS } },
    checks: { open: [count(9), count(8), count(7), DONE] },
    cycles: [{}, { ms: 0, silent: true }, {}],
    begun: [2],
    unheardUnsaid: true,
  });
  goal.run(asleep).say({ type: 'steer', text: 'Oldest first.' }).run();
  expect(reads(goal)).toEqual([[], ['Oldest first.'], ['Oldest first.']]);
});

test('people whose words a cycle has heard before a reset may decide about the next one', () => {
  const steered = both({
    terms: { pace: { everyMs: DAY_MS } },
    checks: { open: [count(9), count(8), count(7), DONE] },
    cycles: [{}, { ms: 0, silent: true }, {}],
    begun: [2],
    unheard: [],
  }).map((shell) => {
    shell.run(asleep).say({ type: 'steer', text: 'Oldest first.' });
    shell.run(({ goal }) => goal.cycles === 2).run(asleep);
    return shell.goal.steeredBy;
  });
  expect(steered).toEqual([[], []]);
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

test('a stop counts whatever its date', () => {
  const outcomes = both({
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
  }).map((shell) => {
    shell.run(asleep);
    shell.goal = { ...shell.goal, seenUpTo: shell.now };
    shell.take({
      type: 'goal_message',
      message: { v: 1, id: 'old', type: 'stop', by: 'berta', roles: [], at: shell.now - 5 },
      at: shell.now,
    });
    return shell.run().goal.final?.kind;
  });
  expect(outcomes).toEqual(['result', undefined]);
});

test('a goal that heard a date ahead under older rules hears words again', () => {
  const verdicts = both({
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
  }).map((shell) => {
    shell.run(asleep);
    shell.goal = { ...shell.goal, seenUpTo: shell.now + DAY_MS };
    return verdictOf(shell, { type: 'steer', text: 'Oldest first.' })?.accepted;
  });
  expect(verdicts).toEqual([true, false]);
});

test('cancels that wait for their keys have a bound', () => {
  const roles = Array.from({ length: 50 }, () => '漢'.repeat(200));
  const held = both({
    terms: { requireProof: true, pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
  }).map((shell) => {
    shell.run(asleep);
    for (let n = 0; n < 20; n += 1) {
      const signed = { kid: 'stranger', proof: 'bm9uZQ' };
      const message = {
        v: 1,
        id: `c${n}`,
        type: 'cancel',
        by: 'eve',
        roles,
        at: shell.now,
      } as const;
      shell.take({ type: 'goal_message', message: { ...message, ...signed }, at: shell.now });
    }
    return shell.goal.unjudged.length;
  });
  expect(held).toEqual([4, 4]);
});

test('a handover whose storing meets the end of the goal is refused', () => {
  const verdicts = both({
    terms: { pace: 'when_woken' },
    checks: { open: [count(9), count(8), DONE] },
    storesFor: 1_000,
  }).map((shell) => {
    shell.run(asleep);
    const before = verdictOf(shell, { type: 'handoffGoal', goalId: 'other' });
    expect(before).toBeUndefined();
    shell.say({ type: 'cancel' }).run();
    return shell.goal.verdicts.find(({ ticket }) => ticket === 'one')?.verdict.accepted;
  });
  expect(verdicts).toEqual([false, true]);
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

  test('is refused beside too many bytes of words that wait', () => {
    const [goal, older] = both(script).map((shell) => () => {
      shell.run(asleep);
      for (let n = 0; n < 50; n += 1)
        shell.say({ type: 'steer', text: 'x'.repeat(180) }, '漢'.repeat(150));
      return shell.of('warning').map(({ message }) => message);
    });
    expect(goal!().at(-1)).toContain('16384 bytes');
    expect(older).toThrow('larger than 32768 bytes');
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
