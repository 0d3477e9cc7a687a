import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { loadDatabase, type Database } from '../../lab/proving/domains/database';
import { parseJson } from '../../lab/proving/python/python-json';
import { objectFromJson } from '../../lab/proving/python/python-value';
import { runTool } from '../../lab/proving/domains/domain';
import { RETAIL } from '../../lab/proving/retail/tools';
import {
  changedRecords,
  createMemoryOverlay,
  openStage,
  type MemoryOverlay,
} from '../../lab/proving/domains/world';
import { describeWithMaterial, TAU2, TAU_BENCH } from './material';

const tasksSchema = z.array(
  z.object({
    task_index: z.number(),
    actions: z.array(z.object({ name: z.string(), kwargs: z.record(z.string(), z.unknown()) })),
    action_results: z.array(z.string().nullable()),
  }),
);

function call(
  database: Database,
  overlay: MemoryOverlay,
  [tool, args]: [string, Record<string, unknown>],
): string {
  const stage = openStage(database, overlay);
  const answer = runTool(RETAIL, stage, { name: tool, args: objectFromJson(args) });
  if (!answer.error) overlay.keep(stage.staged());
  return answer.content;
}

describeWithMaterial('the retail tools on the tau-bench ground truth', () => {
  let database: Database;
  beforeAll(() => {
    database = loadDatabase(RETAIL, [join(TAU_BENCH, 'retail', 'data')]);
  });

  test.each([
    ['tasks_test.json', 582, 4],
    ['tasks_dev.json', 25, 0],
  ])('every action of %s gives its recorded result', (file, actions, unrecorded) => {
    const text = readFileSync(join(TAU_BENCH, 'retail', file), 'utf8');
    let done = 0;
    let withoutResult = 0;
    for (const task of tasksSchema.parse(JSON.parse(text))) {
      const overlay = createMemoryOverlay();
      task.actions.forEach((action, index) => {
        const content = call(database, overlay, [action.name, action.kwargs]);
        const recorded = task.action_results[index] ?? null;
        done += 1;
        // No result was recorded where the conversation was handed to a person.
        if (recorded === null) withoutResult += 1;
        else
          expect({ task: task.task_index, content }).toEqual({
            task: task.task_index,
            content: recorded,
          });
      });
    }
    expect({ done, withoutResult }).toEqual({ done: actions, withoutResult: unrecorded });
  });

  test('a file named after a table replaces that table', () => {
    const folder = join(TAU_BENCH, 'retail');
    const other = loadDatabase(RETAIL, [
      join(folder, 'data'),
      join(folder, 'data_as_recorded', 'users.json'),
    ]);
    const details = call(other, createMemoryOverlay(), [
      'get_user_details',
      { user_id: 'noah_brown_6181' },
    ]);
    expect(details).toContain('"province": "CO"');
  });

  test('the tools are those of the schema, with its parameters and classes', () => {
    const schema = z.array(
      z.object({
        class: z.string(),
        money: z.boolean(),
        schema: z.object({
          function: z.object({
            name: z.string(),
            parameters: z.object({ required: z.array(z.string()) }),
          }),
        }),
      }),
    );
    const listed = schema.parse(
      JSON.parse(readFileSync(join(TAU_BENCH, 'retail', 'tools.json'), 'utf8')),
    );
    expect(listed).toHaveLength(16);
    for (const entry of listed) {
      const tool = RETAIL.tools.get(entry.schema.function.name);
      expect({
        effect: tool?.effect,
        money: tool?.money ?? false,
        parameters: tool?.parameters,
      }).toEqual({
        effect: entry.class,
        money: entry.money,
        parameters: entry.schema.function.parameters.required,
      });
    }
    expect([...RETAIL.tools.values()].filter((tool) => tool.only !== 'tau2')).toHaveLength(16);
  });
});

describeWithMaterial('the retail tools on the tau2 database', () => {
  let database: Database;
  let overlay: MemoryOverlay;
  beforeAll(() => {
    database = loadDatabase(RETAIL, [join(TAU2, 'retail', 'db.json')]);
  });
  beforeEach(() => {
    overlay = createMemoryOverlay();
  });

  test('a refused call leaves nothing behind', () => {
    const refused = call(database, overlay, [
      'cancel_pending_order',
      { order_id: '#W4836353', reason: 'changed my mind' },
    ]);
    expect(refused).toBe('Error: Invalid reason');
    expect(changedRecords(database, overlay).size).toBe(0);
  });

  test('cancelling refunds a gift card at once, and a second cancellation is refused', () => {
    const cancel: [string, Record<string, unknown>] = [
      'cancel_pending_order',
      { order_id: '#W4836353', reason: 'no longer needed' },
    ];
    expect(call(database, overlay, cancel)).toContain('"status": "cancelled"');
    expect([...changedRecords(database, overlay).keys()]).toEqual(['orders', 'users']);
    expect(call(database, overlay, cancel)).toBe('Error: Non-pending order cannot be cancelled');
  });

  test('one run does not see what another run changed', () => {
    call(database, overlay, [
      'cancel_pending_order',
      { order_id: '#W4836353', reason: 'no longer needed' },
    ]);
    const other = call(database, createMemoryOverlay(), [
      'get_order_details',
      { order_id: '#W4836353' },
    ]);
    expect(other).toContain('"status": "pending"');
  });

  test('writing what is already there counts as no change', () => {
    const user = database.tables.get('users')?.get('noah_brown_6181');
    const address = user?.get('address');
    if (!(address instanceof Map)) throw new Error('the user has no address');
    const args = { user_id: 'noah_brown_6181', ...Object.fromEntries(address) };
    expect(call(database, overlay, ['modify_user_address', args])).toContain('986 Sunset Drive');
    expect(changedRecords(database, overlay).size).toBe(0);
  });

  test.each([
    [
      'get_order_details',
      {},
      "RetailTools.get_order_details() missing 1 required positional argument: 'order_id'",
    ],
    [
      'cancel_pending_order',
      {},
      "RetailTools.cancel_pending_order() missing 2 required positional arguments: 'order_id' and 'reason'",
    ],
    [
      'get_user_details',
      { user_id: 'x', extra: 1 },
      "RetailTools.get_user_details() got an unexpected keyword argument 'extra'",
    ],
    ['get_user_details', { user_id: 7 }, 'User not found'],
    ['get_user_details', { user_id: '__proto__' }, 'User not found'],
    ['get_user_details', { user_id: ['x'] }, "unhashable type: 'list'"],
    ['find_user_id_by_email', { email: null }, "'NoneType' object has no attribute 'lower'"],
    ['think', { thought: 'hm' }, "Tool 'think' not found."],
    ['__proto__', {}, "Tool '__proto__' not found."],
  ])('%s with %j is refused in the words of the recording', (tool, args, text) => {
    expect(call(database, overlay, [tool, args])).toBe(`Error: ${text}`);
  });

  test('outputs keep the order of keys in the file even where they look like array indices', () => {
    const text = call(database, overlay, ['get_product_details', { product_id: '9523456873' }]);
    const variants = parseJson(text);
    if (!(variants instanceof Map)) throw new Error('not an object');
    const ids = variants.get('variants');
    expect(ids instanceof Map ? [...ids.keys()].slice(0, 2) : []).toEqual([
      '9612497925',
      '8124970213',
    ]);
  });
});
