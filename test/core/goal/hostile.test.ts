/** States in which a goal could hang, spin, lose a message or count something twice. */
import { receive } from '../../../core/goal/engine.js';
import { GOAL_BYTES_MAX, type Goal } from '../../../core/state/goal/goal.js';
import type { GoalMessage, MessageBody } from '../../../core/state/goal/message.js';
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { count, ScriptedGoal, START_AT, TERMS } from './shell.js';

const DAY_MS = 86_400_000;
const DONE = count(0, [0]);
const asked = (shell: ScriptedGoal) => shell.goal.asks.length > 0;
const asleep = (shell: ScriptedGoal) => shell.goal.sleep !== undefined && !shell.goal.sleep.over;
const open = (shell: ScriptedGoal) => shell.goal.cycle?.stage === 'open';
const flies = (kind: string) => (shell: ScriptedGoal) =>
  Object.values(shell.goal.inflight).some((entry) => entry.kind === kind);

function ending(shell: ScriptedGoal): string {
  const { final } = shell.goal;
  if (final?.kind !== 'result') throw new Error('the goal has no result');
  const { stopReason, detail } = final.result;
  return detail === undefined ? stopReason : `${stopReason} ${detail}`;
}

function message(id: string, body: MessageBody, more: Partial<GoalMessage> = {}): GoalMessage {
  return { v: 1, id, by: 'berta', roles: [], at: START_AT, ...body, ...more } as GoalMessage;
}

const approval = (before: 'first_cycle' | 'every_cycle' | 'plan_change') => [
  { before, roles: ['lead'], quorum: 1, expiresInMs: DAY_MS, onExpiry: 'stop' as const },
];

const REVIEWER: NonNullable<GoalTerms['reviewer']> = {
  name: 'reviewer',
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
  roles: ['lead'],
};
const PAID = {
  costMicroUsd: 100,
  usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  calls: 1,
};

describe('what is said to a goal that is not open yet', () => {
  test('is judged when the goal knows whether it must be proven', () => {
    const shell = new ScriptedGoal({
      terms: { requireProof: true, pace: 'when_woken' },
      checks: { open: [count(9), count(8)] },
    });
    shell.say({ type: 'stop' });
    shell.say({ type: 'cancel' });
    shell.run();
    expect(shell.goal.ending).toBeUndefined();
    expect(shell.of('cycle_ended')).toHaveLength(1);
    expect(shell.of('warning').map(({ code }) => code)).toEqual([
      'goal_message_refused',
      'goal_message_refused',
    ]);
  });

  test('takes effect where nothing must be proven', () => {
    const shell = new ScriptedGoal({ checks: { open: [count(9)] } }).say({ type: 'cancel' }).run();
    expect(ending(shell)).toBe('aborted');
    expect(shell.of('cycle_started')).toEqual([]);
  });

  test('ends a goal that nobody can open, after 10 s, without events: there is nothing that a proof could guard', () => {
    const shell = new ScriptedGoal({ opensNever: true, terms: { requireProof: true } });
    const ticket = 'update-1';
    const cancel = message('m1', { type: 'cancel' });
    shell.take({ type: 'goal_message', message: cancel, at: START_AT, ticket });
    const steer = message('m2', { type: 'steer', text: 'Hurry.' });
    shell.take({ type: 'goal_message', message: steer, at: START_AT });
    shell.run();
    expect(ending(shell)).toBe('aborted');
    expect(shell.now - START_AT).toBe(10_000);
    expect(shell.events).toEqual([]);
    expect(shell.goal.verdicts).toContainEqual({ ticket, verdict: { accepted: true } });
    expect(shell.goal.final).toMatchObject({
      result: { status: 'cancelled', trace: { events: 0 }, unprocessed: ['steer'] },
    });
  });

  test('is what people wanted also where the attempt under way fails in place of ending', () => {
    const shell = new ScriptedGoal({ opensNever: { code: 'StoreUnavailable' } });
    expect(ending(shell.say({ type: 'cancel' }).run())).toBe('aborted');
    expect(shell.goal.final).toMatchObject({ kind: 'result', result: { status: 'cancelled' } });
  });

  test('a stop ends it as interrupted, the cancel of its workflow as aborted', () => {
    const stopped = new ScriptedGoal({ opensNever: true }).say({ type: 'stop' }).run();
    expect(ending(stopped)).toBe('interrupted');
    const cancelled = new ScriptedGoal({ opensNever: true });
    cancelled.take({ type: 'cancel_requested', at: START_AT });
    expect(ending(cancelled.run())).toBe('aborted');
  });
});

