import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import type { ProposedCall } from '../../core/state/model.js';
import { attempt, modelInput, openedHead, startBed, type Bed } from './setup.js';

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.strictObject({ orderId: z.string(), count: z.number().default(1) }),
  run: () => ({}),
});

describe('calls in dataflow mode', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  async function proposed(input: Json, dataflow = true): Promise<ProposedCall> {
    const replies = [{ calls: [{ id: 'c1', tool: 'orders.read', input }] }];
    bed = await startBed({ tools: [readOrder], replies });
    const head = await openedHead(bed);
    const asked = modelInput(head, { ...(dataflow && { dataflow }) });
    const { reply, head: after } = await attempt(bed.activities().call_model, asked);
    const said = (await bed.store.readChain('default', after)).at(-1)?.blocks[0];
    // What the model said stays as it said it.
    expect(said).toMatchObject({ type: 'tool_use', args: input });
    return reply.calls[0]!;
  }

  test('what they say about others never reaches the schema', async () => {
    const call = await proposed({ orderId: 'o', _outputPath: 'state.r', _dependsOn: ['c0'] });
    expect(call).toMatchObject({
      args: { orderId: 'o', count: 1 },
      check: { ok: true },
      flow: { outputPath: 'r', dependsOn: ['c0'], refs: [] },
    });
  });

  test('with references they are checked later', async () => {
    const call = await proposed({ orderId: { $from: 'state.a.id' }, count: '†state.n' });
    expect(call).toMatchObject({
      args: { orderId: { $from: 'state.a.id' }, count: '†state.n' },
      check: { ok: true },
      flow: { refs: ['a.id', 'n'] },
    });
  });

  test('that refer to nothing are checked now', async () => {
    const call = await proposed({ orderId: 7, _outputPath: 'r' });
    expect(call).toMatchObject({ check: { ok: false }, flow: { outputPath: 'r' } });
  });

  test.each([
    [{ orderId: 'o', _outputPath: 'state.__proto__' }, /_outputPath/],
    [{ orderId: 'o', _dependsOn: 'c1' }, /_dependsOn/],
    [{ orderId: 'o', _when: { path: 'r', like: 1 } }, /_when/],
    [{ orderId: { $from: 'order.id' } }, /order\.id.* no path/],
  ])('what cannot be read refuses them: %j', async (input, message) => {
    const { check, flow } = await proposed(input);
    expect(check).toMatchObject({ ok: false, message: expect.stringMatching(message) });
    expect(flow).toBeUndefined();
  });

  test('in the other modes the same names are arguments like any other', async () => {
    const call = await proposed({ orderId: 'o', _outputPath: 'state.r' }, false);
    expect(call.check).toMatchObject({
      ok: false,
      message: expect.stringContaining('_outputPath'),
    });
    expect(call).not.toHaveProperty('flow');
  });
});
