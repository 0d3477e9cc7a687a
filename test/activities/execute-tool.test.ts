import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { defineTool, ToolError, type Tool, type ToolContext } from '../../authoring/index.js';
import type { ExecuteToolInput, ExecuteToolOutput } from '../../core/effect.js';
import type { ToolEffect } from '../../core/tool.js';
import {
  attempt,
  callOf,
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

type Run = (input: Record<string, unknown>, ctx: ToolContext) => unknown;

interface Shape {
  readonly effect?: ToolEffect;
  readonly idempotency?: 'natural' | 'keyed' | 'none';
  readonly maxResultBytes?: number;
}

function toolOf(run: Run, shape: Shape = {}): Tool {
  return defineTool({
    name: 'it',
    version: '1',
    effect: shape.effect ?? 'read',
    ...(shape.idempotency && { idempotency: shape.idempotency }),
    ...(shape.maxResultBytes && { maxResultBytes: shape.maxResultBytes }),
    input: z.looseObject({}),
    run,
  });
}

const FINANCIAL: Shape = { effect: 'financial', idempotency: 'keyed' };
const KEYED_WRITE: Shape = { effect: 'write', idempotency: 'keyed' };

let bed: Bed;
afterEach(() => bed.end());

async function withTool(run: Run, shape: Shape = {}): Promise<void> {
  bed = await startBed({ tools: [toolOf(run, shape)] });
}

const call = callOf('it', { a: 1 });

function execute(
  info = effect(),
  changes: Partial<ExecuteToolInput> = {},
): Promise<ExecuteToolOutput> {
  return attempt(bed.activities().execute_tool, executeInput(call, changes), info);
}

const rowOf = () => bed.store.getLedgerRow('default', call.key);

describe('execute_tool, before anything runs', () => {
  const run = jest.fn(() => 'ran');
  beforeEach(async () => {
    run.mockClear();
    await withTool(run, FINANCIAL);
  });
  afterEach(() => expect(run).not.toHaveBeenCalled());

  test.each<[string, Partial<ExecuteToolInput>]>([
    ['a grant for other arguments', { grant: { ...executeInput(call).grant, digest: 'x' } }],
    ['arguments changed after the grant', { call: { ...call, args: { a: 2 } } }],
    ['another tool under the digest', { call: { ...call, tool: 'other' } }],
    ['no approval where one is needed', { grant: { ...executeInput(call).grant, basis: 'tool' } }],
  ])('%s is GrantInvalid', async (_what, changes) => {
    const failure = await failureFrom(execute(effect(), changes));
    expect(failure).toMatchObject({ type: 'GrantInvalid', nonRetryable: true });
    expect(await rowOf()).toBeUndefined();
  });

  test('events are stored even then', async () => {
    await failureFrom(
      execute(effect(), { call: { ...call, digest: 'x' }, events: [sessionEvent()] }),
    );
    expect((await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 9 })).events).toHaveLength(1);
  });

  test('a version this worker lacks is tool_unavailable', async () => {
    const gone = callOf('it', {}, { toolVersion: '9' });
    const output = await attempt(bed.activities().execute_tool, executeInput(gone));
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'tool_unavailable' });
  });

  test('but not when another worker may have begun it', async () => {
    const gone = callOf('it', {}, { toolVersion: '9' });
    await bed.store.claim({
      tenant: 'default',
      key: gone.key,
      argsDigest: gone.digest,
      attempt: 1,
      runId: RUN.runId,
      callKey: '1',
      tool: 'it',
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    const output = await attempt(bed.activities().execute_tool, executeInput(gone));
    expect(output.outcome.kind).toBe('ambiguous');
  });

  test('a burned attempt cannot start, whoever wakes up', async () => {
    const site = { runId: RUN.runId, callKey: '1', tool: 'it' };
    const { key, digest: argsDigest } = call;
    await bed.store.burn({ tenant: 'default', key, argsDigest, attempt: 1, ...site });
    expect((await execute()).outcome).toMatchObject({ kind: 'ambiguous' });
  });

  test('a key that other arguments used is a key conflict', async () => {
    const site = { runId: RUN.runId, callKey: '1', tool: 'it' };
    await bed.store.burn({
      tenant: 'default',
      key: call.key,
      argsDigest: 'other',
      attempt: 1,
      ...site,
    });
    expect((await execute()).outcome.kind).toBe('key_conflict');
  });

  test('a call that was interrupted before it began did nothing', async () => {
    const environment = environmentOf(effect());
    environment.cancel();
    const output = (await environment.run(
      bed.activities().execute_tool,
      executeInput(call),
    )) as ExecuteToolOutput;
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'interrupted' });
    expect(await rowOf()).toBeUndefined();
  });
});

