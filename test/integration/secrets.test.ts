/** The key to a model is in nothing that anybody keeps. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { APPROVER } from './support/agents.js';
import { openAsk, pay, read, say, startWorld, type World } from './support/world.js';

const SECRET = 'sk-ant-api03-NOBODY-KEEPS-THIS-17';

let world: World;
let before: string | undefined;
beforeAll(async () => {
  before = process.env['ANTHROPIC_API_KEY'];
  process.env['ANTHROPIC_API_KEY'] = SECRET;
  world = await startWorld({ worker: false });
  const environment = readEnvironment({
    ...process.env,
    ANTHROPIC_BASE_URL: world.model.baseUrl,
  });
  await world.serve({ providers: providersOf(environment), logLevel: 'ERROR' });
});
afterAll(async () => {
  if (before === undefined) delete process.env['ANTHROPIC_API_KEY'];
  else process.env['ANTHROPIC_API_KEY'] = before;
  await world.stop();
});

/** Everything that is left of a run: its history, events and result, and the files of the store. */
async function leftOf(runId: string): Promise<string> {
  const { result, events, history } = await world.ended(world.client.handle(runId));
  const folder = dirname(world.storePlace);
  const files = readdirSync(folder)
    .filter((name) => name.startsWith('store.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(files.length).toBeGreaterThan(0);
  // In a history texts lie as base64.
  const texts = JSON.stringify(historyToJSON(history)).replace(/[A-Za-z0-9+/=]{12,}/g, (text) =>
    [text, Buffer.from(text, 'base64').toString('latin1')].join(' '),
  );
  const view = await world.client.handle(runId).state();
  return [texts, JSON.stringify({ result, events, view }), ...files].join('\n');
}

test('of a run that reads, pays and answers', async () => {
  const run = await world.start({
    runId: 'discreet',
    replies: [read(), pay('pay.asked'), say('Paid.')],
  });
  await run.approve((await openAsk(run)).askId, APPROVER);
  const left = await leftOf('discreet');
  expect(left).toContain('facts.read');
  expect(left).not.toContain(SECRET);
});

test('of a run whose model refuses the key, and repeats it in its words', async () => {
  const message = `invalid x-api-key: ${SECRET} is not known here`;
  await world.start({ runId: 'echoed', replies: [{ status: 401, message }] });
  const left = await leftOf('echoed');
  expect(left).toContain('is not known here');
  expect(left).not.toContain(SECRET);
});

test('of a run whose model is out of order, and repeats the key in its words', async () => {
  const message = `overloaded while serving ${SECRET}`;
  const replies = [[{ status: 529, message, headers: { 'x-echo': SECRET } }, say('Done.')]];
  await world.start({ runId: 'echoed-and-retried', replies });
  expect(await leftOf('echoed-and-retried')).not.toContain(SECRET);
});
