import { z } from 'zod';
import { ToolError } from '../../authoring/index.js';
import { attempt, callOf, effect, executeInput, failureFrom, RUN, sessionEvent } from './setup.js';
import { bedWith, execute, interrupted, type Run, type ToolBed } from './tool-bed.js';
import { until } from '../until.js';

let bed: ToolBed;
afterEach(() => bed.end());

describe('execute_tool with a tool that reads', () => {
  test('gives texts as they are, other values as JSON, and nothing as null', async () => {
    const values = ['text', { a: [1] }, undefined];
    bed = await bedWith(() => values.shift());
    expect((await execute(bed)).outcome).toEqual({ kind: 'ok', content: { text: 'text' } });
    expect((await execute(bed)).outcome).toEqual({ kind: 'ok', content: { text: '{"a":[1]}' } });
    expect((await execute(bed)).outcome).toEqual({ kind: 'ok', content: { text: 'null' } });
  });

  test('says of a value that it is no text, where other calls refer to it', async () => {
    const values: unknown[] = ['7', 7, 'x'.repeat(300), { long: 'x'.repeat(300) }];
    bed = await bedWith(() => values.shift());
    const typed = { typed: true, inlineBytesMax: 256 };
    const contentOf = async () => {
      const { outcome } = await execute(bed, effect(), typed);
      return outcome.kind === 'ok' ? outcome.content : undefined;
    };
    expect(await contentOf()).toEqual({ text: '7' });
    expect(await contentOf()).toEqual({ text: '7', json: true });
    expect(await contentOf()).not.toHaveProperty('json');
    expect(await contentOf()).toMatchObject({ bytes: 311, json: true });
  });

  test('gets its restored arguments and its context', async () => {
    const seen: unknown[] = [];
    bed = await bedWith((input, { signal, ...ctx }) => seen.push([input, ctx, signal.aborted]));
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
        cost: expect.any(Function),
        note: expect.any(Function),
        sandbox: expect.anything(),
      },
      false,
    ]);
  });

  const storedEvents = async () =>
    (await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 9 })).events;

  test('leaves its events to the next effect, so that a quick read costs no commit', async () => {
    bed = await bedWith(() => 'quick');
    const { eventsUpTo } = await execute(bed, effect(), { events: [sessionEvent()] });
    expect(eventsUpTo).toBe(sessionEvent().stamp.seq);
    expect(await storedEvents()).toEqual([]);
  });

  test('stores its events while it runs when it is slow', async () => {
    bed = await bedWith(async () => {
      await until(async () => (await storedEvents()).length === 1);
      return 'slow';
    });
    const { eventsUpTo, outcome } = await execute(bed, effect(), {
      events: [sessionEvent()],
      timeoutMs: 60_000,
    });
    expect(outcome).toMatchObject({ content: { text: 'slow' } });
    expect(eventsUpTo).toBe(sessionEvent().stamp.seq + 1);
  });

  test('a result of 10 MB is stored and only referred to', async () => {
    bed = await bedWith(() => 'x'.repeat(10 * 1024 * 1024));
    const { outcome } = await execute(bed);
    expect(outcome).toMatchObject({ kind: 'ok', content: { bytes: 10_485_760 } });
    expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
  });

  test('a result above the room that the run has goes by reference', async () => {
    bed = await bedWith(() => 'x'.repeat(100));
    const { outcome } = await execute(bed, effect(), { inlineBytesMax: 64 });
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
    ['a number that JSON lacks', () => ({ fee: [1, NaN] }), /1 is NaN, which JSON cannot hold/],
    ['endless', () => ({ fee: -Infinity }), /fee is -Infinity/],
    ['an invalid date', () => ({ due: new Date(NaN) }), /due is an invalid date/],
    ['a Map', () => new Map([[1, 2]]), /a Map, which JSON cannot hold/],
    ['no number by its own account', () => ({ a: { toJSON: () => NaN } }), /a is NaN/],
    ['more than it may be', () => 'x'.repeat(101), /101 bytes; 100 are allowed/],
  ])('a result that is %s is malformed, once', async (_what, run, message) => {
    bed = await bedWith(run, { maxResultBytes: 100 });
    const { outcome, attempts } = await execute(bed);
    expect({ outcome, attempts }).toMatchObject({
      outcome: { kind: 'error', code: 'malformed_result' },
      attempts: 1,
    });
    expect((outcome as { message: string }).message).toMatch(message);
  });

  test('a Map that says itself what it is in JSON is that', async () => {
    const told = Object.assign(new Map([[1, 2]]), { toJSON: () => ({ one: 2 }) });
    bed = await bedWith(() => told);
    expect((await execute(bed)).outcome).toMatchObject({ content: { text: '{"one":2}' } });
  });

  test('a result that does not fit its schema is malformed; what it was goes into the trace', async () => {
    bed = await bedWith(() => ({ state: 7 }), { output: z.object({ state: z.string() }) });
    const { outcome, attempts } = await execute(bed);
    expect(attempts).toBe(1);
    expect(outcome).toMatchObject({
      kind: 'error',
      code: 'malformed_result',
      message: expect.stringMatching(/does not fit its output schema: .*expected string/s),
      returned: { text: '{"state":7}' },
    });
  });

  test('a result is checked as the JSON that everybody gets, and handed on as it was', async () => {
    const output = z.object({ at: z.string() });
    bed = await bedWith(() => ({ at: new Date(0), more: 1 }), { output });
    const { outcome } = await execute(bed);
    const text = '{"at":"1970-01-01T00:00:00.000Z","more":1}';
    expect(outcome).toEqual({ kind: 'ok', content: { text } });
  });

  test.each([
    ['a text is a text, even one that holds JSON', '{"a":1}', z.string()],
    ['nothing at all is null', undefined, z.null()],
  ])('%s', async (_what, value, output) => {
    bed = await bedWith(() => value, { output });
    expect((await execute(bed)).outcome.kind).toBe('ok');
  });

  test('an error is retried as often as the budget says, then the model sees it', async () => {
    bed = await bedWith(() => {
      throw new Error('flaky');
    });
    const info = effect();
    const failure = await failureFrom(execute(bed, info));
    expect(failure).toMatchObject({ type: 'ToolRetryable', nonRetryable: false });
    expect(await execute(bed, { ...info, attempt: 2 })).toMatchObject({
      outcome: { kind: 'error', code: 'execution_error', message: 'flaky' },
      attempts: 2,
    });
  });

  test('a ToolError is an answer and is not retried', async () => {
    bed = await bedWith(() => {
      throw new ToolError('not_found', 'no such order');
    });
    expect((await execute(bed)).outcome).toEqual({
      kind: 'error',
      code: 'execution_error',
      message: 'not_found: no such order',
    });
  });

  test('a retryable ToolError keeps its code once the retries are used up', async () => {
    bed = await bedWith(() => {
      throw new ToolError('retryable_error', 'busy');
    });
    expect((await execute(bed, effect(), { maxRetries: 0 })).outcome).toEqual({
      kind: 'error',
      code: 'retryable_error',
      message: 'busy',
    });
  });

  test('a death of its worker is no failure of the tool', async () => {
    const runs: number[] = [];
    bed = await bedWith((_input, ctx) => {
      runs.push(ctx.attempt);
      if (ctx.attempt < 4) throw new Error('flaky');
      return 'ok';
    });
    // Two deliveries ended with their worker: nothing of them is in the store.
    const info = effect();
    await failureFrom(execute(bed, { ...info, attempt: 3 }));
    expect(await execute(bed, { ...info, attempt: 4 })).toMatchObject({
      outcome: { kind: 'ok' },
      attempts: 4,
    });
    expect(runs).toEqual([3, 4]);
  });

  test('an object that a tool throws is told as JSON', async () => {
    bed = await bedWith(() => Promise.reject({ status: 503, why: 'closed' }));
    const { outcome } = await execute(bed, effect(), { maxRetries: 0 });
    expect(outcome).toMatchObject({ kind: 'error', message: '{"status":503,"why":"closed"}' });
  });

  test('a tool that does not answer is timed out and told so', async () => {
    let aborted = false;
    bed = await bedWith(
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('aborted'));
          });
        }),
    );
    const output = await execute(bed, effect(), { timeoutMs: 50, maxRetries: 0 });
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'timeout' });
    expect(aborted).toBe(true);
  });

  test('a tool that ignores its timeout is left behind after the grace', async () => {
    bed = await bedWith(() => new Promise(() => undefined));
    const output = await execute(bed, effect(), { timeoutMs: 50, maxRetries: 0 });
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'timeout' });
  });

  test('an interrupted read is interrupted mid-execution', async () => {
    bed = await bedWith(() => new Promise(() => undefined));
    expect((await interrupted(bed)).outcome).toMatchObject({
      kind: 'error',
      code: 'interrupted_mid_execution',
    });
  });
});
