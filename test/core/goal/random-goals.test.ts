/** Random goals: whatever cycles, judges, reviewers and people do, no more is spent and reserved than the budget allows. */
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { SEED, saySeed, WHOLE } from '../../seed.js';
import { seededRandom, type Random } from '../../../testing/crash/plan.js';
import { count, ScriptedGoal, TERMS, type GoalScript } from './shell.js';

const GOALS = WHOLE ? 2_000 : 60;
const STEPS_MAX = 400;
const SEEDED = Number.isFinite(SEED) ? SEED : 1;

const ROUTE = {
  name: 'm',
  provider: 'p',
  model: 'm',
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  prices: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
  pricesVersion: '1',
  temperatureAllowed: true,
};

function termsOf(random: Random): Partial<GoalTerms> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const maxCostMicroUsd = 50_000 + below(1_000_000);
  const slice = 5_000 + below(200_000);
  const judged = random() < 0.6;
  return {
    done: {
      mode: random() < 0.7 ? 'all' : 'any',
      conditions: [
        { kind: 'check', name: 'open' },
        ...(judged ? [{ kind: 'judge', name: 'quality', atLeast: 0.7 } as const] : []),
        ...(random() < 0.3 ? [{ kind: 'person', roles: [], question: 'Fine?' } as const] : []),
      ],
    },
    judges: judged ? [{ name: 'quality', route: ROUTE, maxTokens: 300 }] : [],
    ...(random() < 0.5 && {
      reviewer: { name: 'reviewer', route: ROUTE, maxTokens: 300, roles: ['lead'] },
    }),
    roundMicroUsd: below(slice),
    cycle: { ...TERMS.cycle, maxCostMicroUsd: slice, minCostMicroUsd: Math.ceil(slice / 10) },
    budget: {
      ...TERMS.budget,
      maxCostMicroUsd,
      hardMaxCostMicroUsd: maxCostMicroUsd * 2,
      maxCycles: 1 + below(30),
      onBudget: random() < 0.5 ? 'ask' : 'stop',
      deadlineMs: random() < 0.2 ? below(30 * 86_400_000) : 'unlimited',
    },
    pace: (['continuous', { everyMs: 3_600_000 }, 'when_woken'] as const)[below(3)]!,
    approval:
      random() < 0.3
        ? [{ before: 'every_cycle', roles: [], quorum: 1, expiresInMs: 1e8, onExpiry: 'stop' }]
        : [],
    stopRules: { ...TERMS.stopRules, onStuck: random() < 0.5 ? 'ask' : 'stop' },
  };
}

function scriptOf(random: Random, terms: Partial<GoalTerms>): GoalScript {
  const below = (limit: number): number => Math.floor(random() * limit);
  const list = <T>(make: () => T): readonly T[] => Array.from({ length: 1 + below(12) }, make);
  const round = terms.roundMicroUsd ?? 0;
  const paid = () => ({
    // What the bound of a question allows, at most.
    costMicroUsd: below(round / 2 + 1),
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
    calls: 1 + below(3),
  });
  const reasons = ['completed', 'failed', 'max_cost', 'max_turns', 'interrupted'] as const;
  return {
    terms,
    checks: {
      open: list(() =>
        random() < 0.15
          ? { known: false, held: [], because: 'gone' }
          : count(below(20), random() < 0.2 ? [0] : []),
      ),
    },
    cycles: list(() => ({
      ms: below(7_200_000),
      ...(random() < 0.2 && { silent: true as const }),
      ...(random() < 0.1 && { deaf: true as const }),
      outcome: {
        costMicroUsd: below(300_000),
        stopReason: reasons[below(reasons.length)]!,
        replied: random() < 0.8,
        doubt: random() < 0.1 ? 1 : 0,
        ...(random() < 0.1 && { unconfirmed: true as const }),
      },
      close: random() < 0.5 ? { progress: [{ kind: 'effect', id: 'e' }] } : {},
    })),
    ...(random() < 0.3 && { begun: [1 + below(5), 1 + below(5)] }),
    ...(random() < 0.2 && { briefsGone: true as const }),
    ...(random() < 0.2 && { unheardUnsaid: true as const }),
    ...(random() < 0.3 && { storesFor: below(100_000) }),
    ...(random() < 0.3 && { releases: list(() => String(below(3))) }),
    judges: list(() =>
      random() < 0.3
        ? { ...paid(), invalid: 'no JSON' }
        : {
            ...paid(),
            judgement: {
              valid: true,
              score: random(),
              evidence: ['c1/a'],
              because: { text: 'seen' },
            },
          },
    ),
    reviews: list(() =>
      random() < 0.3
        ? { ...paid(), invalid: 'no JSON' }
        : {
            ...paid(),
            review: {
              because: { text: 'seen' },
              evidence: [],
              ...(random() < 0.1 && { approvalNeeded: true }),
              ...(random() < 0.1 && { pauseMs: 3_600_000 }),
              ...(random() < 0.05 && { objectiveValid: false }),
            },
          },
    ),
  };
}