describe('a cycle whose id is in use', () => {
  test('is looked at at once, and goes on where it is the same child', () => {
    const shell = new ScriptedGoal({
      taken: [1],
      checks: { open: [count(9), DONE] },
      cycles: [{ ms: DAY_MS }],
    }).run(({ effects }) => effects.some(({ kind }) => kind === 'close_cycle'));
    expect(shell.now - START_AT).toBeLessThan(1_000);
    expect(ending(shell.run())).toBe('completed done_condition');
  });

  test('is told nothing by a cancel before the goal knows whose it is', () => {
    const shell = new ScriptedGoal({
      taken: [1],
      checks: { open: [count(9)] },
      cycles: [{ ms: 1, outcome: { stopReason: 'failed', detail: 'child_id_taken' } }],
    }).run(flies('start_child'));
    shell.say({ type: 'cancel' }).run();
    expect(ending(shell)).toBe('aborted');
    expect(shell.effects.map(({ kind }) => kind)).not.toContain('tell_child');
  });
});

describe('a question of a goal', () => {
  test('names whoever started the goal or steered it since its last cycle: they do not decide', () => {
    const shell = new ScriptedGoal({
      terms: { approval: approval('every_cycle') },
      checks: { open: [count(9), DONE] },
    })
      .say({ type: 'steer', text: 'Oldest first.' }, 'rita')
      .run(asked);
    expect(shell.of('approval_requested').at(-1)).toMatchObject({
      requestedBy: 'anna',
      steeredBy: ['rita'],
    });
    shell.decideAsk('approve', 'rita', ['lead']);
    expect(shell.of('warning').at(-1)?.message).toContain('rita has steered the goal');
  });
});

describe('an approval of a cycle', () => {
  test('is of the brief with which the cycle starts, also when somebody steered while it was written', () => {
    const shell = new ScriptedGoal({
      terms: { approval: approval('every_cycle') },
      checks: { open: [count(9), DONE] },
    })
      .run(flies('prepare_cycle'))
      .say({ type: 'steer', text: 'Pay everybody twice.' }, 'mallory')
      .run(asked);
    const [ask] = shell.goal.asks;
    shell.decideAsk('approve', 'dora', ['lead']).run();
    const started = shell.effects.flatMap((effect) =>
      effect.kind === 'start_child' ? [effect.input.parent?.digest] : [],
    );
    expect(started).toEqual([(ask!.args as { brief: string }).brief]);
  });

  test('is asked anew when the reviewer hands the goal over meanwhile', () => {
    const shell = new ScriptedGoal({
      terms: {
        approval: approval('every_cycle'),
        handoffTo: ['other'],
        reviewer: REVIEWER,
        roundMicroUsd: 50_000,
        reviewEvery: { cycles: 50 },
      },
      reviews: [{ ...PAID, review: { because: { text: 'no' }, handoff: 'other', evidence: [] } }],
      checks: { open: [count(9), count(9), DONE] },
    })
      .run(asked)
      .say({ type: 'review' }, 'carla')
      .run(({ goal }) => goal.reviews > 0 && goal.pass === undefined && goal.asks.length > 0);
    expect(shell.goal.asks[0]?.args).toMatchObject({ agent: 'other' });
    expect(shell.of('approval_withdrawn')).toHaveLength(1);
  });
});

describe('a changed plan that waits for a person', () => {
  const held = { held: { memory: 'held', facts: { revision: 2, open: 1, done: 0, steps: 1 } } };
  const script = {
    terms: { approval: approval('plan_change') },
    checks: { open: [count(9), count(8), DONE] },
    cycles: [{ close: held }, {}],
  };

  test('is adopted with all that the checkpoint has added to the memory since', () => {
    const shell = new ScriptedGoal(script).run(asked);
    shell.decideAsk('approve', 'carla', ['lead']);
    expect(shell.of('plan_changed').at(-1)?.memory).toBe('held with checkpoint 2');
  });

  test('makes way for the plan that a person sets meanwhile', () => {
    const shell = new ScriptedGoal(script).run(asked);
    shell.say({ type: 'setPlan', steps: [{ id: 's', title: 'Mine', status: 'open' }] }, 'eva');
    shell.run(({ goal }) => goal.cycles === 2);
    expect(shell.of('approval_withdrawn')).toHaveLength(1);
    expect(shell.of('plan_changed').map(({ by }) => by)).toEqual(['eva']);
  });
});

