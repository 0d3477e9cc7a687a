// LangGraph: an agent with a checkpointer on PostgreSQL and a person in front of one tool. After a crash its caller
// invokes the same thread again.
import { ChatAnthropic } from '@langchain/anthropic';
import { Command } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import {
  INSTRUCTIONS,
  MODEL,
  orderText,
  PAY,
  pay,
  READ,
  servePeer,
  settings,
  tell,
} from './peer.mjs';

const read = tool(({ orderId }) => orderText(orderId), {
  name: READ,
  description: 'Reads one order.',
  schema: z.object({ orderId: z.string() }),
});
const refund = tool(
  ({ amountCents }, config) => {
    const run = config.configurable.thread_id;
    return pay({ run, amountCents, key: `${run}-${config.toolCall?.id ?? config.toolCallId}` });
  },
  {
    name: PAY,
    description: 'Pays the refund.',
    schema: z.object({ amountCents: z.number() }),
  },
);

const checkpointer = PostgresSaver.fromConnString(settings.databaseUrl);
await checkpointer.setup();
const agent = createAgent({
  model: new ChatAnthropic({
    model: MODEL,
    apiKey: 'bench',
    anthropicApiUrl: settings.modelUrl,
    maxTokens: 8_000,
  }),
  tools: [read, refund],
  systemPrompt: INSTRUCTIONS,
  middleware: [humanInTheLoopMiddleware({ interruptOn: { [PAY]: true } })],
  checkpointer,
});

async function invoke(run, input) {
  const config = { configurable: { thread_id: run }, recursionLimit: 10_000 };
  const { __interrupt__: interrupts = [] } = await agent.invoke(input, config);
  if (interrupts.length > 0) tell({ is: 'waiting', run, for: 'approval' });
  else tell({ is: 'ended', run });
}

servePeer({
  start: (run, goal) => invoke(run, { messages: [{ role: 'user', content: goal }] }),
  approve: (run) => invoke(run, new Command({ resume: { decisions: [{ type: 'approve' }] } })),
  again: (run) => invoke(run, null),
});
