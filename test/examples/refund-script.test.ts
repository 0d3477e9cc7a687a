import { refundScript } from '../../examples/refund/script';
import { DELIVERIES, ORDERS } from '../../examples/refund/shop/catalogue';

type Request = Parameters<typeof refundScript>[0];
type Message = Request['messages'][number];

const INVESTIGATOR = ['read_order', 'read_delivery_status', 'draft_refund_recommendation'];
const PAYER = ['payments__issue_refund'];

function result(id: string, value: unknown): Message {
  const content = [{ type: 'tool_result', tool_use_id: id, content: JSON.stringify(value) }];
  return { role: 'user', content };
}

function ask(goal: string, about: { tools: string[]; turns?: Message[] }): unknown {
  const { tools, turns = [] } = about;
  const messages = [
    { role: 'user', content: goal },
    ...turns.flatMap((turn) => [{ role: 'assistant', content: [] }, turn]),
  ];
  return refundScript({
    model: 'm',
    system: '',
    messages,
    assistantMessages: turns.length,
    runId: 'r',
    maxTokens: 1000,
    tools,
    attempt: 1,
    stream: true,
  });
}

function investigated(orderId: string): Message[] {
  const order = ORDERS.find((each) => each.orderId === orderId);
  const delivery = DELIVERIES.find((each) => each.orderId === orderId);
  return [result('1', order), result('2', delivery)];
}

describe('the demo script', () => {
  const goal = 'Decide whether the evidence supports a refund for order O-104.';

  test('investigates step by step, from order to recommendation', () => {
    expect(ask(goal, { tools: INVESTIGATOR })).toMatchObject({
      calls: [{ tool: 'read_order', input: { orderId: 'O-104' } }],
    });
    const turns = investigated('O-104');
    expect(ask(goal, { tools: INVESTIGATOR, turns: turns.slice(0, 1) })).toMatchObject({
      calls: [{ tool: 'read_delivery_status' }, { tool: 'search_refund_policy' }],
    });
    expect(ask(goal, { tools: INVESTIGATOR, turns })).toMatchObject({
      calls: [{ tool: 'draft_refund_recommendation', input: { supported: true } }],
    });
  });

  test.each([
    ['O-101', false, 0],
    ['O-102', true, 500],
    ['O-103', false, 0],
    ['O-104', true, 8950],
  ] as const)('decides on %s by what the tools returned', (orderId, supported, amountCents) => {
    const turns = [...investigated(orderId), result('3', { recorded: true })];
    const answer = ask(`A refund for order ${orderId}.`, { tools: INVESTIGATOR, turns });
    const { text } = answer as { text: string };
    expect(JSON.parse(text)).toMatchObject({ orderId, supported, amountCents });
  });

  test('pays what its task says, once, and answers with the reference', () => {
    const task = 'Refund order O-104 with 8950 cents and tell the customer.';
    expect(ask(task, { tools: PAYER })).toMatchObject({
      calls: [{ tool: 'payments.issue_refund', input: { orderId: 'O-104', amountCents: 8950 } }],
    });
    const turns = [result('1', { refundId: 'RF-1', amountCents: 8950 })];
    const paid = ask(task, { tools: PAYER, turns }) as { text: string; calls?: unknown };
    expect(paid.text).toContain('89.50 USD');
    expect(paid.text).toContain('RF-1');
    expect(paid.calls).toBeUndefined();
  });

  test('reads what was paid from behind the line that tells of a correction', () => {
    const answer = { refundId: 'RF-1', amountCents: 5_000 };
    const content = `User modified this call: executed payments.issue_refund {}\n${JSON.stringify(answer)}`;
    const turns: Message[] = [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content }] },
    ];
    const task = 'Refund order O-104 with 8950 cents and tell the customer.';
    expect(ask(task, { tools: PAYER, turns })).toMatchObject({
      text: expect.stringContaining('50.00 USD'),
    });
  });

  test('supports nothing when the order is not known, and ends', () => {
    const failed: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: '1', is_error: true, content: 'no order' }],
    };
    const turns = Array<Message>(4).fill(failed);
    const { text } = ask('Order O-999', { tools: INVESTIGATOR, turns }) as { text: string };
    expect(JSON.parse(text)).toMatchObject({ supported: false });
    expect(ask('Order O-999', { tools: INVESTIGATOR, turns: [...turns, ...turns] })).toMatchObject({
      status: 400,
      exhausted: true,
    });
  });
});
