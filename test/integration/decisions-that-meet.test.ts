/** Two people decide on one question at the same moment, and what the first one says ends it. */
import type { AskDecision } from '../../client/index.js';
import { AGENT, APPROVER } from './support/agents.js';
import { ANY_RUN, ofType, say, startWorld, until, type World } from './support/world.js';

const GOALS = 24;
/** Between the two words, in ms: what is on its way when the goal ends differs from round to round. */
const STEP_MS = 4;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function questionOf(goalId: string): Promise<string> {
  const goal = await world.client.startGoal({
    goalId,
    definition: {
      objective: 'All invoices are matched.',
      agent: AGENT,
      done: { all: [{ person: { roles: ['manager'], question: 'Are all matched?' } }] },
      budget: { maxCostMicroUsd: 1_000_000 },
      approval: [{ before: 'first_cycle', roles: ['manager'] }],
      pace: 'when_woken',
    },
  });
  const ask = await until('the question', async () => (await goal.state()).asks[0]);
  await until('its row', () => world.store.getAsk('default', ask.askId));
  return ask.askId;
}

test('whoever comes too late to a goal that the first word ends is told that, never that there is no goal', async () => {
  world.script(ANY_RUN, [say('Done for today.')]);
  for (let round = 0; round < GOALS; round += 1) {
    const goalId = `met-${round}`;
    const askId = await questionOf(goalId);
    const goal = world.client.handle(goalId);
    const decide = async (by: string, decision: AskDecision['decision'], waitMs: number) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return goal.decideOn({ ...APPROVER, by, askId, decision }).then(
        () => 'counts',
        (error: { readonly code?: string; readonly message: string }) =>
          `${error.code}: ${error.message}`,
      );
    };
    const said = await Promise.all([
      decide('maria', 'reject', 0),
      decide('tom', 'approve', round * STEP_MS),
    ]);
    const lost = said.filter((word) => word !== 'counts');
    expect(lost).toEqual([expect.stringMatching(/^DecisionRejected: .*(maria|tom)/)]);
    const events = await until('the end of the question', async () => {
      const all = ofType(await world.events(goalId), 'approval_resolved');
      return all.length > 0 ? all : undefined;
    });
    expect(events).toHaveLength(1);
    await world.client
      .goal(goalId)
      .cancel({ by: 'test' })
      .catch(() => undefined);
  }
});
