import { query, type HoldfastClient } from '../../index.js';

/** Asks the agent `orders`, shows its words as they come, and gives its answer. */
export async function askOrders(client: HoldfastClient, orderId: string): Promise<string> {
  const run = query({
    prompt: `Where is order ${orderId}?`,
    options: {
      client,
      agent: 'orders',
      runId: `where-is-${orderId}`, // asked again, it goes on with the run that is under way
      maxTurns: 5,
      maxCostUsd: 0.1,
      includePartialMessages: true,
      decider: { by: 'mia', roles: ['support'] },
      canUseTool: async (tool, input) =>
        tool === 'read_order' && input.orderId === orderId
          ? { behavior: 'allow' }
          : { behavior: 'deny', message: 'Only this order may be looked at.' },
    },
  });
  for await (const message of run) {
    if (message.type === 'stream_event' && message.event.type === 'content_block_delta') {
      const { delta } = message.event;
      if (delta.type === 'text_delta') process.stdout.write(delta.text);
    }
    if (message.type === 'tool_progress') console.log(`\n[${message.tool_name}]`);
    if (message.type === 'result' && message.subtype === 'success') return message.result;
    if (message.type === 'result') throw new Error(message.errors.join(' '));
  }
  throw new Error('the query was left');
}
