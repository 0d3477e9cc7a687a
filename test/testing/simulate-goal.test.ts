/** `simulateGoal`: a goal under virtual time, as users of holdfast/testing try theirs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  askPerson,
  days,
  defineAgent,
  defineConfig,
  defineGoal,
  defineTool,
  hours,
  usd,
} from '../../index.js';
import {
  calls,
  simulateGoal,
  type AskedEvent,
  type GoalWorld,
  type ModelReply,
  type Provider,
  type SimulatedPerson,
} from '../../testing/index.js';

const START = Date.UTC(2026, 2, 1);

function world({ now, budget = {} }: { readonly now: () => number; readonly budget?: object }) {
  const done: number[] = [];
  const send = defineTool({
    name: 'send',
    version: '1',
    effect: 'send',
    idempotency: 'keyed',
    approval: { roles: ['lead'] },
    input: z.object({ n: z.number() }),
    run: () => done.push(now()),
  });
  const sent = defineTool({
    name: 'sent',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: () => ({ count: done.length }),
  });
  const agent = defineAgent({
    name: 'a',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Send.',
    tools: [send],
  });
  const goal = defineGoal({
    name: 'g',
    objective: 'Three were sent.',
    agent,
    validation: [{ name: 'sent', tool: sent, measure: { path: 'count', better: 'higher' } }],
    done: { all: [{ check: 'sent', path: 'count', gte: 3 }] },
    pace: { everyMs: days(10) },
    budget: { maxCostMicroUsd: usd(1), ...budget },
  });
  return { done, goal, config: defineConfig({ agents: [agent], goals: [goal] }) };
}

/** Done when a judge says so; the work is a sub-agent's, and a person allows it. */
function judged() {
  const corrected: true[] = [];
  const correct = defineTool({
    name: 'correct',
    version: '1',
    effect: 'write',
    idempotency: 'keyed',
    approval: { roles: ['lead'] },
    input: z.object({}),
    run: () => corrected.push(true),
  });
  const look = defineTool({
    name: 'look',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: () => ({ corrected: corrected.length }),
  });
  const auditor = { description: 'Audits.', prompt: 'Audit.', tools: ['correct'] };
  const agent = defineAgent({
    name: 'a',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Have it looked at.',
    tools: [look, correct],
    agents: { auditor },
  });
  const goal = defineGoal({
    name: 'judged',
    objective: 'The books are in order.',
    agent,
    done: { all: [{ judge: 'strict', rubric: 'The books are in order.', atLeast: 0.8 }] },
    judges: { strict: { instructions: 'Be strict.' } },
    pace: { everyMs: days(1) },
    budget: { maxCostMicroUsd: usd(1), maxCycles: 5 },
  });
  return { corrected, goal, config: defineConfig({ agents: [agent], goals: [goal] }) };
}

/** Sends once in a cycle, and takes real time for it. */
const model: Provider = {
  name: 'anthropic',
  async complete({ model: name, messages }): Promise<ModelReply> {
    await sleep(5);
    const isFirst = messages.length === 1 || messages.every(({ role }) => role === 'user');
    const blocks = isFirst
      ? [
          {
            type: 'tool_use' as const,
            id: `call-${Math.random()}`,
            tool: 'send',
            args: { n: messages.length },
          },
        ]
      : [{ type: 'text' as const, text: 'Sent.' }];
    return {
      blocks,
      raw: [],
      stop: isFirst ? 'tool_use' : 'end_turn',
      usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 },
      usageSource: 'reported',
      model: name,
      incompleteCalls: 0,
    };
  },
};

const providers = new Map([[model.name, model]]);

test('a month passes at once; people answer when they like, and time stands still while a model thinks', async () => {
  let made: ReturnType<typeof world> | undefined;
  const { goal } = world({ now: Date.now });
  const { result, durationMs, violations, events } = await simulateGoal({
    goal,
    goalId: 'month',
    startAt: START,
    config: (now) => (made = world({ now })).config,
    providers,
    onEvent: (event, { after, approve }) => {
      if (event.type !== 'approval_requested') return;
      after(hours(5), () => approve(event, { by: 'mia', roles: ['lead'] }));
    },
  });
  expect(result).toMatchObject({ runId: 'month', completed: true, detail: 'done_condition' });
  expect(made?.done).toEqual([0, 10, 20].map((day) => START + days(day) + hours(5)));
  expect(durationMs).toBe(days(20) + hours(5));
  expect(events.at(-1)).toMatchObject({ type: 'goal_result' });
  expect(violations).toEqual([]);
});

test('people can talk to it, and leave it', async () => {
  const { goal, config } = world({ now: Date.now });
  const told = await simulateGoal({
    goal,
    config,
    providers,
    onEvent: (event, { say }) => {
      if (event.type === 'approval_requested') say({ type: 'stop' }, { by: 'mia' });
    },
  });
  expect(told.result).toMatchObject({ completed: false, stopReason: 'interrupted' });
  const left = await simulateGoal({ goal, config, providers, signal: AbortSignal.abort() });
  expect(left.result).toMatchObject({ completed: false, stopReason: 'aborted' });
});

