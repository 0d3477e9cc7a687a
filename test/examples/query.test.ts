/** The example of docs/guide/query.md: what stands there is the program, and the program works. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { config } from '../../examples/minimal/agent.js';
import { askOrders } from '../../examples/query/ask-orders.js';
import { call, say, startWorld, type World } from '../integration/support/world.js';

const ROOT = join(__dirname, '..', '..');

let world: World;
let printed = '';
beforeAll(async () => {
  world = await startWorld({ workerSettings: { config } });
  const keep = (text: unknown): true => {
    printed += String(text);
    return true;
  };
  jest.spyOn(process.stdout, 'write').mockImplementation(keep);
  jest.spyOn(console, 'log').mockImplementation((text: unknown) => void keep(`${String(text)}\n`));
});
afterAll(async () => {
  jest.restoreAllMocks();
  await world.stop();
});

test('the page shows the program as it is', () => {
  const program = readFileSync(join(ROOT, 'examples/query/ask-orders.ts'), 'utf8');
  const page = readFileSync(join(ROOT, 'docs/guide/query.md'), 'utf8');
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  expect(shown).toBe(program.replace("'../../index.js'", "'holdfast'"));
});

test('the program shows the words as they come, and gives the answer', async () => {
  const answer = 'Order O-104 was delivered.';
  world.script('where-is-O-104', [call('read_order', { orderId: 'O-104' }), say(answer)]);
  expect(await askOrders(world.client, 'O-104')).toBe(answer);
  expect(printed).toContain(answer);
  expect(printed).toContain('[read_order]');
});