describe('the memory of a goal', () => {
  test('is written by one activity at a time, also when the deadline comes while a plan is stored', () => {
    const shell = new ScriptedGoal({
      terms: { budget: { ...TERMS.budget, deadlineMs: 60_020 + 25 } },
      checks: { open: [count(9)] },
    }).run(open);
    const writers = ['close_cycle', 'take_message', 'save_checkpoint', 'ask_judge'];
    let most = 0;
    shell.say({ type: 'setPlan', steps: [] });
    shell.take({ type: 'child_ended', child: 'g:c1', at: shell.now });
    shell.take({ type: 'cancel_requested', at: shell.now });
    const watch = (): boolean => {
      const kinds = Object.values(shell.goal.inflight).map(({ kind }) => kind);
      most = Math.max(most, kinds.filter((kind) => writers.includes(kind)).length);
      return false;
    };
    watch();
    shell.take({ type: 'child_ended', child: 'g:c1', at: shell.now });
    watch();
    shell.run(watch);
    expect(most).toBe(1);
    expect(ending(shell)).toBe('aborted');
  });
});

describe('a full segment', () => {
  test('ends, however much was said to the goal meanwhile', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), DONE] },
    }).run(flies('run_check'));
    for (let n = 0; n < 99; n += 1) shell.say({ type: 'steer', text: `${n} ${'x'.repeat(3_900)}` });
    shell.take({ type: 'segment_full', at: shell.now });
    shell.run(({ segments }) => segments > 1);
    expect(shell.segments).toBe(2);
    const refused = shell.of('warning').filter(({ code }) => code === 'goal_message_refused');
    expect(refused.length).toBeGreaterThan(0);
    expect(shell.run(asleep).goal.unread.length + refused.length).toBeGreaterThanOrEqual(50);
  });

  test('keeps what comes while it ends for the next one, and says so', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8), DONE] },
    }).run(asleep);
    const ended: Goal = { ...shell.goal, final: { kind: 'continue_as_new' } };
    const heard = receive(ended, {
      type: 'goal_message',
      message: message('late', { type: 'steer', text: 'Oldest first.' }),
      ticket: 't',
      at: shell.now,
    });
    expect(heard.verdicts).toMatchObject([{ ticket: 't', verdict: { accepted: true } }]);
    expect(heard.messages).toMatchObject([{ message: { id: 'late' } }]);
    expect(heard.unprocessed).toEqual([]);
  });
});

describe('a judge of two conditions', () => {
  const judge = (atLeast: number) => ({ kind: 'judge' as const, name: 'quality', atLeast });

  test('that gives no verdict on one is answered by a person for that one alone', () => {
    const { roles: _, ...term } = REVIEWER;
    const low = {
      ...PAID,
      judgement: { valid: true, score: 0.1, evidence: ['c1/a'], because: { text: 'bad' } },
    };
    const invalid = { ...PAID, invalid: 'no JSON' };
    const progress = { progress: [{ kind: 'effect', id: '1' }] } as const;
    const shell = new ScriptedGoal({
      terms: {
        done: { mode: 'all', conditions: [TERMS.done.conditions[0]!, judge(0.8), judge(0.8)] },
        judges: [{ ...term, name: 'quality' }],
        roundMicroUsd: 50_000,
      },
      checks: { open: [count(9), DONE] },
      judges: [low, invalid, low, invalid, low, invalid],
      cycles: [{ close: progress }],
    });
    shell.goal = { ...shell.goal, unknowns: { 'judge:quality': 2 } };
    shell.take({ type: 'child_ended', child: 'none', at: shell.now });
    shell.run(({ goal }) => goal.asks.length > 0 || goal.cycles > 3);
    if (asked(shell)) shell.decideAsk('approve').run(({ goal }) => goal.pass === undefined);
    expect(shell.goal.judgements[1]?.score).toBe(0.1);
    expect(shell.goal.ending).toBeUndefined();
  });
});

describe('time', () => {
  test('a timer that fires before its moment by the clock of another server ends the sleep all the same', () => {
    const shell = new ScriptedGoal({
      terms: { pace: { everyMs: DAY_MS } },
      checks: { open: [count(9), count(8), DONE] },
    }).run(asleep);
    const { sleep } = shell.goal;
    shell.take({ type: 'timer_fired', id: sleep!.timer!, at: sleep!.until! - 1 });
    expect(asleep(shell)).toBe(false);
  });

  test('a pace that is set while the next tick is looked up counts', () => {
    const shell = new ScriptedGoal({
      terms: { pace: { cron: '0 8 * * *', timezone: 'UTC' } },
      checks: { open: [count(9), DONE] },
      ticks: [START_AT + 30 * DAY_MS],
    })
      .run(flies('find_tick'))
      .say({ type: 'setPace', pace: 'continuous' })
      .run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.now - START_AT).toBeLessThan(DAY_MS);
  });

  test('a pace that is set while the goal is paused in its sleep counts when it is resumed', () => {
    const shell = new ScriptedGoal({
      terms: { pace: { everyMs: 30 * DAY_MS } },
      checks: { open: [count(9), count(8), DONE] },
    })
      .run(asleep)
      .say({ type: 'pause' })
      .say({ type: 'setPace', pace: { everyMs: DAY_MS } })
      .say({ type: 'resume' })
      .run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.now - START_AT).toBeLessThan(2 * DAY_MS);
  });
});

