import { normalGoal } from '../../../authoring/goal/normal-goal.js';
import { HoldfastError } from '../../../core/state/errors.js';

const LEAST = {
  objective: 'All invoices of March are matched.',
  agent: 'matcher',
  done: { all: [{ plan: 'complete' }] },
  budget: { maxCostMicroUsd: 1_000_000 },
};

function refusal(over: object, base: object = LEAST): { message: string; hint?: string } {
  try {
    normalGoal({ ...base, ...over });
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError);
    expect((error as HoldfastError).code).toBe('InvalidTask');
    const { message, hint } = error as HoldfastError;
    return { message, ...(hint !== undefined && { hint }) };
  }
  throw new Error('it was accepted');
}

describe('a definition of a goal', () => {
  it('has the defaults that the specification names', () => {
    expect(normalGoal(LEAST)).toEqual({
      ...LEAST,
      constraints: [],
      handoffTo: [],
      validation: [],
      judges: {},
      budget: {
        maxCostMicroUsd: 1_000_000,
        maxCycles: 100,
        hardMaxCostMicroUsd: 1_000_000,
        onBudget: 'stop',
        budgetRoles: [],
      },
      cycle: {
        maxCostMicroUsd: 100_000,
        onBudget: 'stop',
        afterAnswer: 'complete',
        interruptMode: 'stop',
      },
      minCycleMicroUsd: 10_000,
      roundMicroUsd: 0,
      briefTokens: 8_000,
      reviewEvery: { cycles: 1 },
      pace: 'continuous',
      approval: [],
      stopRules: {
        objectiveInvalid: 'needs_human',
        noProgressCycles: 3,
        failedCycles: 3,
        blockedCycles: 3,
        noMeasureCycles: 9,
        onStuck: 'stop',
      },
      agentVersion: 'latest',
      unavailableMs: 604_800_000,
      closeMs: 600_000,
      maxAskedPauseMs: 604_800_000,
    });
  });

  it('sets half of a cycle aside for reviewer and judges', () => {
    const goal = normalGoal({
      ...LEAST,
      reviewer: {},
      approval: [{ before: 'every_cycle', roles: ['lead'] }],
    });
    expect(goal.roundMicroUsd).toBe(50_000);
    expect(goal.reviewer).toEqual({ roles: ['lead'] });
    expect(goal.approval).toEqual([
      {
        before: 'every_cycle',
        roles: ['lead'],
        quorum: 1,
        expiresInMs: 604_800_000,
        onExpiry: 'stop',
      },
    ]);
  });

  it('names tool and input of a check that leaves them out', () => {
    const { validation } = normalGoal({ ...LEAST, validation: [{ name: 'open' }] });
    expect(validation).toEqual([{ name: 'open', tool: 'open', input: {}, timeoutMs: 60_000 }]);
  });

  it('is the same when it is made normal twice', () => {
    const once = normalGoal({
      ...LEAST,
      validation: [{ name: 'open', measure: { path: 'count', better: 'lower' } }],
      judges: { tone: {} },
      done: {
        any: [
          { check: 'open', path: 'count', equals: 0 },
          { state: 'report.sent', exists: true },
          { judge: 'tone', rubric: 'Every letter is polite.', atLeast: 0.8 },
          { person: { roles: ['lead'], question: 'Is it done?' } },
        ],
      },
      pace: { cron: ' 0  9 * * 1-5 ', timezone: 'Europe/Zurich' },
      cycle: { maxTurns: 5, timeoutMs: 'unlimited', permissionMode: 'default' },
    });
    expect(once.pace).toEqual({ cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' });
    expect(normalGoal(once)).toEqual(once);
    expect(JSON.parse(JSON.stringify(once))).toEqual(once);
  });

  it.each([
    [{ objective: '  ' }, 'objective cannot be used: it must not be blank'],
    [{ objective: 'x'.repeat(16_001) }, 'objective cannot be used: it is longer than 16000'],
    [{ done: { all: [] } }, 'done.all cannot be used: it needs at least one entry'],
    [{ done: {} }, 'done cannot be used: it must be {all: […]} or {any: […]}'],
    [{ done: { all: [{ all: [] }] } }, 'done.all.0 cannot be used: it must be a condition'],
    [{ done: { all: [{ check: 'x', equals: 1 }] } }, 'validation has no check x; there is none'],
    [{ done: { all: [{ state: 'a.b' }] } }, 'done.all.0 cannot be used: it compares with nothing'],
    [{ done: { all: [{ judge: 'j', atLeast: 1 }] } }, 'done.all.0.rubric cannot be used'],
    [{ done: { all: [{ judge: 'j', rubric: 'r', atLeast: 2 }] } }, 'a number from 0 to 1'],
    [{ done: { all: [{ judge: 'j', rubric: 'r', atLeast: 1 }] } }, 'judges has no j'],
    [{ done: { all: [{ person: { roles: [], question: 'q' } }] } }, 'done.all.0.person.roles'],
    [{ budget: {} }, 'budget.maxCostMicroUsd cannot be used: it must be a whole number from 1'],
    [{ budget: { maxCostMicroUsd: 0 } }, 'budget.maxCostMicroUsd cannot be used'],
    [{ budget: { maxCostMicroUsd: 9, hardMaxCostMicroUsd: 8 } }, 'budget.hardMaxCostMicroUsd'],
    [{ budget: { maxCostMicroUsd: 9, maxTurns: 3 } }, 'it has no field "maxTurns"; fields are max'],
    [{ cycle: { onBudget: 'ask' } }, 'cycle.onBudget cannot be used: in a cycle it is "stop"'],
    [{ cycle: { maxCostMicroUsd: 'unlimited' } }, 'cycle.maxCostMicroUsd cannot be used'],
    [{ cycle: { maxTurn: 1 } }, 'cycle.maxTurn cannot be used'],
    [{ cycle: { maxTurns: -1 } }, 'cycle: budget.maxTurns is not allowed'],
    [{ minCycleMicroUsd: 200_000 }, 'minCycleMicroUsd cannot be used: it is above'],
    [
      { roundMicroUsd: 1_000_000 },
      'budget.maxCostMicroUsd cannot be used: a cycle needs $0.01 (minCycleMicroUsd 10000)',
    ],
    [{ reviewEvery: {} }, 'reviewEvery cannot be used: it must say how often'],
    [{ pace: 'daily' }, "pace cannot be used: it must be 'continuous'"],
    [{ pace: { everyMs: 0 } }, 'pace.everyMs cannot be used'],
    [{ pace: { cron: '0 9 * *', timezone: 'UTC' } }, 'pace.cron cannot be used: it must be a cron'],
    [{ pace: { cron: '@daily', timezone: 'UTC' } }, 'pace.cron cannot be used'],
    [{ pace: { cron: '0 0 30 2 *', timezone: 'UTC' } }, 'no day ever comes that it names'],
    [{ pace: { cron: '61 * * * *', timezone: 'UTC' } }, 'Invalid value for minute: 61'],
    [{ pace: { cron: '0 9 * * *' } }, 'pace.timezone cannot be used: it must be an IANA'],
    [{ pace: { cron: '0 9 * * *', timezone: 'Mars/Crater' } }, 'pace.timezone cannot be used'],
    [{ pace: { cron: '0 9 * * *', timezone: '+01:00' } }, 'pace.timezone cannot be used'],
    [{ approval: [{ before: 'lunch', roles: ['r'] }] }, 'approval.0.before cannot be used'],
    [{ approval: [0, 1].map(() => ({ before: 'handoff', roles: ['r'] })) }, 'stands there twice'],
    [{ validation: [{ name: 'a' }, { name: 'a' }] }, 'validation.1.name cannot be used'],
    [
      { validation: [{ name: 'a', timeoutMs: 3_600_001 }] },
      'validation.0.timeoutMs cannot be used',
    ],
    [{ validation: [{ name: 'a', input: { at: new Date() } }] }, 'validation.0.input cannot be'],
    [
      { judges: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((n) => [n, {}])) },
      'it has more than 5 judges',
    ],
    [{ reviewer: {} }, 'reviewer.roles cannot be used: it must name who answers'],
    [{ stopRules: { failedCycles: 0 } }, 'stopRules.failedCycles cannot be used'],
    [{ objectve: 'x' }, 'the definition cannot be used: it has no field "objectve"'],
    [{ briefTokens: 10 }, 'briefTokens cannot be used'],
    [{ constraints: Array.from({ length: 9 }, () => 'x'.repeat(1_999)) }, 'constraints cannot be'],
  ])('is refused with the name of the field: %j', (over, said) => {
    const { message, hint } = refusal(over);
    expect(message).toContain(said);
    expect(hint).toMatch(/^Correct .+ and start again\.$|^Correct .+ to get its default\.$/);
  });

  it.each([undefined, null, 'goal', 3, [], new Map()])('is refused when it is %p', (value) => {
    expect(() => normalGoal(value)).toThrow(/^The goal: /);
  });

  it('is refused when it is deep, large or circular, without being walked', () => {
    let deep: object = {};
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    const circle: Record<string, unknown> = { ...LEAST };
    circle.circle = circle;
    for (const bad of [deep, circle]) expect(() => normalGoal(bad)).toThrow(/nests too deeply/);
    const large = { ...LEAST, judges: { a: { instructions: 'x'.repeat(200_000) } } };
    expect(() => normalGoal(large)).toThrow(/at most 131072 bytes/);
  });
});