/** People and the world, now and then. */
function meddle(shell: ScriptedGoal, random: Random): void {
  const { goal } = shell;
  const chance = random();
  const [ask] = goal.asks;
  if (ask !== undefined && chance < 0.6) {
    shell.decideAsk(random() < 0.7 ? 'approve' : 'reject', `p${goal.askCount}`, ['lead']);
  } else if (chance < 0.65) shell.say({ type: 'steer', text: 'On.', wake: random() < 0.5 });
  else if (chance < 0.7) shell.say({ type: 'wake' });
  else if (chance < 0.73) shell.say({ type: 'pause' });
  else if (chance < 0.8) shell.say({ type: 'resume' });
  else if (chance < 0.84) {
    const maxCostMicroUsd = Math.ceil(random() * 2_000_000);
    shell.say({ type: 'setBudget', budget: { maxCostMicroUsd } });
  } else if (chance < 0.87) shell.say({ type: 'review' });
  else if (chance < 0.9) shell.take({ type: 'segment_full', at: shell.now });
  else if (chance < 0.93)
    shell.take({ type: 'child_ended', child: goal.cycle?.child ?? 'g:c1', at: shell.now });
  else if (chance < 0.94) shell.say({ type: 'stop' });
  else if (chance < 0.945) shell.say({ type: 'cancel' });
  else if (chance < 0.96) {
    const steps = [{ id: 's1', title: 'One.', status: 'open' as const }];
    shell.say({ type: 'setPlan', steps });
  } else if (chance < 0.97) {
    const text = '漢'.repeat(Math.ceil(random() * 100));
    for (let n = 0; n < 30; n += 1) shell.say({ type: 'steer', text }, `p${text}`);
  } else if (chance < 0.98) shell.say({ type: 'handoffGoal', goalId: 'other' });
}

function playRandom(number: number): ScriptedGoal {
  const random = seededRandom(SEEDED, number);
  const shell = new ScriptedGoal(scriptOf(random, termsOf(random)));
  for (let step = 0; step < STEPS_MAX && shell.goal.final?.kind !== 'result'; step += 1) {
    let left = 1 + Math.floor(random() * 8);
    shell.run(() => (left -= 1) < 0);
    if (shell.goal.final === undefined) meddle(shell, random);
  }
  if (shell.goal.final === undefined) shell.say({ type: 'resume' }).say({ type: 'cancel' });
  return shell.run();
}

test(`${GOALS} random goals end, and never spend and reserve more than they have`, () => {
  saySeed(`${GOALS} random goals`);
  for (let number = 0; number < GOALS; number += 1) {
    let shell: ScriptedGoal;
    try {
      // The shell itself throws when a step breaks an invariant, and when a goal never rests.
      shell = playRandom(number);
    } catch (error) {
      throw new Error(`goal ${number} of seed ${SEEDED}: ${String(error)}`, { cause: error });
    }
    const { goal } = shell;
    const { money, final } = goal;
    const told = shell.of('cycle_ended').reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
    expect({
      number,
      kind: final?.kind,
      reserved: money.reservedMicroUsd,
      parts: money.children + money.reviews + money.judges,
      children: money.children,
      result: final?.kind === 'result' ? final.result.costMicroUsd : undefined,
      stops: shell.of('stop').length,
      results: shell.of('goal_result').length,
      last: shell.events.at(-1)?.type,
      timers: Object.keys(goal.inflight),
      asks: goal.asks,
      cycles: shell.of('cycle_started').length <= shell.of('cycle_ended').length,
    }).toEqual({
      number,
      kind: 'result',
      reserved: 0,
      parts: money.spentMicroUsd,
      children: told,
      result: money.spentMicroUsd,
      stops: 1,
      results: 1,
      last: 'goal_result',
      timers: [],
      asks: [],
      cycles: true,
    });
  }
});

test('a thousand cycles: state, payloads and events of a cycle do not grow', () => {
  const values = Array.from({ length: 1_001 }, (_, n) => count(2_000 - n));
  const shell = new ScriptedGoal({
    terms: {
      pace: { everyMs: 86_400_000 },
      budget: {
        ...TERMS.budget,
        maxCostMicroUsd: 1e9,
        hardMaxCostMicroUsd: 1e9,
        maxCycles: 1_000,
      },
    },
    checks: { open: values },
  });
  const sizes: { readonly state: number; readonly effects: number; readonly events: number }[] = [];
  let effects = 0;
  let events = 0;
  for (let n = 1; n <= 1_000; n += 1) {
    shell.run(({ goal }) => goal.cycles === n && goal.cycle?.stage === 'open');
    const { outbox: _, ...state } = shell.goal;
    const all = JSON.stringify(shell.effects.slice(effects)).length;
    const told = JSON.stringify(shell.events.slice(events)).length;
    sizes.push({ state: JSON.stringify(state).length, effects: all, events: told });
    effects = shell.effects.length;
    events = shell.events.length;
  }
  const mean = (from: number, name: 'state' | 'effects' | 'events'): number =>
    sizes.slice(from, from + 10).reduce((sum, one) => sum + one[name], 0) / 10;
  for (const name of ['state', 'effects', 'events'] as const) {
    // By the cycles between them, not by their number: digits alone grow.
    const exponent = Math.log(mean(990, name) / mean(10, name)) / Math.log(1_000 / 15);
    expect(exponent).toBeLessThan(0.05);
    expect(mean(990, name) / mean(10, name)).toBeLessThan(1.1);
  }
  expect(shell.segments).toBe(50);
});
