import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowFailedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { connect } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { AskView } from '../../core/state/ask-view.js';
import { openStore } from '../../store/store.js';
import * as messages from '../../workflows/messages.js';
import { AGENT, APPROVER, type Oddity } from './support/agents.js';
import {
  call,
  failedTasks,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  TASK_QUEUE,
  until,
  warnings,
  type Ended,
  type World,
} from './support/world.js';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const json = (text: string): Payload => ({
  metadata: { encoding: bytes('json/plain') },
  data: bytes(text),
});

/** What no client of ours would send. */
const UNDECODABLE: readonly (readonly [string, readonly Payload[]])[] = [
  ['text that is not JSON', [json('{not json')]],
  ['half a JSON text', [json('{"askId":"')]],
  ['bytes that are not UTF-8', [{ ...json(''), data: new Uint8Array([0xff, 0xfe, 0x80]) }]],
  ['an encoding that nobody knows', [{ metadata: { encoding: bytes('x/y') }, data: bytes('{}') }]],
  ['no encoding', [{ metadata: {}, data: bytes('{}') }]],
  ['no metadata', [{ data: bytes('{}') }]],
  [
    'a protobuf message without its type',
    [{ metadata: { encoding: bytes('binary/protobuf') }, data: bytes('\u0001') }],
  ],
  ['encrypted bytes', [{ metadata: { encoding: bytes('binary/encrypted') }, data: bytes('??') }]],
  ['JSON nested 100,000 deep', [json(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)]],
];

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function park(runId: string): Promise<{ run: RunHandle; ask: AskView }> {
  const run = await world.start({ runId, replies: [pay('pay.asked'), say('Finished.')] });
  return { run, ask: await openAsk(run) };
}

async function approveAndEnd(run: RunHandle, ask: AskView): Promise<Ended> {
  await run.approve(ask.askId, APPROVER);
  const ended = await world.ended(run);
  expect(ended.result.completed).toBe(true);
  expect(world.service.visits(run.runId, 'effect')).toHaveLength(1);
  return ended;
}

function signal(workflowId: string, signalName: string, payloads: readonly Payload[]) {
  return world.raw.workflowService.signalWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [...payloads] },
  });
}

/** Warnings that a run has told so far, when there are as many as wanted. */
async function warningsOf(run: RunHandle, code: string, count: number) {
  return until(`${count} warnings ${code}`, async () => {
    const events = ofType(await world.events(run.runId), 'warning');
    const found = events.filter((event) => event.code === code);
    return found.length >= count ? found : undefined;
  });
}

