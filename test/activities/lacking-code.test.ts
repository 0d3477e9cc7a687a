/** Code that a worker lacks is waited for, and claims nothing meanwhile (G118, G110). */
import { z } from 'zod';
import { defineHook, defineTool, ToolError, type Tool } from '../../authoring/index.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import { CHANGES } from '../../core/step/changes.js';
import { toolKey } from '../../core/state/tool.js';
import {
  attempt,
  callOf,
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  startBed,
  type Bed,
} from './setup.js';

const HOUR_MS = 3_600_000;
const SERVING = { namespace: 'default', taskQueue: 'holdfast' };
const NOTHING = { agents: [], tools: [], hooks: [], providers: [] };

const run = jest.fn((_input: unknown): unknown => 'ran');
const pay = payWith(z.looseObject({ amount: z.number() }));
const payToday = payWith(
  z.looseObject({ amount: z.number().max(10), currency: z.string().default('EUR') }),
);

function payWith(input: z.ZodType): Tool {
  const keyed = { effect: 'financial', idempotency: 'keyed' } as const;
  return defineTool({ name: 'pay', version: '1', ...keyed, input, run, probe: () => null });
}

const call = callOf('pay', { amount: 3 });
const wanted = { schemaHash: pay.record.schemaHash, unservedMs: HOUR_MS };
const started = (changes: Partial<ExecuteToolInput> = {}): ExecuteToolInput =>
  executeInput(call, { ...wanted, ...changes });

let bed: Bed;
afterEach(async () => {
  run.mockClear();
  await bed.end();
});

async function bedWith(tools: readonly Tool[], settings = {}): Promise<void> {
  bed = await startBed({ tools, settings });
}

/** A delivery whose predecessors were refused for so long. */
function waited<I, O>(activity: (input: I) => Promise<O>, input: I, forMs: number): Promise<O> {
  const waitingSince = Date.now() - forMs;
  const lacking = { waitingSince, lacks: 'code', lacksSince: waitingSince };
  const left = { workedMs: 0, refused: 3, tries: 0, left: true, ...lacking };
  const info = { ...effect(), attempt: 4, heartbeatDetails: left };
  return environmentOf(info).run<[I], O, (input: I) => Promise<O>>(activity, input);
}

const execute = (changes?: Partial<ExecuteToolInput>, forMs = 0) =>
  waited(bed.activities({ serving: SERVING }).execute_tool, started(changes), forMs);

describe('a tool that this worker lacks', () => {
  test.each<[string, readonly Tool[]]>([
    ['is not there', []],
    ['has another schema', [payToday]],
  ])('%s: another worker gets the call, and nothing is claimed', async (_, tools) => {
    await bedWith(tools);
    const failure = await failureFrom(execute());
    expect(failure).toMatchObject({
      type: 'NotServed',
      nonRetryable: false,
      details: [{ tool: 'pay@1', waitingSince: expect.any(Number) }],
    });
    expect(Number(failure.nextRetryDelay)).toBe(500);
    expect(await bed.store.getLedgerRow('default', call.key)).toBeUndefined();
    expect(run).not.toHaveBeenCalled();
  });

  test('runs where its schema is the one that the run began with', async () => {
    await bedWith([pay]);
    expect((await execute()).outcome).toMatchObject({ kind: 'ok' });
  });

  test('is unavailable once it was waited for as long as the run allows', async () => {
    await bedWith([]);
    const failure = await failureFrom(execute({}, HOUR_MS - 10_000));
    expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(10_000);
    expect(await execute({}, HOUR_MS)).toMatchObject({
      outcome: { kind: 'error', code: 'tool_unavailable' },
      attempts: 0,
    });
  });

  test('a store that was away for longer does not count as that', async () => {
    await bedWith([]);
    const told = { workedMs: 0, refused: 3, tries: 0, left: true, waitingSince: 1 };
    const info = { ...effect(), attempt: 4, heartbeatDetails: told };
    const { execute_tool } = bed.activities();
    const delivery = environmentOf(info).run(execute_tool, started());
    expect(await failureFrom(delivery)).toMatchObject({ type: 'NotServed' });
  });

  test('a result that another worker has recorded is told all the same', async () => {
    await bedWith([]);
    const target = { tenant: 'default', key: call.key, argsDigest: call.digest, attempt: 1 };
    const subject = { runId: RUN.runId, callKey: '1', tool: 'pay' };
    await bed.store.claim({ ...target, ...subject, claimedUntil: 1, sameKeyRetry: false });
    expect(await failureFrom(execute())).toMatchObject({ type: 'NotServed' });
    await bed.store.record({ ...target, result: { text: 'paid' }, source: 'tool' });
    expect((await execute()).outcome).toMatchObject({ kind: 'ok', content: { text: 'paid' } });
  });

  test('under older rules it is unavailable at once', async () => {
    await bedWith([]);
    const { execute_tool } = bed.activities();
    const output = await attempt(execute_tool, executeInput(call));
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'tool_unavailable' });
  });
});

