/** A cycle whose end its goal has taken for known, and which is still at work. */
import { z } from 'zod';
import { defineTool } from '../../../authoring/index.js';
import { attempt, callOf, effect, executeInput, startBed } from '../setup.js';
import { cycle, GOAL } from './goal-bed.js';

test('a cycle that its goal has given up has no effect any more', async () => {
  let sent = 0;
  const send = defineTool({
    name: 'send',
    version: '1',
    effect: 'send',
    idempotency: 'keyed',
    approval: 'never',
    input: z.object({}),
    run: () => {
      sent += 1;
      return 'sent';
    },
  });
  const bed = await startBed({ tools: [send] });
  const runId = await cycle(bed, 1);
  const execute = (key: string) =>
    attempt(
      bed.activities().execute_tool,
      executeInput(callOf('send', {}, { key }), { run: { ...GOAL, runId } }),
      effect(),
    );
  expect((await execute(`${runId}:1`)).outcome).toMatchObject({ kind: 'ok' });
  await bed.store.sealChild(GOAL.tenant, runId);
  expect((await execute(`${runId}:2`)).outcome).toMatchObject({
    kind: 'error',
    code: 'not_executed',
  });
  expect(sent).toBe(1);
  await bed.end();
});
