/** Workers leave the stacks of workflow code out, or keep them: decisions are the same. */
import { AGENT, APPROVER } from '../integration/support/agents.js';
import { openAsk, pay, say, startWorld, type World } from '../integration/support/world.js';

const RUN_ID = 'waits';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
});
afterAll(() => world.stop());

const stackOf = (runId: string): Promise<string> =>
  world.raw.workflow.getHandle(runId).query<string>('__stack_trace');

test('a run that one worker serves with stack traces goes on at one that leaves them out', async () => {
  const telling = await world.serve({ stackTraces: true });
  world.script(RUN_ID, [pay('pay.asked'), say('Paid.')]);
  const run = await world.client.start({ agent: AGENT, task: 'Pay it.', runId: RUN_ID });
  const { askId } = await openAsk(run);
  expect(await stackOf(RUN_ID)).toMatch(/at .*loop/);

  await world.retire(telling);
  await world.serve();
  await expect(stackOf(RUN_ID)).rejects.toThrow('not enabled on this worker');

  await run.approve(askId, APPROVER);
  const { result } = await world.ended(run);
  expect(result.stopReason).toBe('completed');
});
