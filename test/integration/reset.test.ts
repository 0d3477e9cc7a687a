import { randomUUID } from 'node:crypto';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { APPROVER } from './support/agents.js';
import { ofType, openAsk, pay, read, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** Resets a run to the end of its `nth` workflow task, as anybody with Temporal's own tools can. */
async function reset(run: RunHandle, nth: number): Promise<string> {
  const { runId } = run;
  const { events } = await world.history(runId);
  const execution = events?.[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const { runId: next } = await world.raw.workflowService.resetWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: runId, runId: execution ?? '' },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: tasks[nth - 1]!.eventId!,
  });
  return next;
}

const effects = (runId: string) => world.service.visits(runId, 'effect').map(({ key }) => key);

describe('a run that is reset to an earlier workflow task', () => {
  test('pays neither its model nor its effects again, and tells its readers', async () => {
    const runId = 'ended';
    const replies = [read(), pay('pay.probed', 100), pay('pay.asked', 200), say('Finished.')];
    const run = await world.start({ runId, replies });
    const { askId } = await openAsk(run);
    await run.approve(askId, APPROVER);
    const first = await world.ended(run);
    const asked = world.requests(runId).length;

    await reset(run, 3);
    // The old decision comes back before its question does: it does not count, and a person looks again.
    const again = await openAsk(run);
    expect(again.askId).toBe(askId);
    await run.approve(askId, APPROVER);
    const second = await world.ended(run);

    expect(effects(runId)).toEqual(['ended:1', 'ended:2']);
    expect(world.requests(runId)).toHaveLength(asked);
    expect(second.result).toMatchObject({
      completed: true,
      answer: first.result.answer,
      costMicroUsd: first.result.costMicroUsd,
      counters: { toolCalls: 3 },
    });
    const contents = ({ events }: typeof first) =>
      ofType(events, 'tool_finished').map(({ callId, status, content }) => [
        callId,
        status,
        content,
      ]);
    expect(contents(second)).toEqual(contents(first));
    const ledger = await world.store.listLedger('default', { runId });
    expect(ledger.map(({ key, state, attempt }) => [key, state, attempt])).toEqual([
      ['ended:1', 'recorded', 1],
      ['ended:2', 'recorded', 1],
    ]);
    expect(await world.store.getRun('default', runId)).toMatchObject({ epoch: 1 });
  });

  test('and takes another way to the same call: a person is asked before it is made again', async () => {
    const runId = 'other-way';
    const paying = pay('pay.probed', 300);
    const ways = [
      [paying, say('Paid.'), say('As you wish.')],
      [read(), paying, say('Left alone.')],
    ];
    let way = 0;
    const run = await world.start({
      runId,
      settings: { afterAnswer: 'await_user' },
      replies: ({ assistantMessages }) => ways[way]![assistantMessages]!,
    });
    await until('the first answer', async () =>
      (await run.state())?.status === 'awaiting_user' ? true : undefined,
    );
    expect(effects(runId)).toEqual(['other-way:0']);
    // Comes back with the reset, ahead of the first request: the model is asked another question.
    await run.sendMessage('And read it first.');
    await until('the second answer', async () =>
      (await run.state())?.queuedMessages === 0 ? true : undefined,
    );
    way = 1;
    await reset(run, 1);
    const ask = await until('the question about the call', async () =>
      (await run.pendingApprovals()).find(({ kind }) => kind === 'approval'),
    );
    expect(ask).toMatchObject({
      kind: 'approval',
      tool: 'pay.probed',
      callKey: '1',
      repeats: { earlier: [{ key: 'other-way:0', state: 'done' }] },
    });
    await run.reject(ask.askId, APPROVER);
    await until('the answer after the reset', async () =>
      (await run.state())?.status === 'awaiting_user' ? true : undefined,
    );
    expect(effects(runId)).toEqual(['other-way:0']);
    await run.close();
  });

  test('while an effect is in doubt: the question is asked again, and its answer counts once', async () => {
    const runId = 'doubtful';
    // The service never answers, so nobody knows what became of the call.
    const held = world.service.hold(runId, 'after');
    const run = await world.start({ runId, replies: [pay('pay.blind'), say('Finished.')] });
    await held;
    const before = await openAsk(run);
    await reset(run, 2);
    const after = await until('the question after the reset', async () => {
      const events = await world.events(runId);
      const asks = ofType(events, 'input_request');
      const { epoch = 0 } = (await world.store.getRun('default', runId)) ?? {};
      return epoch === 1 ? asks[0] : undefined;
    });
    expect(after.askId).toBe(before.askId);
    await run.answer(before.askId, { kind: 'happened' }, { by: 'maria' });
    const { result } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(effects(runId)).toEqual(['doubtful:0']);
    const ledger = await world.store.listLedger('default', { runId });
    expect(ledger).toMatchObject([{ state: 'recorded', source: 'person', attempt: 1 }]);
  });

  test('while an effect is under way: the one of the earlier execution is found, not repeated', async () => {
    const runId = 'under-way';
    const held = world.service.hold(runId, 'after');
    const run = await world.start({ runId, replies: [pay('pay.probed'), say('Finished.')] });
    await held;
    await reset(run, 2);
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
    expect(effects(runId)).toEqual(['under-way:0']);
    expect(ofType(events, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
  });
});
