/** Forks that run live: what the recorded run did is done again only after a person has agreed. */
import { forkRefusal } from '../../core/loop/fork.js';
import { replayRun } from '../../replay/strict-replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { FORK_PARENTS, type ForkParent } from './support/fork-parents.js';
import { decided, exported, forked, holdfast, recordOf, type Recorded } from './support/forking.js';
import { ANY_RUN, startWorld, TASK_QUEUE, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const PARENTS = 1;
const STEPS = 3;

async function parentOf(made: ForkParent, name: string): Promise<Recorded & { runId: string }> {
  const { replies, decision = 'approve', maxTurns, forkOf } = made;
  world.script(ANY_RUN, replies);
  const budget = maxTurns !== undefined && { budget: { maxTurns } };
  const first = `${forkOf?.name ?? 'parent'}-${name}`;
  const started = await world.start({ runId: first, replies, ...budget });
  await decided(world, started, decision);
  await world.ended(started);
  if (forkOf === undefined) return { ...(await recordOf(world, first)), runId: first };
  const runId = await forked(world, first, '--at', `${forkOf.step}`);
  await decided(world, world.client.handle(runId), decision);
  return { ...(await recordOf(world, runId)), runId };
}

/** Calls of tools with effects that were given to an executor after the step, and not before it. */
function toCome({ fold }: Recorded, step: number): readonly string[] {
  const executing = (fold.at(step).after.turn?.calls ?? [])
    .filter(({ stage }) => stage === 'executing')
    .map(({ id }) => id);
  const calls = fold.steps
    .filter((one) => one.step > step)
    .flatMap((one) => fold.at(one.step).started)
    .flatMap((effect) => (effect.kind === 'execute_tool' ? [effect.input.call] : []))
    .filter(
      ({ tool, callId }) => /^(pay|notes|any|odd\.pay)/.test(tool) && !executing.includes(callId),
    );
  return [...new Map(calls.map(({ key, tool }) => [key, tool])).values()];
}

test.each(WHOLE ? FORK_PARENTS : drawn(FORK_PARENTS, PARENTS, SEED))(
  'a live fork of $name does nothing again before a person has agreed, replays, and leaves its parent as it was',
  async (made) => {
    const place = FORK_PARENTS.indexOf(made);
    const { runId: parent, fold, bundle } = await parentOf(made, `${place}`);
    expect(world.service.visits(parent, 'effect')).toHaveLength(made.effects);
    const possible = fold.steps.filter(
      ({ step }) => forkRefusal(fold.at(step).after) === undefined,
    );
    const steps = WHOLE ? possible : drawn(possible, STEPS, SEED);
    saySeed(`forks of ${made.name} at ${steps.map(({ step }) => step).join(', ')}`);
    const forks: string[] = [];
    for (const { step } of steps) {
      for (const decision of ['reject', 'approve'] as const) {
        const runId = await forked(world, parent, '--at', `${step}`);
        forks.push(runId);
        const questions = await decided(world, world.client.handle(runId), decision);
        const effects = world.service.visits(runId, 'effect');
        const again = toCome({ fold, bundle }, step);
        const done = again.filter((tool) => tool !== 'odd.pay').length;
        const repeated = questions.filter(({ repeats }) => repeats !== undefined);
        if (decision === 'reject') expect([step, effects]).toEqual([step, []]);
        // What people had refused nobody has done before; they may agree to it now.
        else if (made.decision === 'reject') expect(effects.length).toBeLessThan(2);
        else {
          expect([step, effects.length]).toEqual([step, done]);
          expect([step, repeated.length]).toEqual([step, again.length]);
          expect(repeated.filter(({ repeats }) => repeats!.earlier.length === 0)).toEqual([]);
        }
        expect(questions.length).toBeGreaterThanOrEqual(effects.length);
        const own = await exported(world, runId);
        expect(await replayRun(own)).toMatchObject({ equal: true });
        expect(own.events[0]).toMatchObject({
          type: 'session_init',
          forked: { runId: parent, step },
        });
      }
    }
    const shown = await holdfast(world, 'show', forks[0]!);
    expect(shown.out).toContain(`a fork of ${parent} after step ${steps[0]!.step}`);
    const { segments, events, nodes } = await exported(world, parent);
    expect({ segments, events, nodes }).toEqual({
      segments: bundle.segments,
      events: bundle.events,
      nodes: bundle.nodes,
    });
  },
);

test('a start that names a state which nobody has written is refused', async () => {
  const start = world.raw.workflow.start('agentRun', {
    workflowId: 'forged-fork',
    taskQueue: TASK_QUEUE,
    args: [
      { v: 1, agent: 'worker', task: { goal: 'Pay.' }, fork: { id: 'any', step: 1, digest: 'no' } },
    ],
  });
  await expect((await start).result()).rejects.toMatchObject({ name: 'WorkflowFailedError' });
});