describe('execute_tool with a tool that reads', () => {
  test('gives texts as they are, other values as JSON, and nothing as null', async () => {
    const values = ['text', { a: [1] }, undefined];
    await withTool(() => values.shift());
    expect((await execute()).outcome).toEqual({ kind: 'ok', content: { text: 'text' } });
    expect((await execute()).outcome).toEqual({ kind: 'ok', content: { text: '{"a":[1]}' } });
    expect((await execute()).outcome).toEqual({ kind: 'ok', content: { text: 'null' } });
  });

  test('gets its restored arguments and its context', async () => {
    const seen: unknown[] = [];
    await withTool((input, { signal, ...ctx }) => seen.push([input, ctx, signal.aborted]));
    const { args } = await bed.store.spillArguments('default', { long: 'x'.repeat(5_000) });
    const spilled = callOf('it', args);
    await attempt(bed.activities().execute_tool, executeInput(spilled));
    expect(seen[0]).toEqual([
      { long: 'x'.repeat(5_000) },
      {
        runId: 'run_1',
        tenant: 'default',
        callId: 'c1',
        idempotencyKey: 'run_1:1',
        attempt: 1,
        traceId: 'trace',
      },
      false,
    ]);
  });

  test('a result of 10 MB is stored and only referred to', async () => {
    await withTool(() => 'x'.repeat(10 * 1024 * 1024));
    const { outcome } = await execute();
    expect(outcome).toMatchObject({ kind: 'ok', content: { bytes: 10_485_760 } });
    expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
  });

  test('a result above the room that the run has goes by reference', async () => {
    await withTool(() => 'x'.repeat(100));
    const { outcome } = await execute(effect(), { inlineBytesMax: 64 });
    expect(outcome).toMatchObject({ content: { bytes: 100, preview: 'x'.repeat(64) } });
  });

  test.each<[string, Run, RegExp]>([
    [
      'a cycle',
      () => {
        const value: { self?: unknown } = {};
        value.self = value;
        return value;
      },
      /circular/i,
    ],
    ['a bigint', () => ({ n: 1n }), /BigInt/],
    ['a function', () => () => 1, /not JSON/],
    ['more than it may be', () => 'x'.repeat(101), /101 bytes; 100 are allowed/],
  ])('a result that is %s is malformed, once', async (_what, run, message) => {
    await withTool(run, { maxResultBytes: 100 });
    const { outcome, attempts } = await execute();
    expect({ outcome, attempts }).toMatchObject({
      outcome: { kind: 'error', code: 'malformed_result' },
      attempts: 1,
    });
    expect((outcome as { message: string }).message).toMatch(message);
  });

  test('an error is retried as often as the budget says, then the model sees it', async () => {
    await withTool(() => {
      throw new Error('flaky');
    });
    const info = effect();
    const failure = await failureFrom(execute(info));
    expect(failure).toMatchObject({ type: 'ToolRetryable', nonRetryable: false });
    expect(await execute(info)).toMatchObject({
      outcome: { kind: 'error', code: 'execution_error', message: 'flaky' },
      attempts: 2,
    });
  });

  test('a ToolError is an answer and is not retried', async () => {
    await withTool(() => {
      throw new ToolError('not_found', 'no such order');
    });
    expect((await execute()).outcome).toEqual({
      kind: 'error',
      code: 'execution_error',
      message: 'not_found: no such order',
    });
  });

  test('a retryable ToolError keeps its code once the retries are used up', async () => {
    await withTool(() => {
      throw new ToolError('retryable_error', 'busy');
    });
    expect((await execute(effect(), { maxRetries: 0 })).outcome).toEqual({
      kind: 'error',
      code: 'retryable_error',
      message: 'busy',
    });
  });

  test('a death of its worker is no failure of the tool', async () => {
    const runs: number[] = [];
    await withTool((_input, ctx) => {
      runs.push(ctx.attempt);
      if (ctx.attempt < 4) throw new Error('flaky');
      return 'ok';
    });
    const info = effect();
    const site = { ...RUN, effectId: `${info.activityId}@exec-1` };
    const bounds = { boundCostMicroUsd: 0, boundInputTokens: 0, boundOutputTokens: 0 };
    for (let death = 0; death < 2; death += 1) {
      await bed.store.startAttempt({ ...site, ...bounds, kind: 'tool', startedAt: 1 });
    }
    await failureFrom(execute(info));
    expect(await execute(info)).toMatchObject({ outcome: { kind: 'ok' }, attempts: 4 });
    expect(runs).toEqual([3, 4]);
  });

  test('a tool that does not answer is timed out and told so', async () => {
    let aborted = false;
    await withTool(
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('aborted'));
          });
        }),
    );
    const output = await execute(effect(), { timeoutMs: 50, maxRetries: 0 });
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'timeout' });
    expect(aborted).toBe(true);
  });

  test('a tool that ignores its timeout is left behind after the grace', async () => {
    await withTool(() => new Promise(() => undefined));
    const output = await execute(effect(), { timeoutMs: 50, maxRetries: 0 });
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'timeout' });
  });

  test('an interrupted read is interrupted mid-execution', async () => {
    await withTool(() => new Promise(() => undefined));
    expect((await interrupted(executeInput(call))).outcome).toMatchObject({
      kind: 'error',
      code: 'interrupted_mid_execution',
    });
  });
});

