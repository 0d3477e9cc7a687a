/** Texts from outside with half of a surrogate pair, which no client of ours sends. */
import type { WorkflowFailedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import * as messages from '../../workflows/messages.js';
import { APPROVER } from './support/agents.js';
import {
  TASK_QUEUE,
  ofType,
  openAsk,
  pay,
  say,
  startWorld,
  until,
  type World,
} from './support/world.js';

let world: World;
beforeAll(async () => void (world = await startWorld()));
afterAll(() => world.stop());

const json = (text: string): Payload => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(text),
});

function signal(workflowId: string, signalName: string, payloads: readonly Payload[]) {
  return world.raw.workflowService.signalWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [...payloads] },
  });
}

async function warningOf(runId: string, code: string) {
  return ofType(await world.events(runId), 'warning').find((event) => event.code === code);
}

test('texts with half of a surrogate pair are warnings, and no part of the run', async () => {
  const run = await world.start({
    runId: 'half-pairs',
    replies: [pay('pay.asked'), say('Finished.')],
  });
  const ask = await openAsk(run);
  const half = '\\ud83d';
  const decision = { v: 1, askId: ask.askId, argsHash: ask.argsHash, decision: 'approve' };
  const text = JSON.stringify({ ...decision, by: 'mia HALF', roles: [], decidedAt: Date.now() });
  await signal(run.runId, 'resolveApproval', [json(text.replace('HALF', half))]);
  await signal(run.runId, 'userMessage', [json(`{"text":"Hurry ${half}"}`)]);
  await signal(run.runId, 'provideInput', [json(`{"askId":"x","value":{"${half}":1}}`)]);
  await signal(run.runId, 'setModel', [json(`"model ${half}"`)]);
  for (const name of ['resolveApproval', 'userMessage', 'provideInput', 'setModel']) {
    const told = await until(name, async () => warningOf(run.runId, `rejected_${name}`));
    expect(told.message).toContain('half of a surrogate pair');
  }
  const update = world.raw.workflow.getHandle(run.runId).executeUpdate('decide', {
    args: [{ ...decision, by: `mia ${String.fromCharCode(0xd83d)}`, roles: [], decidedAt: 1 }],
  });
  await expect(update).rejects.toMatchObject({
    cause: { message: expect.stringContaining('half of a surrogate pair') },
  });
  await run.approve(ask.askId, APPROVER);
  expect((await world.ended(run)).result.completed).toBe(true);
});

test('with half of a surrogate pair in its goal fails typed', async () => {
  const workflowId = 'start-with-half-a-pair';
  const half = String.fromCharCode(0xdc00);
  const handle = await world.raw.workflow.start(messages.AGENT_RUN, {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [{ v: 1, agent: 'any', task: { goal: `Serve ${half}` } }],
  });
  const failure = await handle.result().catch((error: unknown) => error);
  expect((failure as WorkflowFailedError).cause).toMatchObject({
    type: 'InvalidTask',
    message: expect.stringContaining('half of a surrogate pair'),
  });
});
