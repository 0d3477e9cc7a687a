/**
 * Goals on a real server that meet rules which no case reaches there: what they need is time, a stranger's key, or an id.
 * Only with HOLDFAST_WHOLE=1; `npm run seal -- record --from` has kept their histories.
 */
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { replayRuns } from '../../testing/index.js';
import { WHOLE } from '../seed.js';
import { AGENT, config } from './support/agents.js';
import { ofType, say, startWorld, until, warnings, type World } from './support/world.js';

const LIMIT_MS = 90_000;
const HOUR_MS = 3_600_000;
const PROVING = 'proving';

const DEFINITION: GoalDefinition = {
  objective: 'Nothing is left.',
  agent: AGENT,
  done: { all: [{ state: 'left', equals: 0 }] },
  budget: { maxCostMicroUsd: 20_000_000 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6 },
};

const publish = (value: number) => ({
  calls: [{ tool: 'goal_publish', input: { path: 'left', value } }],
});

const whole = WHOLE ? describe : describe.skip;

whole('a goal on a server', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ worker: false });
    const whole = config({ serviceUrl: world.service.url });
    const desk = whole.agents.get(AGENT)!;
    const proving = { ...desk, name: PROVING, settings: { ...desk.settings, requireProof: true } };
    await world.serve({
      config: { ...whole, agents: new Map(whole.agents).set(PROVING, proving) },
    });
  });
  afterAll(() => world.stop());

  async function begin(goalId: string, over: Partial<GoalDefinition>) {
    world.script(`${goalId}:c1`, [publish(2), say('Two left.')]);
    world.script(`${goalId}:c2`, [publish(0), say('None left.')]);
    const definition = { ...DEFINITION, ...over };
    return world.client.startGoal({ definition, goalId, wait: false });
  }

  async function asleep(goalId: string): Promise<void> {
    await until('its sleep', async () =>
      ofType(await world.events(goalId), 'goal_sleeping').length > 0 ? true : undefined,
    );
  }

  async function expectStrict(goalId: string): Promise<void> {
    expect([...(await replayRuns(world.place, [goalId])).entries()]).toEqual([]);
  }

  test('deadline: a goal that sleeps ends at its deadline', async () => {
    const goal = await begin('late', {
      budget: { ...DEFINITION.budget, deadlineMs: 4_000 },
      pace: { everyMs: HOUR_MS },
    });
    const result = await goal.result({ timeoutMs: LIMIT_MS });
    expect(result).toMatchObject({ completed: false, detail: 'deadline' });
    await expectStrict('late');
  });

  test('wanted review: a person has a goal that sleeps reviewed', async () => {
    const goal = await begin('reviewed', { pace: { everyMs: HOUR_MS } });
    await asleep('reviewed');
    const reviews = async () => ofType(await world.events('reviewed'), 'goal_review').length;
    const before = await reviews();
    await goal.say({ type: 'review' }, { by: 'ann' });
    await until('the review', async () => ((await reviews()) > before ? true : undefined));
    await goal.say({ type: 'wake' }, { by: 'ann' });
    expect(await goal.result({ timeoutMs: LIMIT_MS })).toMatchObject({ completed: true });
    await expectStrict('reviewed');
  });

  test('sleep for a tick: a goal with a cron line sleeps until its tick, or until somebody wakes it', async () => {
    const goal = await begin('monthly', { pace: { cron: '0 9 1 1 *', timezone: 'Europe/Zurich' } });
    for (const cycles of [0, 1]) {
      await until(`the sleep before cycle ${cycles + 1}`, async () => {
        const events = await world.events('monthly');
        const slept = ofType(events, 'goal_sleeping').length;
        return slept > ofType(events, 'goal_woken').length && slept > cycles ? true : undefined;
      });
      await goal.say({ type: 'wake' }, { by: 'ann' });
    }
    expect(await goal.result({ timeoutMs: LIMIT_MS })).toMatchObject({ goal: { cycles: 2 } });
    await expectStrict('monthly');
  });

  test('fetch keys of the goal: words that are signed with a key which nobody knows are refused once the keys are fetched', async () => {
    const goal = await begin('proven', { agent: PROVING, pace: { everyMs: HOUR_MS } });
    await asleep('proven');
    const signed = { kid: 'of-a-stranger', proof: 'bm9uZQ' };
    const message = { v: 1, id: 'forged', type: 'stop', by: 'eve', roles: [], at: Date.now() };
    const handle = world.raw.workflow.getHandle('proven');
    await handle.signal('goalMessage', { ...message, ...signed });
    await until('the refusal', async () =>
      warnings(await world.events('proven')).length > 0 ? true : undefined,
    );
    expect((await goal.state()).status).toBe('sleeping');
    const { events } = await world.history('proven');
    const kinds = (events ?? []).map(
      (one) => one.activityTaskScheduledEventAttributes?.activityType?.name,
    );
    expect(kinds).toContain('fetch_keys');
    await expectStrict('proven');
    await handle.cancel();
    await goal.result({ timeoutMs: LIMIT_MS });
  });

  test('goal not opened: an id that its cycles could not carry fails the workflow with the reason', async () => {
    const handle = await world.raw.workflow.start('goalRun', {
      workflowId: 'not an id',
      taskQueue: 'holdfast',
      args: [{ v: 1, goal: DEFINITION }],
    });
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { message: expect.stringContaining('id') as string } });
    await expectStrict('not an id');
  });
});
