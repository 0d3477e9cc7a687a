import type { EventBody } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  newStore,
  RESULT,
  SESSION_INIT,
  warnings,
} from './fixtures.js';

const A = { tenant: 't', runId: 'r1', execution: 'exec-a' };
const B = { ...A, execution: 'exec-b' };

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

const APPROVAL: EventBody = { type: 'approval_requested', ...askView('r1:1') };
const RUN_RESULT: EventBody = { type: 'run_result', result: RESULT };

function run() {
  return store.getRun('t', 'r1');
}

async function outcomes(): Promise<readonly string[]> {
  return (await store.listAsks('t', { runId: 'r1', limit: 10 })).map((ask) => ask.outcome);
}

test('session_init makes the row of a run, and every event moves it on', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT]));
  expect(await run()).toEqual({
    tenant: 't',
    runId: 'r1',
    agent: 'refund',
    taskId: 'r1',
    goalPreview: 'Refund order 7',
    model: 'scripted/one',
    caller: 'alice',
    status: 'running',
    startedAt: 1000,
    updatedAt: 1000,
    lastSeq: 0,
    epoch: 0,
    trail: { tools: new Set(), errorCodes: new Set() },
  });
  await store.appendEvents(A, eventsFrom(1, warnings(2)));
  expect(await run()).toMatchObject({ startedAt: 1000, updatedAt: 1002, lastSeq: 2 });
});

test('an approval makes the run wait and puts the whole question into the inbox', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, APPROVAL]));
  expect((await run())?.status).toBe('awaiting_approval');
  const row = { ...askView('r1:1'), tenant: 't', runId: 'r1', outcome: 'pending', by: [] };
  expect(await store.listAsks('t', { pendingOnly: true, limit: 10 })).toEqual([row]);
  expect(await store.getAsk('t', 'r1:1')).toEqual(row);
  expect(await store.getAsk('other', 'r1:1')).toBeUndefined();
});

test.each([
  ['outcome', 'awaiting_outcome'],
  ['budget', 'awaiting_budget'],
  ['input', 'awaiting_input'],
  ['user_message', 'awaiting_user'],
] as const)('a question of kind %s gives the status %s', async (kind, status) => {
  const question: EventBody = { type: 'input_request', ...askView('r1:q', { kind }) };
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, question]));
  expect((await run())?.status).toBe(status);
  await store.appendEvents(
    A,
    eventsFrom(2, [{ type: 'input_provided', askId: 'r1:q', outcome: 'answered', by: ['bob'] }]),
  );
  expect((await run())?.status).toBe('running');
  expect(await store.getAsk('t', 'r1:q')).toMatchObject({
    outcome: 'answered',
    by: ['bob'],
    resolvedAt: 1002,
  });
});

test('a decision closes its question once, and the run waits until the last one is closed', async () => {
  const second: EventBody = { type: 'approval_requested', ...askView('r1:2', { openedAt: 1002 }) };
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, APPROVAL, second]));
  const resolved: EventBody = {
    type: 'approval_resolved',
    askId: 'r1:1',
    outcome: 'rejected',
    by: ['bob', 'eve'],
    reason: 'too much',
    waitedMs: 5,
  };
  await store.appendEvents(A, eventsFrom(3, [resolved]));
  expect((await run())?.status).toBe('awaiting_approval');
  expect(await store.getAsk('t', 'r1:1')).toMatchObject({
    outcome: 'rejected',
    by: ['eve'],
    reason: 'too much',
    resolvedAt: 1003,
  });
  const withdrawn: EventBody = { type: 'approval_withdrawn', askId: 'r1:1', reason: 'late' };
  const other: EventBody = { type: 'approval_withdrawn', askId: 'r1:2', reason: 'interrupt' };
  await store.appendEvents(A, eventsFrom(4, [withdrawn, other]));
  expect(await outcomes()).toEqual(['rejected', 'withdrawn']);
  expect((await run())?.status).toBe('running');
});

test('the result ends the run and withdraws what was still asked', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, APPROVAL, RUN_RESULT]));
  expect(await run()).toMatchObject({
    status: 'stopped',
    stopReason: 'max_cost',
    detail: 'limit of 1 USD',
    costMicroUsd: 4200,
    completedAt: 1002,
    result: RESULT,
  });
  expect(await outcomes()).toEqual(['withdrawn']);
  expect(await store.listAsks('t', { pendingOnly: true, limit: 10 })).toEqual([]);
});