test('who approves more of a budget says how much more', async () => {
  const budget = { maxCycles: 1, onBudget: 'ask', budgetRoles: ['lead'] };
  const asked = async (amount?: number): Promise<number> => {
    let questions = 0;
    const { result } = await simulateGoal({
      goal: world({ now: Date.now, budget }).goal,
      config: (now) => world({ now, budget }).config,
      providers,
      onEvent: (event, { approve }) => {
        if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
        const isBudget = event.type === 'input_request';
        if (isBudget) questions += 1;
        const more = isBudget && amount !== undefined ? { amount } : {};
        approve(event, { by: 'mia', roles: ['lead'], ...more });
      },
    });
    expect(result).toMatchObject({ completed: true });
    return questions;
  };
  expect([await asked(), await asked(2)]).toEqual([2, 1]);
});

test('what a goal would refuse as soon as it is said is refused to the one who says it', async () => {
  const { goal, config } = world({ now: Date.now });
  const refused: unknown[] = [];
  await simulateGoal({
    goal,
    config,
    providers,
    onEvent: (event, { say }) => {
      if (event.type !== 'goal_started') return;
      const pace = { cron: '0 25 * * *', timezone: 'Europe/Zurich' };
      for (const body of [
        { type: 'setPace', pace },
        { type: 'steer', text: 'half a pair \ud800' },
      ] as const) {
        try {
          say(body, { by: 'mia' });
        } catch (error) {
          refused.push(error);
        }
      }
      say({ type: 'stop' }, { by: 'mia' });
    },
  });
  expect(refused).toMatchObject([{ code: 'InvalidTask' }, { code: 'InvalidTask' }]);
});

describe('a question of the model', () => {
  const answered = async (
    onEvent: NonNullable<Parameters<typeof simulateGoal>[0]['onEvent']>,
  ): Promise<string> => {
    const agent = defineAgent({
      name: 'a',
      model: 'anthropic/claude-sonnet-5-5',
      instructions: 'Ask.',
      tools: [askPerson],
    });
    const goal = defineGoal({
      name: 'asked',
      objective: 'Ask once.',
      agent,
      done: { all: [{ plan: 'complete' }] },
      pace: { everyMs: days(100) },
      budget: { maxCostMicroUsd: usd(1), maxCycles: 2 },
    });
    const { events } = await simulateGoal({
      goal,
      config: defineConfig({ agents: [agent], goals: [goal] }),
      model: [calls('ask_person', { question: 'Which colour?' }), 'Asked.'],
      onEvent,
    });
    const given = events.find(({ type }) => type === 'input_provided');
    return JSON.stringify(given ?? null);
  };

  test('takes the answer of a person', async () => {
    const told = await answered((event, { answer }) => {
      if (event.type === 'input_request') answer(event, 'blue', { by: 'mia' });
    });
    expect(told).toContain('mia');
  });

  test.each<[string, (world: GoalWorld, ask: AskedEvent, person: SimulatedPerson) => void]>([
    ['answers', (world, ask, person) => world.answer(ask, 'blue', person)],
    ['says something', (world, _, person) => world.say({ type: 'steer', text: 'Go.' }, person)],
  ])('a person who %s is closed: a role under another name is none', async (_, speak) => {
    const slip = { by: 'mia', role: ['lead'] } as unknown as SimulatedPerson;
    const refused: unknown[] = [];
    await answered((event, world) => {
      if (event.type !== 'input_request') return;
      try {
        speak(world, event, slip);
      } catch (error) {
        refused.push(error);
      }
      world.answer(event, 'blue', { by: 'mia' });
    });
    expect(refused[0]).toMatchObject({
      code: 'InvalidFixture',
      message: 'A person has no field "role".',
    });
  });

  test.each([
    ['of a run that never was', (runId: string) => `${runId}0`, 0],
    ['of a run that is over', (runId: string) => runId, days(90)],
  ])('an answer to one %s ends the test: nothing takes it', async (_, changed, waitMs) => {
    const late = answered((event, { answer, after }) => {
      if (event.type !== 'input_request') return;
      const { runId } = event.stamp;
      const other = { ...event, stamp: { ...event.stamp, runId: changed(runId) } };
      after(waitMs, () => answer(other, 'blue', { by: 'mia' }));
    });
    await expect(late).rejects.toMatchObject({
      code: 'AskNotFound',
      message: expect.stringContaining('takes the word of the person'),
    });
  });

  test('an answer that no run would take is refused to the one who gives it', async () => {
    const refused: unknown[] = [];
    await answered((event, { answer }) => {
      if (event.type !== 'input_request') return;
      try {
        answer(event, 'blue '.repeat(1_000), { by: 'mia' });
      } catch (error) {
        refused.push(error);
      }
    });
    expect(refused[0]).toMatchObject({ code: 'InvalidTask' });
  });

  test('an approval of something that nobody asked ends the test as well', async () => {
    const other = answered((event, { approve }) => {
      if (event.type !== 'input_request') return;
      approve({ ...event, stamp: { ...event.stamp, runId: 'nobody' } }, { by: 'mia' });
    });
    await expect(other).rejects.toMatchObject({ code: 'AskNotFound' });
  });
});