describe('signals sent straight to Temporal', () => {
  test('an undecodable decision is a warning that says so, and the run goes on waiting', async () => {
    const { run, ask } = await park('undecodable');
    for (const [, payloads] of UNDECODABLE) await signal(run.runId, 'resolveApproval', payloads);
    const told = await warningsOf(run, 'rejected_resolveApproval', UNDECODABLE.length);
    expect(told).toHaveLength(UNDECODABLE.length);
    expect(told[0]?.message).toContain('undecodable');
    expect((await run.state()).status).toBe('awaiting_approval');
    await approveAndEnd(run, ask);
  });

  test('undecodable messages and answers are warnings; stops need no argument', async () => {
    const { run, ask } = await park('undecodable-rest');
    for (const [, payloads] of UNDECODABLE) {
      await signal(run.runId, 'userMessage', payloads);
      await signal(run.runId, 'provideInput', payloads);
    }
    await warningsOf(run, 'rejected_userMessage', UNDECODABLE.length);
    await warningsOf(run, 'rejected_provideInput', UNDECODABLE.length);
    await approveAndEnd(run, ask);
    const other = await park('undecodable-interrupt');
    await signal(other.run.runId, 'interrupt', UNDECODABLE[0]![1]);
    expect((await world.ended(other.run)).result.stopReason).toBe('interrupted');
  });

  test('signals of unknown names, those of built-in properties too, are warnings', async () => {
    const { run, ask } = await park('unknown-signals');
    const names = ['approve', 'toString', '__proto__', 'constructor', 'x'.repeat(900), 'ü"\n'];
    for (const name of names) await signal(run.runId, name, [json('{}')]);
    const told = await warningsOf(run, 'rejected_signal', names.length);
    expect(told[0]?.message).toContain("'approve'");
    expect(told.every(({ message }) => message.length <= 500)).toBe(true);
    await approveAndEnd(run, ask);
  });

  test('a decision of no argument, several arguments or the wrong shape never counts', async () => {
    const { run, ask } = await park('shapes');
    const good = {
      v: 1,
      askId: ask.askId,
      argsHash: ask.argsHash,
      decision: 'approve',
      decidedAt: Date.now(),
      ...APPROVER,
    };
    const shapes: readonly unknown[] = [
      null,
      true,
      42,
      'approve',
      [],
      [good],
      {},
      { ...good, askId: undefined },
      { ...good, askId: ['a'] },
      { ...good, askId: 'x'.repeat(10_000) },
      { ...good, decision: 'yes' },
      { ...good, decision: { toString: 'approve' } },
      { ...good, by: '' },
      { ...good, decidedAt: String(good.decidedAt) },
      { ...good, decidedAt: 1e300 },
      { ...good, roles: 'manager' },
      { ...good, roles: new Array(1_000).fill('manager') },
      { ...good, argsHash: 7 },
      { ...good, value: 'x'.repeat(100_000) },
      { $undecodable: 'not really' },
    ];
    const handle = world.raw.workflow.getHandle(run.runId);
    for (const shape of shapes) await handle.signal('resolveApproval', shape);
    await signal(run.runId, 'resolveApproval', []);
    const told = await warningsOf(run, 'rejected_resolveApproval', shapes.length + 1);
    expect(told).toHaveLength(shapes.length + 1);
    expect((await run.state()).asks).toEqual([ask]);
    await approveAndEnd(run, ask);
  });

  test('a decision cannot hide in a prototype', async () => {
    const { run, ask } = await park('prototype');
    const fields = `"askId":"${ask.askId}","argsHash":"${ask.argsHash}","decision":"approve","by":"eve","roles":["manager"],"decidedAt":${Date.now()}`;
    await signal(run.runId, 'resolveApproval', [json(`{"__proto__":{${fields}}}`)]);
    await signal(run.runId, 'resolveApproval', [json(`{"constructor":{"prototype":{${fields}}}}`)]);
    await warningsOf(run, 'rejected_resolveApproval', 2);
    expect((await run.state()).status).toBe('awaiting_approval');
    const { events } = await approveAndEnd(run, ask);
    expect(ofType(events, 'approval_resolved')).toMatchObject([{ by: [APPROVER.by] }]);
  });

  test('a hundred decisions of a megabyte and more neither stop the run nor fill it', async () => {
    const { run, ask } = await park('huge');
    const handle = world.raw.workflow.getHandle(run.runId);
    const reason = 'y'.repeat(1024 * 1024);
    const decision = {
      v: 1,
      askId: 'nothing',
      decision: 'approve',
      by: 'eve',
      decidedAt: 1,
      reason,
    };
    for (let n = 0; n < 10; n += 1) await handle.signal('resolveApproval', decision);
    for (let n = 0; n < 90; n += 1) {
      await handle.signal('resolveApproval', { ...decision, reason: '', by: `eve${n}` });
    }
    await warningsOf(run, 'decision_ignored', 100);
    await approveAndEnd(run, ask);
  });
});

describe('Updates and queries sent straight to Temporal', () => {
  const update = (workflowId: string, name: string, payloads: readonly Payload[]) =>
    world.raw.workflowService.updateWorkflowExecution({
      namespace: world.place.namespace,
      workflowExecution: { workflowId },
      waitPolicy: { lifecycleStage: 3 },
      request: {
        meta: { updateId: `u-${Math.random()}`, identity: 'test' },
        input: { name, args: { payloads: [...payloads] } },
      },
    });

  test('an undecodable Update is rejected with the reason, and costs no history', async () => {
    const { run, ask } = await park('update');
    const before = (await world.history(run.runId)).events?.length ?? 0;
    for (const [, payloads] of UNDECODABLE) {
      const { outcome } = await update(run.runId, 'decide', payloads);
      expect(outcome?.failure?.applicationFailureInfo?.type).toBe('DecisionRejected');
    }
    const { outcome } = await update(run.runId, 'decide', []);
    expect(outcome?.failure?.message).toContain('must be an object');
    const unknown = await update(run.runId, 'nonsense', [json('{}')]);
    expect(unknown.outcome?.failure?.message).toContain('nonsense');
    expect((await world.history(run.runId)).events).toHaveLength(before);
    await approveAndEnd(run, ask);
  });

  test('queries with arguments that make no sense leave the run as it was', async () => {
    const { run, ask } = await park('queries');
    const query = (queryType: string, payloads: readonly Payload[]) =>
      world.raw.workflowService.queryWorkflow({
        namespace: world.place.namespace,
        execution: { workflowId: run.runId },
        query: { queryType, queryArgs: { payloads: [...payloads] } },
      });
    for (const [, payloads] of UNDECODABLE) {
      const { queryResult } = await query('events', payloads);
      expect(JSON.parse(Buffer.from(queryResult!.payloads![0]!.data!).toString())).toEqual([]);
    }
    await expect(query('nonsense', [json('1')])).rejects.toThrow('nonsense');
    await approveAndEnd(run, ask);
  });
});

