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

test('doubtfulRepeats: a fork whose parent may have made a call asks whether to make the call once more', async () => {
  const replies = [call('ship.book', { order: 'A1' }), say('Booked.')];
  const parent = await world.start({ runId: 'lost', agent: 'desk', replies });
  await openAsk(parent);
  const { fold } = await recordOf(world, 'lost');
  const runId = await forked(world, 'lost', '--at', `${fold.steps.length}`);
  const fork = world.client.handle(runId);
  const inDoubt = await openAsk(fork);
  const [started] = ofType(await world.events('lost'), 'tool_started');
  expect(inDoubt.question).toContain(`with key ${started?.key} take effect`);
  await fork.answer(inDoubt.askId, { kind: 'not_happened' }, { by: 'maria' });
  const repeat = await openAsk(fork);
  expect(repeat.repeats?.earlier).toMatchObject([{ runId: 'lost', key: started?.key }]);
  expect(repeat.question).toContain(
    has('doubtfulRepeats') ? 'may already have been done' : 'was already done',
  );
  await fork.reject(repeat.askId, { by: 'maria' });
  await fork.result();
  const asked = await openAsk(parent);
  await parent.answer(asked.askId, { kind: 'happened', value: { booked: true } }, { by: 'maria' });
  await world.ended(parent);
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
