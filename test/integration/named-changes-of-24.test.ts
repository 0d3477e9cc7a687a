/**
 * Runs whose decisions hang on a named change of rules 24 (core/step/run-changes.ts), on a real server. What older rules
 * decide is in the unit tests of each change.
 */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { follows, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import { call, ofType, openAsk, say, startWorld, type World } from './support/world.js';

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const has = (change: ChangeName): boolean => follows({ rules }, change);

const book = defineTool({
  name: 'ship.book',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  onLost: 'repeat_with_key',
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
    settings: { afterAnswer: 'await_user' },
  });
  world = await startWorld({ worker: false });
  await world.serve({ config: defineConfig({ agents: [desk] }) });
});
afterAll(() => world.stop());

test('nothingDoneHeard: after the last attempt the word of a person is the result', async () => {
  const run = await world.start({
    runId: 'undone',
    agent: 'desk',
    settings: { afterAnswer: 'complete' },
    replies: [call('ship.book', { order: 'A1' }), say('Not booked.')],
  });
  const { askId } = await openAsk(run);
  await run.answer(askId, { kind: 'not_happened' }, { by: 'maria' });
  const { events } = await world.ended(run);
  const [told] = ofType(events, 'tool_finished');
  expect(told?.code).toBe(has('nothingDoneHeard') ? 'execution_error' : 'outcome_unknown');
  expect(told?.attempts).toBe(10);
});

test('resumable: who stops a run without a session is not sent to one', async () => {
  const run = await world.start({ runId: 'alone', agent: 'desk', replies: [say('Hello.')] });
  await run.interrupt();
  const { events } = await world.ended(run);
  const [told] = ofType(events, 'run_result');
  expect(told?.result.nextSafeAction).toBe(
    has('resumable') ? 'Start a new run.' : 'Resume the session with a new run.',
  );
});