describe('a start straight at Temporal', () => {
  test.each(UNDECODABLE)(
    'with %s fails the run at once with a typed reason',
    async (title, input) => {
      const workflowId = `start with ${title}`;
      await world.raw.workflowService.startWorkflowExecution({
        namespace: world.place.namespace,
        workflowId,
        workflowType: { name: messages.AGENT_RUN },
        taskQueue: { name: TASK_QUEUE },
        requestId: workflowId,
        input: { payloads: [...input] },
      });
      const failure = await world.raw.workflow
        .getHandle(workflowId)
        .result()
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WorkflowFailedError);
      expect((failure as WorkflowFailedError).cause).toMatchObject({ type: 'InvalidTask' });
      expect(failedTasks(await world.history(workflowId))).toEqual([]);
    },
  );

  test('that claims to be a continuation fails typed, not over and over', async () => {
    const continued = { continued: { shape: 1 }, previousExecution: 'x' };
    const handle = await world.raw.workflow.start(messages.AGENT_RUN, {
      workflowId: 'forged',
      taskQueue: TASK_QUEUE,
      args: [continued],
    });
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect((failure as WorkflowFailedError).cause).toMatchObject({ type: 'InvalidTask' });
  });
});

describe('a tool', () => {
  const odd = async (how: Oddity) => {
    const runId = `odd-${how}`;
    const replies = [call('odd.read', { how }), say('Finished.')];
    return world.ended(await world.start({ runId, replies }));
  };

  test.concurrent.each<[Oddity, string, string]>([
    ['throws', 'execution_error', 'the shop is on fire'],
    ['throws_text', 'execution_error', 'a text, not an error'],
    ['throws_nothing', 'execution_error', ''],
    ['eleven_megabytes', 'malformed_result', 'bytes'],
    ['cyclic', 'malformed_result', 'not JSON'],
    ['bigint', 'malformed_result', 'not JSON'],
    ['function', 'malformed_result', 'not JSON'],
    ['nan', 'malformed_result', 'ratio is NaN'],
  ])('that ends with %s gives the model an error result', async (how, code, message) => {
    const { result, events } = await odd(how);
    expect(result.completed).toBe(true);
    const finished = ofType(events, 'tool_finished');
    expect(finished).toMatchObject([{ status: 'error', code }]);
    expect(JSON.stringify(finished[0]?.content)).toContain(message);
    expect(world.requests(`odd-${how}`).at(-1)?.body).toContain('"is_error":true');
  });

  test.concurrent('that returns nothing has the result null', async () => {
    const { result, events } = await odd('undefined');
    expect(result.completed).toBe(true);
    expect(ofType(events, 'tool_finished')).toMatchObject([
      { status: 'ok', content: { text: 'null' } },
    ]);
  });

  test('that returns ten megabytes keeps all of them in the store and sends the model a part', async () => {
    const { events, history } = await odd('ten_megabytes');
    const [finished] = ofType(events, 'tool_finished');
    const { content } = finished!;
    expect(content).toMatchObject({ bytes: 10 * 1024 * 1024 });
    expect(await world.store.getText('default', content)).toHaveLength(10 * 1024 * 1024);
    const [first, second] = world.requests('odd-ten_megabytes');
    expect(second!.bytes - first!.bytes).toBeLessThan(40_000);
    const payloads = JSON.stringify(history).length;
    expect(payloads).toBeLessThan(200_000);
  });

  test('that pays and throws is in doubt; one that throws a ToolError has done nothing', async () => {
    const doubtful = await world.start({
      runId: 'pay-throws',
      replies: [call('odd.pay', { how: 'throws' }), say('Finished.')],
    });
    expect(await openAsk(doubtful)).toMatchObject({ kind: 'outcome', tool: 'odd.pay' });
    await doubtful.interrupt();
    const { events } = await world.ended(doubtful);
    expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'outcome_unknown' }]);
    const clear = await world.start({
      runId: 'pay-tool-error',
      replies: [call('odd.pay', { how: 'tool_error' }), say('Finished.')],
    });
    const ended = await world.ended(clear);
    expect(ofType(ended.events, 'tool_finished')).toMatchObject([
      { code: 'execution_error', content: { text: expect.stringContaining('no money') } },
    ]);
  });

  test('that pays and returns what is not JSON has still paid, once', async () => {
    const run = await world.start({
      runId: 'pay-cyclic',
      replies: [call('odd.pay', { how: 'cyclic' }), say('Finished.')],
    });
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1, toolAttempts: 1 } });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
  });
});

