/** A plain Temporal loop as a peer: the whole conversation with each model request, and retries as they are by default. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { keepQuiet } from '../../replay/keep-quiet.js';
import { bareActivities } from '../bench/bare/activities.js';
import type { bareLoop, BareToolInput } from '../bench/bare/loop.js';
import { bareBundle } from '../bench/bare/worker.js';
import { servePeer, settingsOfPeer, tell, type PeerSettings } from './protocol.js';
import { INSTRUCTIONS, MODEL, orderText, PAY, pay, READ, taskOf } from './task.js';

const QUEUE = 'peer-temporal';
const TURNS_MAX = 1_000;
const LOOK_MS = 50;

const TOOLS = [
  { name: READ, description: 'Reads one order.', of: { orderId: { type: 'string' } } },
  { name: PAY, description: 'Pays the refund.', of: { amountCents: { type: 'number' } } },
].map(({ of, ...tool }) => ({
  ...tool,
  input_schema: { type: 'object', properties: of, required: Object.keys(of) },
}));

function toolsOf({ serviceUrl, keyed }: PeerSettings) {
  return async ({ run, name, args }: BareToolInput): Promise<string> => {
    const { orderId, amountCents } = args as { orderId: string; amountCents: number };
    if (name === READ) return orderText(orderId);
    const { workflowExecution, activityId } = Context.current().info;
    const key = `${workflowExecution?.workflowId}-${activityId}`;
    return JSON.stringify(await pay({ serviceUrl, run, amountCents, ...(keyed && { key }) }));
  };
}

async function main(): Promise<void> {
  keepQuiet();
  const settings = settingsOfPeer();
  const { address = '' } = settings;
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue: QUEUE,
    workflowBundle: await bareBundle(),
    activities: bareActivities({
      baseUrl: settings.modelUrl,
      model: MODEL,
      system: INSTRUCTIONS,
      tools: TOOLS,
      runTool: toolsOf(settings),
    }),
  });
  void worker.run();
  const client = new Client({ connection: await Connection.connect({ address }) });
  const watch = async (run: string, asks: boolean): Promise<void> => {
    const handle = client.workflow.getHandle(run);
    let isOver = false;
    let isWaiting = false;
    const ended = handle.result().finally(() => {
      isOver = true;
    });
    while (asks && !isOver && !isWaiting) {
      isWaiting = await handle.query<boolean>('waiting').catch(() => false);
      if (isWaiting) tell({ is: 'waiting', run, for: 'approval' });
      await sleep(LOOK_MS);
    }
    await ended;
    tell({ is: 'ended', run });
  };
  servePeer({
    async start(run, goal) {
      await client.workflow.start<typeof bareLoop>('bareLoop', {
        workflowId: run,
        taskQueue: QUEUE,
        args: [{ run, passes: 'conversation', goal, turnsMax: TURNS_MAX, gated: PAY }],
      });
      await watch(run, taskOf(goal)?.pays ?? false);
    },
    approve: (run) => client.workflow.getHandle(run).signal('approve'),
    again: (run) => watch(run, true),
  });
}

void main();