test('what cannot be a goal is refused as a client refuses it', async () => {
  const { goal, config } = world({ now: Date.now });
  const definition = { ...goal.definition, objective: ' ' };
  await expect(simulateGoal({ definition, config, providers })).rejects.toMatchObject({
    code: 'InvalidTask',
  });
});

describe('what answers for the models', () => {
  const approving: Parameters<typeof simulateGoal>[0]['onEvent'] = (event, { approve }) => {
    if (event.type === 'approval_requested') approve(event, { by: 'mia', roles: ['lead'] });
  };

  test('a list begins anew with each cycle', async () => {
    const { goal, config, done } = world({ now: Date.now });
    const { result, events, violations } = await simulateGoal({
      goal,
      config,
      model: [calls('send', { n: 1 }), 'Sent.'],
      onEvent: approving,
    });
    expect(result).toMatchObject({ completed: true, detail: 'done_condition' });
    expect(done).toHaveLength(3);
    expect(events.filter(({ type }) => type === 'cycle_ended')).toHaveLength(3);
    expect(violations).toEqual([]);
  });

  test('scripts by name answer for sub-agents and judges, and people for what a sub-agent asks', async () => {
    const { goal, config, corrected } = judged();
    const asked: string[] = [];
    const { result, events, violations } = await simulateGoal({
      goal,
      config,
      model: [
        { calls: [{ tool: 'look', id: 'seen' }] },
        calls('agent', { name: 'auditor', prompt: 'Look at it.' }),
        'Looked at.',
      ],
      agents: {
        auditor: ({ agent, call }) => {
          asked.push(agent);
          return call === 1 ? { calls: [{ tool: 'correct' }] } : 'Corrected.';
        },
        strict: ({ agent }) => {
          asked.push(agent);
          // Judges are asked before the first cycle as well, when there is nothing to cite.
          const cycle = asked.filter((one) => one === agent).length - 1;
          const evidence = [`c${cycle}/seen`];
          return { output: { score: cycle < 2 ? 0.2 : 0.9, because: 'Corrected.', evidence } };
        },
      },
      onEvent: approving,
    });
    expect(result).toMatchObject({ completed: true, detail: 'done_condition' });
    const ofCycle = ['a/auditor', 'a/auditor', 'strict'];
    expect(asked).toEqual(['strict', ...ofCycle, ...ofCycle]);
    expect(corrected).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'approval_requested')).toHaveLength(2);
    expect(violations).toEqual([]);
  });

  test('a request that nothing is scripted for ends the test, and names the agent', async () => {
    const { goal, config } = world({ now: Date.now });
    const model = [calls('send', { n: 1 })];
    await expect(simulateGoal({ goal, config, model, onEvent: approving })).rejects.toMatchObject({
      code: 'InvalidFixture',
      message: expect.stringContaining('the agent a has 1 turn, and request 2 was made'),
    });
  });

  test('without one the script of the configuration does, for vendors as well, and keeps no process', async () => {
    const keeping = () => process.getActiveResourcesInfo().filter((one) => one.startsWith('TCP'));
    const before = keeping();
    const { goal, config, done } = world({ now: Date.now });
    const { result } = await simulateGoal({
      goal,
      config: {
        ...config,
        scripted: ({ assistantMessages }) =>
          assistantMessages === 0
            ? { calls: [{ tool: 'send', input: { n: 1 } }] }
            : { text: 'Sent.' },
      },
      onEvent: approving,
    });
    expect(result).toMatchObject({ completed: true });
    expect(done).toHaveLength(3);
    expect(keeping()).toEqual(before);
  });

  test('without anything the goal is not begun', async () => {
    const { goal, config } = world({ now: Date.now });
    await expect(simulateGoal({ goal, config })).rejects.toMatchObject({
      code: 'InvalidFixture',
      message: 'Nothing answers for the models of the goal.',
    });
  });
});

test('a cycle that cannot be opened ends with its failure, as a server tells it', async () => {
  const agent = defineAgent({
    name: 'a',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Work.',
    sandbox: { seed: '/nowhere/at/all' },
  });
  const goal = defineGoal({
    name: 'g',
    objective: 'It is done.',
    agent,
    done: { all: [{ person: { roles: ['lead'], question: 'Is it done?' } }] },
    pace: { everyMs: days(1) },
    budget: { maxCostMicroUsd: usd(1), maxCycles: 1 },
  });
  const config = defineConfig({ agents: [agent], goals: [goal] });
  const { events } = await simulateGoal({ goal, config, model: ['Done.'] });
  expect(events.find(({ type }) => type === 'cycle_ended')).toMatchObject({
    stopReason: 'failed',
    detail: 'InvalidTask',
  });
});