test('events sent again do not project again', async () => {
  const events = eventsFrom(0, [SESSION_INIT, APPROVAL, RUN_RESULT]);
  await store.appendEvents(A, events);
  const before = [await run(), await store.getAsk('t', 'r1:1')];
  await store.appendEvents(A, events.slice(0, 2));
  await store.appendEvents(B, events.slice(1));
  expect([await run(), await store.getAsk('t', 'r1:1')]).toEqual(before);
});

test('a reset undoes the result, the answers and the questions of superseded events, and no others', async () => {
  const approved: EventBody = {
    type: 'approval_resolved',
    askId: 'r1:1',
    outcome: 'approved',
    by: ['bob'],
    waitedMs: 1,
  };
  const late: EventBody = { type: 'approval_requested', ...askView('r1:2') };
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, APPROVAL, approved, late, RUN_RESULT]));
  await store.appendEvents(B, eventsFrom(2, warnings(1), 9000));
  const reopened = await run();
  expect(reopened).toMatchObject({ status: 'awaiting_approval', lastSeq: 2, epoch: 1 });
  expect(reopened).not.toHaveProperty('result');
  expect(reopened).not.toHaveProperty('completedAt');
  expect(await store.listAsks('t', { runId: 'r1', limit: 10 })).toEqual([
    { ...askView('r1:1'), tenant: 't', runId: 'r1', outcome: 'pending', by: [] },
  ]);
});

test('a superseded execution can no longer end the run or ask anything', async () => {
  await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, ...warnings(2)]));
  await store.appendEvents(B, eventsFrom(1, warnings(1), 9000));
  await store.appendEvents(A, eventsFrom(3, [APPROVAL, RUN_RESULT]));
  expect(await run()).toMatchObject({ status: 'running', lastSeq: 1 });
  expect(await outcomes()).toEqual([]);
});

test('runs are listed newest first, by status and agent, page by page', async () => {
  for (const [index, runId] of ['r1', 'r2', 'r3', 'r4'].entries()) {
    const agent = runId === 'r4' ? 'other' : 'refund';
    const bodies = [{ ...SESSION_INIT, agent } as EventBody, ...(index === 1 ? [RUN_RESULT] : [])];
    await store.appendEvents({ ...A, runId }, eventsFrom(0, bodies, index < 2 ? 5000 : 6000));
  }
  const ids = async (query: Parameters<Store['listRuns']>[1]) =>
    (await store.listRuns('t', query)).map((each) => each.runId);
  expect(await ids({ limit: 10 })).toEqual(['r4', 'r3', 'r2', 'r1']);
  expect(await ids({ limit: 2, before: { startedAt: 6000, runId: 'r3' } })).toEqual(['r2', 'r1']);
  expect(await ids({ limit: 2, before: { startedAt: 5000, runId: 'r2' } })).toEqual(['r1']);
  expect(await ids({ limit: 10, status: 'stopped' })).toEqual(['r2']);
  expect(await ids({ limit: 10, status: 'running', agent: 'refund' })).toEqual(['r3', 'r1']);
  expect(await store.listRuns('other', { limit: 10 })).toEqual([]);
});

test('the inbox is listed oldest first, page by page, and two runs may share an ask id', async () => {
  for (const [index, runId] of ['a', 'a:1', 'b'].entries()) {
    const askId = index < 2 ? 'a:1:2' : 'b:1';
    const view = askView(askId, { openedAt: 100 + index });
    const body: EventBody = { type: 'approval_requested', ...view };
    await store.appendEvents({ ...A, runId }, eventsFrom(0, [body]));
  }
  const page = await store.listAsks('t', { pendingOnly: true, limit: 2 });
  expect(page.map((ask) => ask.runId)).toEqual(['a', 'a:1']);
  const after = { openedAt: 101, askId: 'a:1:2' };
  const next = await store.listAsks('t', { pendingOnly: true, limit: 2, after });
  expect(next.map((ask) => ask.askId)).toEqual(['b:1']);
  const withdrawn: EventBody = { type: 'approval_withdrawn', askId: 'a:1:2', reason: 'x' };
  await store.appendEvents({ ...A, runId: 'a:1' }, eventsFrom(1, [withdrawn]));
  expect(await store.getAsk('t', 'a:1:2')).toMatchObject({ runId: 'a', outcome: 'pending' });
});

test('hostile texts in events are stored as they are', async () => {
  const text = "'); drop table runs; -- \0 \ud800 🌍";
  await store.appendEvents(
    A,
    eventsFrom(0, [{ ...SESSION_INIT, goal: { text } } as EventBody, ...warnings(1, text)]),
  );
  const { events } = await store.readEvents(
    { tenant: 't', runId: 'r1' },
    { sinceSeq: 0, limit: 9 },
  );
  expect(events[1]).toMatchObject({ message: text });
  expect((await run())?.goalPreview).toBe(text.replace('\ud800', '\ufffd'));
});

