import { Worker, NativeConnection } from '@temporalio/worker';
import { WorkflowFailedError } from '@temporalio/client';
import type { RunResult } from '../../core/state/result.js';
import type { StartInput } from '../../core/state/task.js';
import * as messages from '../../workflows/messages.js';
import { AGENT, APPROVER } from './support/agents.js';
import {
  expectWhole,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  TASK_QUEUE,
  until,
  type World,
} from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('a run', () => {
  test('reads, answers, and its events in the store tell all of it without a gap', async () => {
    const run = await world.start({ runId: 'plain', replies: [read('cup'), say('It is blue.')] });
    const { result, events } = await world.ended(run);
    expect(events.map((event) => event.type)).toEqual([
      'session_init',
      'model_response',
      'validation',
      'permission',
      'tool_started',
      'tool_finished',
      'tool_results_message',
      'transition',
      'model_response',
      'validation',
      'stop',
      'run_result',
    ]);
    const [finished] = ofType(events, 'tool_finished');
    expect(finished?.content).toEqual({ text: '{"item":"cup","fact":"it is blue"}' });
    const stored = ofType(events, 'run_result')[0]!.result;
    // Storing it takes active time too.
    const { activeMs } = stored.counters;
    expect(stored).toEqual({ ...result, counters: { ...result.counters, activeMs } });
    expect(await world.store.getRun('default', 'plain')).toMatchObject({
      agent: AGENT,
      status: 'completed',
      stopReason: 'completed',
      result: stored,
    });
  });

  test('ends with a result that says how it ended, what it used and what it counted', async () => {
    const run = await world.start({ runId: 'result', replies: [read(), say('It is blue.')] });
    const { result } = await world.ended(run);
    const { counters, usage } = result;
    expect(result).toMatchObject({
      runId: 'result',
      status: 'completed',
      stopReason: 'completed',
      detail: 'final_answer',
      completed: true,
      answer: { text: 'It is blue.' },
      trace: { runId: 'result', traceId: 'result', events: 12 },
    });
    expect(result).not.toHaveProperty('nextSafeAction');
    expect(result).not.toHaveProperty('unprocessed');
    expect(counters).toMatchObject({
      modelCalls: 2,
      turnCount: 2,
      step: 1,
      proposedCalls: 1,
      toolCalls: 1,
      toolAttempts: 1,
      deniedCalls: 0,
      invalidCalls: 0,
      costMicroUsd: result.costMicroUsd,
      usage,
      waitingMs: expect.any(Number),
    });
    // The scripted model's list price: 3 and 15 USD per million tokens, rounded up once per call.
    const exact = usage.input * 3 + usage.output * 15;
    expect(result.costMicroUsd).toBeGreaterThanOrEqual(exact);
    expect(result.costMicroUsd).toBeLessThanOrEqual(exact + 2);
    expect(counters.activeMs).toBeGreaterThan(0);
    expect(Object.keys(result.versions)).toEqual(
      expect.arrayContaining([
        'agent',
        'prompt',
        'tools',
        'policy',
        'modelRoute',
        'pricing',
        'code',
      ]),
    );
  });

  test('puts the conversation to the model in order: goal, call, result', async () => {
    const run = await world.start({
      runId: 'order',
      task: { goal: 'Which colour?', constraints: ['Be brief.'] },
      replies: [read('cup'), say('Blue.')],
    });
    await world.ended(run);
    const [first, second] = world.requests('order').map((request) => JSON.parse(request.body!));
    expect(first.messages.map(({ role }: { role: string }) => role)).toEqual(['user']);
    expect(JSON.stringify(first.messages)).toContain('Which colour?');
    expect(JSON.stringify(first.messages)).toContain('Be brief.');
    expect(second.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect(second.messages[0]).toEqual(first.messages[0]);
    expect(second.messages[1].content[0]).toMatchObject({
      type: 'tool_use',
      name: 'facts__read',
      input: { item: 'cup' },
    });
    expect(second.messages[2].content[0]).toMatchObject({
      type: 'tool_result',
      tool_use_id: second.messages[1].content[0].id,
    });
  });

  test('answers queries while it waits and after it has ended', async () => {
    const run = await world.start({
      runId: 'queries',
      replies: [pay('pay.asked'), say('Paid.')],
    });
    const ask = await openAsk(run);
    const state = await run.state();
    expect(state).toMatchObject({
      runId: 'queries',
      agent: AGENT,
      opened: true,
      status: 'awaiting_approval',
      reservedMicroUsd: 0,
      asks: [ask],
    });
    expect(await run.pendingApprovals()).toEqual([ask]);
    expect(ask).toMatchObject({
      kind: 'approval',
      tool: 'pay.asked',
      args: { order: 'A1', amountCents: 500 },
      roles: APPROVER.roles,
      quorum: 1,
    });
    await run.approve(ask.askId, APPROVER);
    const { result } = await world.ended(run);
    const after = await run.state();
    expect(after).toMatchObject({ status: 'completed', asks: [], inFlight: [], result });
    expect(after.events).toBe(result.trace.events);
    const held = await world.raw.workflow.getHandle('queries').query(messages.events, 0);
    // What the store has acknowledged the run does not hold any more.
    expect(held.every((event) => event.stamp.seq >= 0)).toBe(true);
    expect(held.length).toBeLessThan(result.trace.events);
  });

  test('events can be followed while they happen, each once and in order', async () => {
    const run = await world.start({ runId: 'followed', replies: [read(), read('cup'), say('ok')] });
    const seen: number[] = [];
    for await (const event of run.events()) seen.push(event.stamp.seq);
    const { events } = await world.ended(run);
    expect(seen).toEqual(events.map((event) => event.stamp.seq));
  });
});

describe('starting', () => {
  test('the same run id twice is one run, and its effects happen once', async () => {
    const start = () => world.start({ runId: 'twice', replies: [pay('pay.probed'), say('Paid.')] });
    const [one, other] = await Promise.all([start(), start()]);
    const [first, second] = await Promise.all([world.ended(one), world.ended(other)]);
    expect(first.result).toEqual(second.result);
    expect(world.service.visits('twice', 'effect')).toHaveLength(1);
    expect(world.requests('twice')).toHaveLength(2);
  });

  test('the id of a run that has ended is refused and names the way to it', async () => {
    await world.ended(await world.start({ runId: 'used', replies: [say('Done.')] }));
    await expect(world.start({ runId: 'used', replies: [say('Again.')] })).rejects.toMatchObject({
      code: 'RunExists',
      hint: expect.stringContaining('used'),
    });
    expect(world.requests('used')).toHaveLength(1);
  });

  test('the id of a run of another tenant that is under way is taken', async () => {
    const theirs = await world.start({
      runId: 'shared',
      tenant: 'other',
      replies: [pay('pay.asked'), say('Paid.')],
    });
    await openAsk(theirs);
    await expect(world.start({ runId: 'shared', replies: [say('Mine.')] })).rejects.toMatchObject({
      code: 'RunExists',
      message: expect.not.stringContaining('other'),
    });
    await expect(world.client.ownRun('shared')).rejects.toMatchObject({ code: 'RunNotFound' });
    const own = await world.client.forTenant('other').ownRun('shared');
    await own.interrupt();
    expect(await theirs.result()).toMatchObject({ stopReason: 'interrupted' });
  });

  test('an unknown agent is a typed error that names the known ones, and no run is started', async () => {
    const start = world.start({ runId: 'nobody', agent: 'nobody', replies: [] });
    await expect(start).rejects.toMatchObject({
      code: 'UnknownAgent',
      message: expect.stringContaining('"nobody"'),
      hint: expect.stringContaining('desk, talker'),
    });
    await expect(world.client.handle('nobody').execution()).rejects.toMatchObject({
      code: 'RunNotFound',
    });
  });

  test('a blank goal is refused before anything is sent', async () => {
    const start = world.start({ runId: 'blank', task: ' \n ', replies: [] });
    await expect(start).rejects.toMatchObject({
      code: 'InvalidTask',
      message: expect.stringContaining('task.goal'),
    });
    await expect(world.client.handle('blank').state()).rejects.toMatchObject({
      code: 'RunNotFound',
    });
  });

  test.each<[string, unknown]>([
    ['a blank goal', { v: 1, agent: AGENT, task: { goal: '  ' } }],
    ['no task', { v: 1, agent: AGENT }],
    ['a version that never was', { v: 0, agent: AGENT, task: { goal: 'Serve.' } }],
    ['a text', 'Serve.'],
    ['a budget of texts', { v: 1, agent: AGENT, task: { goal: 'x' }, budget: { maxTurns: 'no' } }],
    ['evidence of numbers', { v: 1, agent: AGENT, task: { goal: 'x', requiredEvidence: [1] } }],
  ])('a start straight at Temporal with %s fails typed and at once', async (title, input) => {
    const workflowId = `raw ${title}`;
    const handle = await world.raw.workflow.start(messages.AGENT_RUN, {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: [input],
    });
    const failure = await handle.result().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect((failure as WorkflowFailedError).cause).toMatchObject({
      type: 'InvalidTask',
      nonRetryable: true,
    });
  });

  test('a start of a newer version waits for a worker that reads it, and says so', async () => {
    const handle = await world.raw.workflow.start(messages.AGENT_RUN, {
      workflowId: 'newer-start',
      taskQueue: TASK_QUEUE,
      args: [{ v: 2, agent: AGENT, task: { goal: 'Serve.' } }],
    });
    const stuck = await until('the wait', async () =>
      (await world.client.stuckRuns({ limit: 200, allTenants: true })).find(
        ({ runId }) => runId === 'newer-start',
      ),
    );
    expect(stuck).toMatchObject({
      kind: 'workflow_task',
      reason: expect.stringMatching(/^NotServed: .*version 2.*reads version 1.*newer worker/),
    });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
  });

  test('a run that needs no client is an ordinary workflow with one argument', async () => {
    world.script('bare', [say('Done.')]);
    const input: StartInput = { v: 1, agent: AGENT, task: { goal: 'Serve.' } };
    const result: RunResult = await world.raw.workflow.execute(messages.AGENT_RUN, {
      workflowId: 'bare',
      taskQueue: TASK_QUEUE,
      args: [input],
    });
    expect(result).toMatchObject({ completed: true, answer: { text: 'Done.' } });
    expectWhole(await world.events('bare'), result);
  });
});

describe("an agent inside a user's own workflow", () => {
  let stopParents: () => Promise<void>;
  beforeAll(async () => {
    const connection = await NativeConnection.connect({ address: world.place.address });
    const worker = await Worker.create({
      connection,
      namespace: world.place.namespace,
      taskQueue: 'parents',
      workflowsPath: require.resolve('./support/parent-workflow.ts'),
    });
    const served = worker.run();
    stopParents = async () => {
      worker.shutdown();
      await served;
      await connection.close();
    };
  });
  afterAll(() => stopParents());

  const parent = (name: string, args: readonly string[]) => {
    const options = { workflowId: `${name}-1`, taskQueue: 'parents', args: [...args] };
    return world.raw.workflow.execute(name, options) as Promise<RunResult>;
  };

  test('runs as a child on the Holdfast worker and gives its result', async () => {
    world.script('parent-1-child', [read(), say('It is blue.')]);
    const result = await parent('parent', ['Which colour?']);
    expect(result).toMatchObject({
      runId: 'parent-1-child',
      completed: true,
      answer: { text: 'It is blue.' },
    });
    expectWhole(await world.events('parent-1-child'), result);
  });

  test.each(['.', '..'])('a child named %s fails the parent with the reason', async (id) => {
    const failure = await parent('parentOf', [id]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const { cause } = (failure as WorkflowFailedError).cause as { cause?: unknown };
    expect(cause).toMatchObject({
      type: 'InvalidTask',
      message: `The run id "${id}" cannot be used: it stands for another place in a path.`,
    });
  });

  test('a child that cannot be opened fails the parent with the reason', async () => {
    const failure = await parent('parentOfNobody', []).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const { cause } = (failure as WorkflowFailedError).cause as { cause?: unknown };
    expect(cause).toMatchObject({
      type: 'UnknownAgent',
      message: expect.stringContaining('nobody'),
    });
  });
});