test.each(['read', 'financial'] as const)(
  'a tool (%s) that says that nobody can call it is unavailable at once',
  async (does) => {
    const closed = defineTool({
      name: 'pay',
      version: '1',
      effect: does,
      idempotency: does === 'read' ? 'natural' : 'keyed',
      input: z.looseObject({}),
      run: () => {
        throw new ToolError('tool_unavailable', 'Closed.');
      },
    });
    await bedWith([closed]);
    const output = await attempt(bed.activities().execute_tool, executeInput(call));
    expect(output.outcome).toMatchObject({
      code: 'tool_unavailable',
      message: expect.stringContaining('Closed.'),
    });
  },
);

describe('another schema under the same version', () => {
  const frozen = `${toolKey(pay.record)}#${pay.record.schemaHash}`;
  const changed = { kind: 'schema_changed', schemaHash: payToday.record.schemaHash };

  test('takes the place of the wanted one when nobody has served that for 60 s', async () => {
    await bedWith([payToday]);
    expect(await failureFrom(execute({}, 59_000))).toMatchObject({ type: 'NotServed' });
    expect((await execute({}, 60_000)).outcome).toEqual(changed);
    expect(run).not.toHaveBeenCalled();
  });

  test('waits as long as a worker with the wanted one lives, or did a moment ago', async () => {
    await bedWith([payToday]);
    const worker = { ...SERVING, worker: 'w1', code: { ...NOTHING, tools: [frozen] } };
    await bed.store.announceServed(worker);
    expect(await failureFrom(execute({}, 120_000))).toMatchObject({ type: 'NotServed' });
    await bed.store.endServed('w1');
    expect(await failureFrom(execute({}, 120_000))).toMatchObject({ type: 'NotServed' });
    await bed.store.announceServed({ ...worker, code: NOTHING });
    expect((await execute({}, 120_000)).outcome).toEqual(changed);
  });

  test('checks the arguments, and says by which schema', async () => {
    await bedWith([payToday]);
    const { check_call } = bed.activities({ serving: SERVING });
    const input = { v: 1, run: RUN, tool: 'pay', toolVersion: '1', events: [], ...wanted } as const;
    const failure = await failureFrom(waited(check_call, { ...input, args: { amount: 3 } }, 0));
    expect(failure).toMatchObject({ type: 'NotServed', details: [{ tool: 'pay@1' }] });
    expect(await waited(check_call, { ...input, args: { amount: 3 } }, 60_000)).toMatchObject({
      args: { amount: 3, currency: 'EUR' },
      check: { ok: true },
      schemaHash: changed.schemaHash,
    });
    expect(await waited(check_call, { ...input, args: { amount: 30 } }, 60_000)).toMatchObject({
      check: { ok: false, code: 'invalid_arguments' },
    });
  });
});

test('arguments that nobody could check in time are unavailable', async () => {
  await bedWith([]);
  const { check_call } = bed.activities();
  const input = { v: 1, run: RUN, tool: 'pay', toolVersion: '1', events: [], ...wanted } as const;
  expect(await waited(check_call, { ...input, args: {} }, HOUR_MS)).toMatchObject({
    check: { ok: false, code: 'tool_unavailable' },
  });
});

test('a probe that this worker lacks is waited for; then a person is asked', async () => {
  await bedWith([]);
  const target = { tenant: 'default', key: call.key, argsDigest: call.digest, attempt: 1 };
  const subject = { runId: RUN.runId, callKey: '1', tool: 'pay' };
  await bed.store.claim({ ...target, ...subject, claimedUntil: 1, sameKeyRetry: false });
  const { reconcile_tool } = bed.activities();
  const input = {
    v: 1,
    run: RUN,
    call,
    inlineBytesMax: 4_096,
    timeoutMs: 500,
    events: [],
  } as const;
  const asked = { ...input, ...wanted };
  expect(await failureFrom(waited(reconcile_tool, asked, 0))).toMatchObject({ type: 'NotServed' });
  const { finding } = await waited(reconcile_tool, asked, HOUR_MS);
  expect(finding).toMatchObject({ kind: 'unknown' });
});

test('a hook that this worker lacks is waited for; then it has failed', async () => {
  await bedWith([]);
  const { run_hooks } = bed.activities();
  const input = {
    v: 1,
    run: RUN,
    point: 'PreToolUse',
    hooks: ['guard'],
    payload: {},
    timeoutMs: 1_000,
    unservedMs: HOUR_MS,
    events: [],
  } as const;
  const failure = await failureFrom(waited(run_hooks, input, 0));
  expect(failure).toMatchObject({ type: 'NotServed', details: [{ hook: 'guard' }] });
  const { outcomes } = await waited(run_hooks, input, HOUR_MS);
  expect(outcomes).toMatchObject([
    { hook: 'guard', error: expect.stringContaining('not have it') },
  ]);
});