describe('a budget that a person raises by themselves', () => {
  test('makes the question about it pointless: it is withdrawn, and the goal goes on', () => {
    const shell = new ScriptedGoal({
      terms: { budget: { ...TERMS.budget, maxCycles: 1, onBudget: 'ask', budgetRoles: ['lead'] } },
      checks: { open: [count(9), count(8), DONE] },
    }).run(asked);
    const since = shell.now;
    shell.say({ type: 'setBudget', budget: { maxCycles: 5 } }, 'carla', ['lead']).run();
    expect(ending(shell)).toBe('completed done_condition');
    expect(shell.of('approval_withdrawn')).toHaveLength(1);
    expect(shell.now - since).toBeLessThan(DAY_MS);
  });
});

describe('a goal with an effect in doubt', () => {
  const doubt = { outcome: { doubt: 1 } };

  test('is never completed by being handed over', () => {
    const shell = new ScriptedGoal({ checks: { open: [count(9)] }, cycles: [doubt] })
      .run(asked)
      .say({ type: 'handoffGoal', goalId: 'other' })
      .run(({ goal }) => goal.messages.length === 0);
    expect(shell.goal.ending).toBeUndefined();
    expect(shell.of('warning').at(-1)?.message).toContain('in doubt');
  });

  test('is not completed because its objective is not valid any more', () => {
    const shell = new ScriptedGoal({
      terms: {
        stopRules: { ...TERMS.stopRules, objectiveInvalid: 'completed' },
        reviewer: REVIEWER,
        roundMicroUsd: 50_000,
      },
      reviews: [
        { ...PAID, review: { because: { text: 'sold' }, objectiveValid: false, evidence: [] } },
      ],
      checks: { open: [count(9)] },
      cycles: [doubt],
    }).run(asked);
    expect(shell.goal.ending).toBeUndefined();
    shell.decideAsk('approve').run();
    expect(ending(shell)).toBe('completed objective_invalid');
    const resolved = shell.events.findIndex(({ type }) => type === 'approval_resolved');
    expect(resolved).toBeGreaterThan(0);
  });
});

describe('a cycle', () => {
  test('that ran before a reset is billed, also when the goal ends before it is looked at', () => {
    const shell = new ScriptedGoal({
      checks: { open: [count(9)] },
      cycles: [{ outcome: { costMicroUsd: 7_000 } }],
      begun: [1],
    }).run(flies('prepare_cycle'));
    shell.take({ type: 'cancel_requested', at: shell.now });
    shell.run();
    expect(ending(shell)).toBe('aborted');
    expect(shell.goal.money.spentMicroUsd).toBe(7_000);
  });

  test('that nobody can confirm is told to end', () => {
    const shell = new ScriptedGoal({
      checks: { open: [count(9)] },
      cycles: [{ ms: 30 * DAY_MS }],
    })
      .run(open)
      .say({ type: 'stop' })
      .run();
    expect(ending(shell)).toBe('interrupted');
    expect(shell.effects).toContainEqual({
      kind: 'tell_child',
      child: 'g:c1',
      message: 'cancel',
    });
  });
});

describe('the state of a goal', () => {
  test('stays within its bytes when everybody has the longest names', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8)] },
    }).run(asleep);
    for (let n = 0; n < 260; n += 1) {
      const long = (of: string) => `${of}${n}`.padEnd(64, 'x');
      const said = message(
        long('m'),
        { type: 'steer', text: 'y'.repeat(200) },
        { by: long('b'), at: START_AT + n },
      );
      shell.take({ type: 'goal_message', message: said, at: shell.now });
      shell.run(() => true);
    }
    shell.run();
    const { outbox: _, ...state } = shell.goal;
    expect(JSON.stringify(state).length).toBeLessThan(GOAL_BYTES_MAX);
  });

  test('knows that a message is a replay, however many came since', () => {
    const shell = new ScriptedGoal({
      terms: { pace: 'when_woken' },
      checks: { open: [count(9), count(8)] },
    }).run(asleep);
    const first = message('first', { type: 'pause' }, { at: START_AT });
    shell.take({ type: 'goal_message', message: first, at: shell.now });
    shell.say({ type: 'resume' });
    for (let n = 0; n < 300; n += 1) {
      const said = message(`n${n}`, { type: 'resume' }, { at: START_AT + 1 + n });
      shell.take({ type: 'goal_message', message: said, at: shell.now });
      shell.run(() => true);
    }
    shell.take({ type: 'goal_message', message: first, at: shell.now });
    expect(shell.goal.paused).toBeUndefined();
  });
});