async function interrupted(
  input: ExecuteToolInput,
  details?: ActivityCancellationDetails,
): Promise<ExecuteToolOutput> {
  const environment = environmentOf(effect());
  setTimeout(() => environment.cancel(undefined, details), 100);
  return (await environment.run(bed.activities().execute_tool, input)) as ExecuteToolOutput;
}

describe('execute_tool with a tool that changes something', () => {
  test('claims before, records after, and only then answers', async () => {
    const states: unknown[] = [];
    await withTool(async () => {
      states.push((await rowOf())?.state);
      return { refund: 1 };
    }, FINANCIAL);
    const { outcome } = await execute();
    states.push((await rowOf())?.state);
    expect(states).toEqual(['claimed', 'recorded']);
    expect(outcome).toEqual({ kind: 'ok', content: { text: '{"refund":1}' } });
    expect(await rowOf()).toMatchObject({ source: 'tool', result: { text: '{"refund":1}' } });
  });

  test('a redelivery gets the recorded result and runs nothing', async () => {
    const run = jest.fn(() => 'done');
    await withTool(run, FINANCIAL);
    const first = await execute();
    const second = await execute();
    expect(run).toHaveBeenCalledTimes(1);
    expect(first.attempts).toBe(1);
    expect(second).toMatchObject({
      outcome: { kind: 'ok', content: { text: 'done' }, reused: true },
      attempts: 0,
    });
  });

  test('only one of two racing executions runs', async () => {
    const run = jest.fn(() => new Promise((resolve) => setTimeout(() => resolve('done'), 50)));
    await withTool(run, FINANCIAL);
    const outcomes = await Promise.all([execute(), execute(), execute()]);
    expect(run).toHaveBeenCalledTimes(1);
    expect(outcomes.map(({ outcome }) => outcome.kind).sort()).toEqual([
      'ambiguous',
      'ambiguous',
      'ok',
    ]);
  });

  test('an open claim of a dead worker is ambiguous, never run again', async () => {
    const run = jest.fn(() => 'done');
    await withTool(run, FINANCIAL);
    const crashed = executeInput(call);
    await bed.store.claim({
      tenant: 'default',
      key: call.key,
      argsDigest: call.digest,
      attempt: 1,
      runId: RUN.runId,
      callKey: '1',
      tool: 'it',
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    const output = await attempt(bed.activities().execute_tool, crashed);
    expect(output.outcome.kind).toBe('ambiguous');
    expect(run).not.toHaveBeenCalled();
  });

  test('a ToolError says that nothing happened: the claim is void', async () => {
    await withTool(() => {
      throw new ToolError('card_expired', 'the card has expired');
    }, FINANCIAL);
    expect((await execute()).outcome).toEqual({
      kind: 'error',
      code: 'execution_error',
      message: 'card_expired: the card has expired',
    });
    expect(await rowOf()).toMatchObject({ state: 'void', definite: true });
  });

  test.each<[string, Run]>([
    [
      'any other error',
      () => {
        throw new Error('socket hang up');
      },
    ],
    ['no answer in time', () => new Promise(() => undefined)],
    ['a rejected value that is no error', () => Promise.reject(new Map())],
  ])('%s leaves its outcome in doubt', async (_what, run) => {
    await withTool(run, FINANCIAL);
    expect((await execute(effect(), { timeoutMs: 50 })).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({ state: 'claimed' });
  });

  test('an answer within the grace after a timeout still counts', async () => {
    await withTool(
      () => new Promise((resolve) => setTimeout(() => resolve('late'), 90)),
      FINANCIAL,
    );
    expect((await execute(effect(), { timeoutMs: 50 })).outcome).toMatchObject({
      kind: 'ok',
      content: { text: 'late' },
    });
  });

  test('an interrupt while it runs is ambiguous, unless it ended', async () => {
    await withTool(() => new Promise(() => undefined), FINANCIAL);
    expect((await interrupted(executeInput(call))).outcome).toMatchObject({
      kind: 'ambiguous',
      aborted: true,
    });
    await bed.end();
    await withTool(
      () => new Promise((resolve) => setTimeout(() => resolve('done'), 130)),
      FINANCIAL,
    );
    expect((await interrupted(executeInput(call))).outcome).toMatchObject({ kind: 'ok' });
  });

  test('a shutdown of the worker is ambiguous without anybody having asked for it', async () => {
    await withTool(() => new Promise(() => undefined), FINANCIAL);
    const shutdown = new ActivityCancellationDetails({ workerShutdown: true });
    const { outcome } = await interrupted(executeInput(call), shutdown);
    expect(outcome).toEqual({ kind: 'ambiguous', message: expect.any(String) });
  });

  test('a claim that was burned while the tool ran keeps its result out of the ledger', async () => {
    await withTool(async () => {
      const site = { runId: RUN.runId, callKey: '1', tool: 'it' };
      const { key, digest: argsDigest } = call;
      await bed.store.burn({ tenant: 'default', key, argsDigest, attempt: 1, ...site });
      return 'too late';
    }, FINANCIAL);
    expect((await execute()).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({ state: 'void', wasClaimed: true });
  });

  test('what cannot be represented is still recorded as having happened', async () => {
    await withTool(() => ({ n: 1n }), FINANCIAL);
    const { outcome } = await execute();
    expect(JSON.stringify(outcome)).toContain('The call took effect, but its result could not');
    expect((await rowOf())?.state).toBe('recorded');
  });

  test('a result above its limit is recorded cut off, with a notice', async () => {
    await withTool(() => 'é'.repeat(100), { ...FINANCIAL, maxResultBytes: 51 });
    expect((await execute()).outcome).toEqual({
      kind: 'ok',
      content: { text: `${'é'.repeat(25)}\n[cut off: 51 of 200 bytes kept]` },
    });
  });

  test('after a person said "did not happen", the next attempt runs under the same key', async () => {
    const keys: string[] = [];
    await withTool((_input, ctx) => keys.push(ctx.idempotencyKey), FINANCIAL);
    const site = { runId: RUN.runId, callKey: '1', tool: 'it' };
    const { key, digest: argsDigest } = call;
    await bed.store.burn({ tenant: 'default', key, argsDigest, attempt: 1, ...site });
    const { outcome } = await execute(effect(), { call: { ...call, attempt: 2 } });
    expect(outcome.kind).toBe('ok');
    expect(keys).toEqual([call.key]);
  });

  test('a full disk after the effect does not lose that it happened', async () => {
    await withTool(() => 'done', FINANCIAL);
    let failures = 2;
    const store = {
      ...bed.store,
      record: (input: Parameters<typeof bed.store.record>[0]) =>
        failures-- > 0 ? Promise.reject(new Error('disk full')) : bed.store.record(input),
    };
    const { execute_tool } = bed.activities({ store });
    const output = await attempt(execute_tool, executeInput(call));
    expect(output.outcome.kind).toBe('ok');
  });
});

describe('execute_tool with a keyed write', () => {
  test('is called again with the same key after a failure, then in doubt', async () => {
    const keys: string[] = [];
    await withTool((_input, ctx) => {
      keys.push(`${ctx.idempotencyKey}#${ctx.attempt}`);
      throw new Error('socket hang up');
    }, KEYED_WRITE);
    const info = effect();
    expect((await failureFrom(execute(info))).type).toBe('ToolRetryable');
    expect(await execute(info)).toMatchObject({ outcome: { kind: 'ambiguous' }, attempts: 2 });
    expect(keys).toEqual(['run_1:1#1', 'run_1:1#2']);
  });

  test('is called again after its worker died', async () => {
    await withTool(() => 'done', KEYED_WRITE);
    await bed.store.claim({
      tenant: 'default',
      key: call.key,
      argsDigest: call.digest,
      attempt: 1,
      runId: RUN.runId,
      callKey: '1',
      tool: 'it',
      claimedUntil: 1,
      sameKeyRetry: true,
    });
    expect((await execute()).outcome).toMatchObject({ kind: 'ok' });
  });

  test('a ToolError after an attempt in doubt does not say that nothing happened', async () => {
    await withTool((_input, ctx) => {
      if (ctx.attempt === 1) throw new Error('socket hang up');
      throw new ToolError('exists', 'there is one already');
    }, KEYED_WRITE);
    const info = effect();
    await failureFrom(execute(info));
    expect((await execute(info)).outcome.kind).toBe('ambiguous');
    expect((await rowOf())?.state).toBe('claimed');
  });

  test('retryable ToolErrors only: nothing happened, and the claim is void', async () => {
    await withTool(() => {
      throw new ToolError('retryable_error', 'busy');
    }, KEYED_WRITE);
    const info = effect();
    expect((await failureFrom(execute(info))).type).toBe('ToolRetryable');
    expect((await execute(info)).outcome).toMatchObject({ kind: 'error', code: 'retryable_error' });
    expect(await rowOf()).toMatchObject({ state: 'void', definite: true });
  });

  test('a start that a reset forgot keeps its doubt', async () => {
    await withTool(() => {
      throw new ToolError('retryable_error', 'busy');
    }, KEYED_WRITE);
    await bed.store.claim({
      tenant: 'default',
      key: call.key,
      argsDigest: call.digest,
      attempt: 1,
      runId: RUN.runId,
      callKey: '1',
      tool: 'it',
      claimedUntil: 1,
      sameKeyRetry: true,
    });
    const info = effect();
    await failureFrom(execute(info));
    expect((await execute(info)).outcome.kind).toBe('ambiguous');
  });
});