describe('a model', () => {
  test.concurrent(
    'that calls with arguments that are no JSON, wrong or unknown is told why, and can mend it',
    async () => {
      const run = await world.start({
        runId: 'model-arguments',
        budget: { maxInvalidProposals: 'unlimited' },
        replies: [
          { calls: [{ tool: 'facts.read', rawInput: '{"item": ' }] },
          { calls: [{ tool: 'facts.read', input: { item: 7 } }] },
          { calls: [{ tool: 'facts.read', rawInput: '"lamp"' }] },
          { calls: [{ tool: 'no.such_tool', input: {} }] },
          { calls: [{ tool: '__proto__', input: {} }] },
          read(),
          say('Finished.'),
        ],
      });
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({
        completed: true,
        counters: { proposedCalls: 6, invalidCalls: 5, toolCalls: 1 },
      });
      expect(ofType(events, 'tool_finished').map(({ code }) => code)).toEqual([
        'invalid_arguments',
        'invalid_arguments',
        'invalid_arguments',
        'unknown_tool',
        'unknown_tool',
        undefined,
      ]);
    },
  );

  test.concurrent('that makes 200 calls at once is told which of them were not run', async () => {
    const input = (index: number) => ({ item: `lamp ${index}` });
    const calls = Array.from({ length: 200 }, (_, index) => ({
      tool: 'facts.read',
      input: input(index),
    }));
    const run = await world.start({
      runId: 'model-eager',
      replies: [{ calls }, say('Finished.')],
    });
    const { result } = await world.ended(run);
    expect(result).toMatchObject({
      completed: true,
      counters: { proposedCalls: 200, toolCalls: 48, notStartedCalls: 152 },
    });
    const body = world.requests('model-eager')[1]?.body ?? '';
    expect(body.match(/"tool_use_id"/g)).toHaveLength(200);
    expect(body.match(/at most 48 calls/g)).toHaveLength(152);
  });

  test.concurrent('that never calls correctly stops the run for a person', async () => {
    const run = await world.start({
      runId: 'model-stubborn',
      replies: new Array(9).fill({ calls: [{ tool: 'facts.read', input: {} }] }),
    });
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'repeated_invalid' });
    expect(result.nextSafeAction).toContain('facts.read');
    expect(world.requests('model-stubborn')).toHaveLength(3);
  });

  test.concurrent(
    'that fails, then answers with garbage, then with a cut stream, is asked again',
    async () => {
      const run = await world.start({
        runId: 'model-recovers',
        replies: [
          [
            { status: 500 },
            { garbage: '<html>oops</html>', contentType: 'text/html' },
            { text: 'This is cut off', chunks: 5, cutAfterChunks: 4 },
            say('Finished.'),
          ],
        ],
      });
      const { result } = await world.ended(run);
      expect(result).toMatchObject({ completed: true, answer: { text: 'Finished.' } });
      expect(world.requests('model-recovers')).toHaveLength(4);
    },
  );

  test.concurrent(
    'that answers with nothing but garbage fails the run with a clear remedy',
    async () => {
      const run = await world.start({
        runId: 'model-garbage',
        budget: { maxRetriesPerModelCall: 1 },
        replies: [{ garbage: 'data: nonsense\n\n', contentType: 'text/event-stream' }],
      });
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({ status: 'failed', stopReason: 'failed' });
      expect(result.detail).toMatch(/^model_error:/);
      expect(result.nextSafeAction).toEqual(expect.any(String));
      expect(ofType(events, 'model_error')).toHaveLength(1);
      expect(world.requests('model-garbage').length).toBeLessThanOrEqual(2);
    },
  );
});

describe('a worker that lacks something', () => {
  test('a missing model key fails the run and says which variable to set', async () => {
    await world.serve({ taskQueue: 'keyless', providers: new Map() });
    const client = await connect({
      ...world.place,
      store: world.store,
      taskQueue: 'keyless',
    });
    const run = await client.start({ runId: 'keyless', agent: AGENT, task: 'Serve.' });
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ status: 'failed', detail: 'model_error:AuthError' });
    expect(result.nextSafeAction).toBe('Set ANTHROPIC_API_KEY for the worker and restart it.');
    expect(ofType(events, 'model_error')).toMatchObject([
      { message: expect.stringContaining('ANTHROPIC_API_KEY') },
    ]);
    await client.close();
  });

  test('a store that cannot be read keeps a worker from starting and says what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bad-store-'));
    try {
      const garbage = join(folder, 'garbage.db');
      writeFileSync(garbage, 'this is no database '.repeat(1_000));
      for (const storePlace of [garbage, folder]) {
        const expected = { code: 'StoreUnavailable', hint: expect.any(String) };
        await expect(world.serve({ storePlace })).rejects.toMatchObject(expected);
        await expect(openStore({ file: storePlace })).rejects.toMatchObject(expected);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('whatever came in, warnings told it and no other run noticed', async () => {
  const run = await world.start({ runId: 'afterwards', replies: [read(), say('Blue.')] });
  const { result, events } = await world.ended(run);
  expect(result.completed).toBe(true);
  expect(warnings(events)).toEqual([]);
});