describe('the alarm of a run', () => {
  const ALARM: EventBody = { type: 'warning', code: 'cost_exploding', message: 'it doubles' };
  const AGAIN: EventBody = { ...ALARM, message: 'and again' };

  test('is the first warning of that kind, and makes the run one of those to look at', async () => {
    await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, ...warnings(1)]));
    expect(await store.listAlarms({ since: 0, limit: 10 })).toEqual([]);
    await store.appendEvents(A, eventsFrom(2, [ALARM, AGAIN]));
    expect((await run())?.alarm).toBe('it doubles');
    const names = async (since: number) =>
      (await store.listAlarms({ since, limit: 10 })).map(({ runId }) => runId);
    expect(await names(1_003)).toEqual(['r1']);
    expect(await names(1_004)).toEqual([]);
  });

  test('is taken back by a reset to before it', async () => {
    await store.appendEvents(A, eventsFrom(0, [SESSION_INIT, ALARM, ...warnings(1)]));
    await store.appendEvents(B, eventsFrom(2, warnings(1)));
    expect((await run())?.alarm).toBe('it doubles');
    await store.appendEvents({ ...A, execution: 'exec-c' }, eventsFrom(1, warnings(1)));
    expect((await run())?.alarm).toBeUndefined();
  });
});

describe('what searches ask of the events of a run', () => {
  function failed(tool: string, code: 'timeout' | 'execution_error'): EventBody {
    return {
      type: 'tool_finished',
      callId: 'c1',
      tool,
      status: 'error',
      code,
      content: { text: 'no' },
      synthetic: false,
      started: true,
      attempts: 1,
      durationMs: 1,
      key: 'k',
    };
  }

  const started = (tool: string): EventBody => ({
    type: 'tool_started',
    callId: 'c1',
    tool,
    key: 'k',
    args: {},
  });
  const STOP: EventBody = { type: 'stop', reason: 'max_cost', by: 'limits' };
  const INIT = { ...SESSION_INIT, rules: 17 } as EventBody;

  test.each([1, 2, 100])('stands in its row, in batches of %d events', async (size) => {
    const bodies = [
      INIT,
      started('order_read'),
      failed('order_read', 'timeout'),
      started('orderXread'),
      started('a"\n|b'),
      failed('order_read', 'execution_error'),
      failed('order_read', 'execution_error'),
      STOP,
      RUN_RESULT,
    ];
    const events = eventsFrom(0, bodies);
    for (let from = 0; from < events.length; from += size) {
      await store.appendEvents(A, events.slice(from, from + size));
    }
    expect(await run()).toMatchObject({
      rules: 17,
      trail: {
        rule: 'limits',
        lastError: { tool: 'order_read', code: 'execution_error' },
        tools: new Set(['order_read', 'orderXread', 'a"\n|b']),
        errorCodes: new Set(['timeout', 'execution_error']),
      },
    });
    const ids = async (query: object) =>
      (await store.listRuns('t', { limit: 10, ...query })).map(({ runId }) => runId);
    expect(await ids({ tool: 'order_read', errorCode: 'timeout' })).toEqual(['r1']);
    expect(await ids({ stopReason: 'max_cost' })).toEqual(['r1']);
    expect(await ids({ tool: 'order' })).toEqual([]);
    expect(await ids({ tool: 'ORDER_READ' })).toEqual([]);
    expect(await ids({ errorCode: 'time%' })).toEqual([]);
    expect(await ids({ stopReason: 'timeout' })).toEqual([]);
  });

  test('is asked of its events again once some of them were superseded', async () => {
    await store.appendEvents(A, eventsFrom(0, [INIT, started('order'), STOP, RUN_RESULT]));
    await store.appendEvents(B, eventsFrom(1, [started('refund')]));
    expect((await run())?.trail).toBeUndefined();
    await store.appendEvents(B, eventsFrom(2, [failed('refund', 'timeout')]));
    expect((await run())?.trail).toBeUndefined();
    expect(await store.listRuns('t', { limit: 10, tool: 'order' })).toHaveLength(1);
  });

  test('is asked of its events where a model invents names without end', async () => {
    await store.appendEvents(A, eventsFrom(0, [INIT]));
    for (let n = 0; n < 100; n += 1) {
      await store.appendEvents(A, eventsFrom(n + 1, [failed(`${'x'.repeat(100)}${n}`, 'timeout')]));
    }
    expect((await run())?.trail).toBeUndefined();
  });
});
