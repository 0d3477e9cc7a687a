/** `holdfast answer`, as a person types it, to whether a call in doubt took effect. */
import { holdfast, placeOf } from './support/command.js';
import { call, ofType, openAsk, read, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const spoken = (...words: readonly string[]) => holdfast(placeOf(world), words);

const inDoubt = (runId: string) =>
  world.start({ runId, replies: [call('odd.pay', { how: 'throws' }), say('Finished.')] });

test('"happened" ends the doubt with what the tool would have returned', async () => {
  const run = await inDoubt('happened');
  const { askId } = await openAsk(run);
  const value = ['--value', '{"receipt":17}'];
  expect(await spoken('answer', askId, 'happened', '--as', 'mia', ...value)).toMatchObject({
    code: 0,
    out: expect.stringContaining('answered'),
  });
  const { events, result } = await world.ended(run);
  expect(result.completed).toBe(true);
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { status: 'ok', content: { text: '{"receipt":17}' } },
  ]);
  expect(await world.store.listLedger('default', { runId: 'happened' })).toMatchObject([
    { state: 'recorded', source: 'person' },
  ]);
});

test('"not_happened" lets it be tried once more, "stop" ends the run, anything else is no answer', async () => {
  const run = await inDoubt('again');
  const first = await openAsk(run);
  const refused = await spoken('answer', first.askId, 'maybe', '--as', 'mia');
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('happened, not_happened or stop');
  expect((await spoken('answer', first.askId, 'not_happened', '--as', 'mia')).code).toBe(0);

  const second = await openAsk(run);
  expect(second.askId).toBe(`${first.askId}:2`);
  const late = await spoken('answer', first.askId, 'happened', '--as', 'mia');
  expect(late.code).not.toBe(0);
  expect((await spoken('answer', second.askId, 'stop', '--as', 'mia')).code).toBe(0);

  const { events, result } = await world.ended(run);
  expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'outcome_unknown' });
  expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'outcome_unknown', attempts: 2 }]);
  expect(await world.store.listLedger('default', { runId: 'again' })).toMatchObject([
    { state: 'void', attempt: 2, wasClaimed: true },
  ]);
});

test('"--amount" takes the unit of the budget, refuses another one, and the answer says what was allowed', async () => {
  const run = await world.start({
    runId: 'more-turns',
    replies: [read(), read(), read(), say('Finished.')],
    settings: { onBudget: 'ask' },
    budget: { maxTurns: 1 },
  });
  const { askId } = await openAsk(run);
  const refused = await spoken('approve', askId, '--amount', '6s', '--as', 'mia');
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringContaining('The question asks for more turns, and 6s is time.'),
  });
  const once = ['--as', 'mia', '--id', 'more-turns'];
  const first = await spoken('approve', askId, '--amount', '2', ...once, '--json');
  expect(JSON.parse(first.out)).toMatchObject({ askId, status: 'decided', amount: 2 });
  const again = await openAsk(run);
  const same = await spoken('approve', askId, '--amount', '2', ...once);
  expect(same.out).toContain(`${askId}: approved (sent: 2 more turns).`);
  const { out } = await spoken('approve', again.askId, '--as', 'mia');
  expect(out).toContain(`${again.askId}: approved: 3 more turns.`);
  const { events } = await world.ended(run);
  expect(ofType(events, 'input_provided')).toMatchObject([{ amount: 2 }, { amount: 3 }]);
});