test('hooks of two workers are asked by both, each once', async () => {
  await bedWith([]);
  const asked: string[] = [];
  const hook = (name: string) =>
    defineHook({ name, point: 'PreToolUse', run: () => void asked.push(name) });
  const workerWith = (name: string) => {
    const config = { ...bed.config, hooks: new Map([[name, hook(name)]]) };
    return bed.activities({ config }).run_hooks;
  };
  const point = { v: 1, run: RUN, point: 'PreToolUse', hooks: ['one', 'two'] } as const;
  const input = { ...point, payload: {}, timeoutMs: 1_000, unservedMs: HOUR_MS, events: [] };
  const info = effect();
  const deliver = (name: string) => environmentOf(info).run(workerWith(name), input);
  await failureFrom(deliver('two'));
  await failureFrom(deliver('one'));
  await failureFrom(deliver('one'));
  await deliver('two');
  expect(asked).toEqual(['one', 'two']);
});

describe('an agent that this worker lacks', () => {
  const opening = (unservedTimeoutMs?: number) => ({
    v: 1 as const,
    run: RUN,
    segment: 0,
    start: {
      v: 1 as const,
      agent: 'elsewhere',
      task: { goal: 'Do it.' },
      ...(unservedTimeoutMs !== undefined && { settings: { unservedTimeoutMs } }),
    },
    events: [],
  });

  test('is opened by another worker, and unknown once nobody had it for a day', async () => {
    await bedWith([]);
    const { open_run } = bed.activities();
    const failure = await failureFrom(waited(open_run, opening(), 23 * HOUR_MS));
    expect(failure).toMatchObject({ type: 'NotServed', details: [{ agent: 'elsewhere' }] });
    const ended = await failureFrom(waited(open_run, opening(), 24 * HOUR_MS));
    expect(ended).toMatchObject({ type: 'UnknownAgent', nonRetryable: true });
    expect(ended.message).toMatch(/helper/);
  });

  test('under older rules is unknown at once', async () => {
    await bedWith([]);
    const { open_run } = bed.activities({ rules: CHANGES.waitForCode.since - 1 });
    expect(await failureFrom(waited(open_run, opening(), 0))).toMatchObject({
      type: 'UnknownAgent',
    });
  });

  test('is waited for as long as the start says', async () => {
    await bedWith([]);
    const ended = await failureFrom(waited(bed.activities().open_run, opening(500), 600));
    expect(ended).toMatchObject({ type: 'UnknownAgent', nonRetryable: true });
  });
});

describe('a model that this worker cannot reach', () => {
  const ask = async (unservedMs?: number) => {
    const head = await openedHead(bed);
    const activities = bed.activities({ providers: new Map(), serving: SERVING });
    const input = modelInput(head, unservedMs === undefined ? {} : { unservedMs });
    return failureFrom(waited(activities.call_model, input, 0));
  };

  test('is asked by a worker that reaches it', async () => {
    await bedWith([]);
    const code = { ...NOTHING, providers: ['anthropic'] };
    await bed.store.announceServed({ ...SERVING, worker: 'w1', code });
    expect(await ask(HOUR_MS)).toMatchObject({
      type: 'NotServed',
      details: [{ provider: 'anthropic' }],
    });
    expect(await ask()).toMatchObject({ type: 'AuthError', nonRetryable: true });
  });

  test('is no use to wait for where no worker has reached it', async () => {
    await bedWith([]);
    expect(await ask(HOUR_MS)).toMatchObject({ type: 'AuthError', nonRetryable: true });
  });
});

test('arguments for a tool that the worker of the model lacks are left for another to check', async () => {
  const replies = [{ calls: [{ tool: 'pay', input: { amount: 3 } }] }];
  bed = await startBed({ tools: [pay], replies });
  const head = await openedHead(bed);
  const checkBy = async (tools: readonly Tool[], unservedMs?: number) => {
    const config = {
      ...bed.config,
      tools: new Map(tools.map((one) => [toolKey(one.record), one])),
    };
    const input = modelInput(head, unservedMs === undefined ? {} : { unservedMs });
    const { reply } = await attempt(bed.activities({ config }).call_model, input);
    return reply.calls.map(({ check }) => check);
  };
  expect(await checkBy([], HOUR_MS)).toEqual([{ ok: true, unchecked: true }]);
  expect(await checkBy([payToday], HOUR_MS)).toEqual([{ ok: true, unchecked: true }]);
  expect(await checkBy([pay], HOUR_MS)).toEqual([{ ok: true }]);
  expect(await checkBy([])).toEqual([{ ok: true }]);
});
