/**
 * Runs whose decisions hang on a named change of rules 25 (core/step/run-changes.ts), on a real server. What older rules
 * decide is in the unit tests of each change.
 */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { follows, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import { forked, recordOf } from './support/forking.js';
import { ANY_RUN, call, ofType, openAsk, say, startWorld, type World } from './support/world.js';

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const has = (change: ChangeName): boolean => follows({ rules }, change);

const book = defineTool({
  name: 'ship.book',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  onLost: 'ask',
  approval: 'never',
  // A claim of a lost attempt is waited for as long.
  timeoutMs: 100,
  input: z.object({ order: z.string() }),
  run: () => Promise.reject(new Error('The line broke.')),
});

let world: World;
beforeAll(async () => {
  const desk = defineAgent({
    name: 'desk',
    model: 'scripted/model',
    instructions: 'Serve the customer.',
    tools: [book],
  });
  world = await startWorld({ worker: false });
  await world.serve({ config: defineConfig({ agents: [desk] }) });
  world.script(ANY_RUN, [say('Booked.')]);
});
afterAll(() => world.stop());

test('parentsKey: a fork asks about a call of the recorded run by the key that it had there', async () => {
  const replies = [call('ship.book', { order: 'A1' }), say('Booked.')];
  const parent = await world.start({ runId: 'lost', agent: 'desk', replies });
  await openAsk(parent);
  const { fold } = await recordOf(world, 'lost');
  const runId = await forked(world, 'lost', '--at', `${fold.steps.length}`);
  const fork = world.client.handle(runId);
  const { askId, question } = await openAsk(fork);
  const keys = ofType(await world.events('lost'), 'tool_started').map(({ key }) => key);
  expect(question?.includes(`with key ${keys[0]} take effect`)).toBe(has('parentsKey'));
  for (const [run, id] of [
    [fork, askId],
    [parent, (await openAsk(parent)).askId],
  ] as const) {
    await run.answer(id, { kind: 'happened', value: { booked: true } }, { by: 'maria' });
    await run.result();
    const [told] = ofType(await world.events(run.runId), 'tool_finished');
    expect(told?.status).toBe('ok');
    if (has('parentsKey')) expect(told?.key).toBe(keys[0]);
  }
});

test('amountsInWords: a person is asked for more of a budget in words', async () => {
  const run = await world.start({
    runId: 'poor',
    agent: 'desk',
    budget: { maxTurns: 1 },
    settings: { onBudget: 'ask' },
    replies: [call('ship.book', { order: 'A1' }), say('Booked.')],
  });
  const lost = await openAsk(run);
  await run.answer(lost.askId, { kind: 'happened', value: { booked: true } }, { by: 'maria' });
  const { askId, question } = await openAsk(run);
  expect(question).toBe(
    has('amountsInWords')
      ? 'The run needs more turns: 1 of 1 used. Allow 1 more?'
      : 'The run needs more of maxTurns: 1 of 1 are used. Allow 1 more?',
  );
  await run.approve(askId, { by: 'maria' });
  await world.ended(run);
});
