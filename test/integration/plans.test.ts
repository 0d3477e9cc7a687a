/** Calls side by side and plans, through the real workflow, activities and store. */
import { replayRuns } from '../../testing/replay.js';
import { APPROVER } from './support/agents.js';
import { ofType, openAsk, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const facts = (item: string, more: object = {}) => ({
  tool: 'facts.read',
  input: { item, ...more },
});

async function expectReplays(runId: string): Promise<void> {
  const replayed = await replayRuns(world.place, [runId]);
  expect([...replayed]).toEqual([]);
}

test('batched reads are at the service together, and their results keep their order', async () => {
  const runId = 'batched';
  const both = [world.service.hold(runId, 'read'), world.service.hold(runId, 'read')];
  const run = await world.start({
    runId,
    settings: { toolExecution: 'batched' },
    replies: [
      { calls: [facts('cup'), facts('lamp'), { tool: 'notes.write', input: { item: 'both' } }] },
      say('Done.'),
    ],
  });
  await Promise.all(both);
  expect(world.service.visits(runId, 'before')).toEqual([]);
  world.service.releaseAll();
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ completed: true, counters: { toolCalls: 3 } });
  const proposed = ofType(events, 'model_response')[0]!.calls.map(({ id }) => id);
  expect(ofType(events, 'tool_results_message')[0]?.callIds).toEqual(proposed);
  await expectReplays(runId);
});

test('a plan hands results on, asks about what will really be done, and skips the alternative', async () => {
  const runId = 'plan';
  const pay = { order: { $from: 'state.fact.item' }, amountCents: 500 };
  const run = await world.start({
    runId,
    settings: { toolExecution: 'dataflow' },
    replies: [
      {
        calls: [
          { tool: 'pay.asked', input: { ...pay, _outputPath: 'state.paid' } },
          facts('A1', { _outputPath: 'state.fact' }),
          facts('B2', { _outputPath: 'state.fact' }),
          facts('C3', { _when: { path: 'state.fact.fact', equals: 'it is red' } }),
        ],
      },
      say('Paid.'),
    ],
  });
  const ask = await openAsk(run);
  expect(ask).toMatchObject({ tool: 'pay.asked', args: { order: 'A1', amountCents: 500 } });
  await run.approve(ask.askId, APPROVER);
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ completed: true, counters: { toolCalls: 2, skippedCalls: 2 } });
  const paths = ofType(events, 'tool_finished').flatMap(({ path }) => path ?? []);
  expect(paths).toEqual(['fact', 'paid']);
  const body = world.requests(runId)[1]?.body;
  expect(body).toContain('skipped_alternative');
  expect(body).toContain('_outputPath');
  await expectReplays(runId);
});
