// DBOS: a workflow whose model requests and tool calls are steps, and a message that approves. Its next launch goes on
// with what a crash has left.
import Anthropic from '@anthropic-ai/sdk';
import { DBOS } from '@dbos-inc/dbos-sdk';
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

const client = new Anthropic({ apiKey: 'bench', baseURL: settings.modelUrl });
const WAIT_SECONDS = 3_600;

const TOOLS = [
  { name: READ, description: 'Reads one order.', of: { orderId: { type: 'string' } } },
  { name: PAY, description: 'Pays the refund.', of: { amountCents: { type: 'number' } } },
].map(({ of, ...one }) => ({
  ...one,
  input_schema: { type: 'object', properties: of, required: Object.keys(of) },
}));

async function askModel(messages) {
  const { content } = await client.messages.create({
    model: MODEL,
    max_tokens: 8_000,
    system: INSTRUCTIONS,
    tools: TOOLS,
    messages,
  });
  return content;
}

async function runTool({ name, input }) {
  if (name === READ) return orderText(input.orderId);
  const run = DBOS.workflowID;
  return pay({ run, amountCents: input.amountCents, key: `${run}-${DBOS.stepID}` });
}

async function resultOf(call) {
  if (call.name === PAY && (await approval(DBOS.workflowID)) !== true) {
    return { type: 'tool_result', tool_use_id: call.id, content: 'rejected', is_error: true };
  }
  const content = await DBOS.runStep(() => runTool(call), { name: call.name });
  return { type: 'tool_result', tool_use_id: call.id, content };
}

async function agentLoop(goal) {
  const messages = [{ role: 'user', content: goal }];
  for (;;) {
    const content = await DBOS.runStep(() => askModel(messages), { name: 'model' });
    messages.push({ role: 'assistant', content });
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return 'done';
    const results = [];
    for (const call of calls) results.push(await resultOf(call));
    messages.push({ role: 'user', content: results });
  }
}

/** A message that came before a restart is there at once: then nobody is asked. */
async function approval(run) {
  const asked = setTimeout(() => tell({ is: 'waiting', run, for: 'approval' }), 500);
  try {
    return await DBOS.recv('approval', WAIT_SECONDS);
  } finally {
    clearTimeout(asked);
  }
}

DBOS.setConfig({
  name: 'peer',
  systemDatabaseUrl: settings.databaseUrl,
  logLevel: 'error',
  runAdminServer: false,
});
const loop = DBOS.registerWorkflow(agentLoop, { name: 'agent' });
await DBOS.launch();

async function watch(run, handle) {
  await handle.getResult();
  tell({ is: 'ended', run });
}

servePeer({
  start: async (run, goal) => watch(run, await DBOS.startWorkflow(loop, { workflowID: run })(goal)),
  approve: (run) => DBOS.send(run, true, 'approval'),
  again: (run) => watch(run, DBOS.retrieveWorkflow(run)),
});
