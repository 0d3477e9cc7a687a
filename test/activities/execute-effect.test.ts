import type { Store } from '../../store/store.js';
import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { ToolError } from '../../authoring/index.js';
import type { ExecuteToolOutput } from '../../core/state/effect.js';
import { attempt, effect, environmentOf, executeInput, failureFrom } from './setup.js';
import {
  answersLate,
  bedWith,
  call,
  execute,
  FINANCIAL,
  interrupted,
  KEYED_WRITE,
  type Run,
  SUBJECT,
  TARGET,
  type ToolBed,
} from './tool-bed.js';
import { until } from '../until.js';

let bed: ToolBed;
afterEach(() => bed.end());

/** A clock that jumps by an hour once the claim has been made. */
function frozenAfterClaim(): () => number {
  let readings = 0;
  // The beginning of the activity and its claim read it before.
  return () => Date.now() + (readings++ < 2 ? 0 : 3_600_000);
}

const rowOf = () => bed.store.getLedgerRow('default', call.key);

describe('execute_tool with a tool that changes something', () => {
  test('claims before, records after, and only then answers', async () => {
    const states: unknown[] = [];
    bed = await bedWith(async () => {
      states.push((await rowOf())?.state);
      return { refund: 1 };
    }, FINANCIAL);
    const { outcome } = await execute(bed);
    states.push((await rowOf())?.state);
    expect(states).toEqual(['claimed', 'recorded']);
    expect(outcome).toEqual({ kind: 'ok', content: { text: '{"refund":1}' } });
    expect(await rowOf()).toMatchObject({ source: 'tool', result: { text: '{"refund":1}' } });
  });

  test('a recorded value that other calls refer to keeps its type', async () => {
    bed = await bedWith(() => 7, FINANCIAL);
    const outcome = { kind: 'ok', content: { text: '7', json: true } };
    expect((await execute(bed, effect(), { typed: true })).outcome).toEqual(outcome);
    expect((await execute(bed, effect(), { typed: true })).outcome).toMatchObject(outcome);
  });

  test('a redelivery gets the recorded result and runs nothing', async () => {
    const run = jest.fn(() => 'done');
    bed = await bedWith(run, FINANCIAL);
    const first = await execute(bed);
    const second = await execute(bed);
    expect(run).toHaveBeenCalledTimes(1);
    expect(first.attempts).toBe(1);
    expect(second).toMatchObject({
      outcome: { kind: 'ok', content: { text: 'done' }, reused: true },
      attempts: 0,
    });
  });

  test('what took effect stays recorded when its result does not fit, and says so again', async () => {
    const run = jest.fn(() => ({ refund: 'one' }));
    bed = await bedWith(run, { ...FINANCIAL, output: z.object({ refund: z.number() }) });
    const first = await execute(bed);
    expect(first.outcome).toMatchObject({
      kind: 'error',
      code: 'malformed_result',
      message: expect.stringMatching(/^The call took effect and must not be repeated/),
      returned: { text: '{"refund":"one"}' },
    });
    expect(await rowOf()).toMatchObject({
      state: 'recorded',
      result: { text: '{"refund":"one"}' },
    });
    expect((await execute(bed)).outcome).toEqual(first.outcome);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('of a result of five megabytes ledger and run have only the name', async () => {
    const value = 'x'.repeat(5 * 1024 * 1024);
    bed = await bedWith(() => value, FINANCIAL);
    const { outcome } = await execute(bed);
    expect(outcome).toMatchObject({ kind: 'ok', content: { bytes: value.length } });
    expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
    const row = await rowOf();
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
    expect(await bed.store.getText('default', row!.result!)).toBe(value);
  });

  test('of a result that JSON cannot hold as a whole, what it can hold is kept with the defect', async () => {
    bed = await bedWith(() => ({ payout: 'po_1', fee: NaN }), FINANCIAL);
    const { outcome } = await execute(bed);
    expect(outcome).toMatchObject({
      kind: 'ok',
      content: {
        text: expect.stringMatching(/took effect.*fee is NaN.*"payout":"po_1"/s),
      },
    });
  });

  test('a result that is no JSON does not fit any schema', async () => {
    bed = await bedWith(() => 1n, { ...FINANCIAL, output: z.number() });
    expect((await execute(bed)).outcome).toMatchObject({ code: 'malformed_result' });
    expect(await rowOf()).toMatchObject({ state: 'recorded' });
  });

  test('only one of two racing executions runs', async () => {
    let end = (): void => undefined;
    const run = jest.fn(() => new Promise((resolve) => (end = () => resolve('done'))));
    bed = await bedWith(run, FINANCIAL);
    let over = 0;
    const racing = [execute(bed), execute(bed), execute(bed)].map((one) =>
      one.finally(() => (over += 1)),
    );
    await until(() => over === 2);
    end();
    const outcomes = await Promise.all(racing);
    expect(run).toHaveBeenCalledTimes(1);
    expect(outcomes.map(({ outcome }) => outcome.kind).sort()).toEqual([
      'ambiguous',
      'ambiguous',
      'ok',
    ]);
  });

  test('an open claim of a dead worker is ambiguous, never run again', async () => {
    const run = jest.fn(() => 'done');
    bed = await bedWith(run, FINANCIAL);
    await bed.store.claim({
      ...TARGET,
      ...SUBJECT,
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    const output = await attempt(bed.activities().execute_tool, executeInput(call));
    expect(output.outcome.kind).toBe('ambiguous');
    expect(run).not.toHaveBeenCalled();
  });

  test('a ToolError says that nothing happened: the claim is void', async () => {
    bed = await bedWith(() => {
      throw new ToolError('card_expired', 'the card has expired');
    }, FINANCIAL);
    expect((await execute(bed)).outcome).toEqual({
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
    bed = await bedWith(run, FINANCIAL);
    expect((await execute(bed, effect(), { timeoutMs: 50 })).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({ state: 'claimed' });
  });

  test('an answer within the grace after a timeout still counts', async () => {
    bed = await bedWith(answersLate('late'), FINANCIAL);
    expect((await execute(bed, effect(), { timeoutMs: 50 })).outcome).toMatchObject({
      kind: 'ok',
      content: { text: 'late' },
    });
  });

  test('an interrupt while it runs is ambiguous, unless it ended', async () => {
    bed = await bedWith(() => new Promise(() => undefined), FINANCIAL);
    expect((await interrupted(bed)).outcome).toMatchObject({
      kind: 'ambiguous',
      aborted: true,
    });
    await bed.end();
    bed = await bedWith(answersLate('done'), FINANCIAL);
    expect((await interrupted(bed)).outcome).toMatchObject({ kind: 'ok' });
  });

  test('a shutdown of the worker is ambiguous without anybody having asked for it', async () => {
    bed = await bedWith(() => new Promise(() => undefined), FINANCIAL);
    const shutdown = new ActivityCancellationDetails({ workerShutdown: true });
    const { outcome } = await interrupted(bed, shutdown);
    expect(outcome).toEqual({ kind: 'ambiguous', claimed: 1, message: expect.any(String) });
  });

  test('a claim that was burned while the tool ran keeps its result out of the ledger', async () => {
    bed = await bedWith(async () => {
      await bed.store.burn({ ...TARGET, ...SUBJECT });
      return 'too late';
    }, FINANCIAL);
    expect((await execute(bed)).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({
      state: 'void',
      wasClaimed: true,
      late: { attempt: 1, result: { text: 'too late' } },
    });
  });

  test('a late word is kept beside what a person said and what ran afterwards', async () => {
    bed = await bedWith(async (_input, ctx) => {
      if (ctx.attempt > 1) return 'second';
      await bed.store.burn({ ...TARGET, ...SUBJECT });
      await execute(bed, effect(), { call: { ...call, attempt: 2 } });
      return 'first';
    }, FINANCIAL);
    expect((await execute(bed)).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({
      state: 'recorded',
      attempt: 2,
      result: { text: 'second' },
      late: { attempt: 1, result: { text: 'first' } },
    });
  });

  test('"nothing happened" frees no claim that is gone', async () => {
    bed = await bedWith(async () => {
      await bed.store.burn({ ...TARGET, ...SUBJECT });
      throw new ToolError('card_expired', 'the card has expired');
    }, FINANCIAL);
    expect((await execute(bed)).outcome.kind).toBe('ambiguous');
    expect(await rowOf()).toMatchObject({
      state: 'void',
      definite: false,
      late: { result: { text: 'Nothing happened: card_expired: the card has expired' } },
    });
  });

  test('nothing starts under a claim that was frozen until it was dead; it is given back', async () => {
    const run = jest.fn(() => 'done');
    bed = await bedWith(run, FINANCIAL);
    const { execute_tool } = bed.activities({ clock: frozenAfterClaim() });
    const output = await attempt(execute_tool, executeInput(call));
    expect(output).toMatchObject({ outcome: { kind: 'ambiguous' }, attempts: 0 });
    expect(run).not.toHaveBeenCalled();
    expect(await rowOf()).toMatchObject({ state: 'void', wasClaimed: false });
  });

  test('a call that was interrupted while it claimed did not start', async () => {
    const run = jest.fn(() => 'done');
    bed = await bedWith(run, FINANCIAL);
    const environment = environmentOf(effect());
    const store: Store = {
      ...bed.store,
      together: async (work, step) => {
        const value = await bed.store.together(work, step);
        environment.cancel();
        return value;
      },
    };
    const { execute_tool } = bed.activities({ store });
    const output = (await environment.run(execute_tool, executeInput(call))) as ExecuteToolOutput;
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'interrupted' });
    expect(run).not.toHaveBeenCalled();
    expect(await rowOf()).toMatchObject({ state: 'void', definite: true });
  });

  test('what cannot be represented is still recorded as having happened', async () => {
    bed = await bedWith(() => ({ n: 1n }), FINANCIAL);
    const { outcome } = await execute(bed);
    expect(JSON.stringify(outcome)).toContain('The call took effect, but its result could not');
    expect((await rowOf())?.state).toBe('recorded');
  });

  test('a result above its limit is recorded cut off, with a notice', async () => {
    bed = await bedWith(() => 'é'.repeat(100), { ...FINANCIAL, maxResultBytes: 51 });
    expect((await execute(bed)).outcome).toEqual({
      kind: 'ok',
      content: { text: `${'é'.repeat(25)}\n[cut off: 51 of 200 bytes kept]` },
    });
  });

  test('after a person said "did not happen", the next attempt runs under the same key', async () => {
    const keys: string[] = [];
    bed = await bedWith((_input, ctx) => keys.push(ctx.idempotencyKey), FINANCIAL);
    await bed.store.burn({ ...TARGET, ...SUBJECT });
    const { outcome } = await execute(bed, effect(), { call: { ...call, attempt: 2 } });
    expect(outcome.kind).toBe('ok');
    expect(keys).toEqual([call.key]);
  });

  test('a full disk after the effect does not lose that it happened', async () => {
    bed = await bedWith(() => 'done', FINANCIAL);
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
    bed = await bedWith((_input, ctx) => {
      keys.push(`${ctx.idempotencyKey}#${ctx.attempt}`);
      throw new Error('socket hang up');
    }, KEYED_WRITE);
    const info = effect();
    expect((await failureFrom(execute(bed, info))).type).toBe('ToolRetryable');
    expect(await execute(bed, info)).toMatchObject({ outcome: { kind: 'ambiguous' }, attempts: 2 });
    expect(keys).toEqual(['run_1:1#1', 'run_1:1#2']);
  });

  test('a result that nobody heard of is given with the starts that it took', async () => {
    let starts = 0;
    bed = await bedWith(() => {
      starts += 1;
      if (starts === 1) throw new Error('socket hang up');
      return 'done';
    }, KEYED_WRITE);
    const info = effect();
    await failureFrom(execute(bed, info));
    expect((await execute(bed, info)).attempts).toBe(2);
    expect(await execute(bed, info)).toMatchObject({ outcome: { reused: true }, attempts: 2 });
    expect(starts).toBe(2);
  });

  test('is called again after its worker died', async () => {
    bed = await bedWith(() => 'done', KEYED_WRITE);
    await bed.store.claim({
      ...TARGET,
      ...SUBJECT,
      claimedUntil: 1,
      sameKeyRetry: true,
    });
    expect((await execute(bed)).outcome).toMatchObject({ kind: 'ok' });
  });

  test('a ToolError after an attempt in doubt does not say that nothing happened', async () => {
    bed = await bedWith((_input, ctx) => {
      if (ctx.attempt === 1) throw new Error('socket hang up');
      throw new ToolError('exists', 'there is one already');
    }, KEYED_WRITE);
    const info = effect();
    await failureFrom(execute(bed, info));
    expect((await execute(bed, info)).outcome.kind).toBe('ambiguous');
    expect((await rowOf())?.state).toBe('claimed');
  });

  test('retryable ToolErrors only: nothing happened, and the claim is void', async () => {
    bed = await bedWith(() => {
      throw new ToolError('retryable_error', 'busy');
    }, KEYED_WRITE);
    const info = effect();
    expect((await failureFrom(execute(bed, info))).type).toBe('ToolRetryable');
    expect((await execute(bed, info)).outcome).toMatchObject({
      kind: 'error',
      code: 'retryable_error',
    });
    expect(await rowOf()).toMatchObject({ state: 'void', definite: true });
  });

  test('a start that a reset forgot keeps its doubt', async () => {
    bed = await bedWith(() => {
      throw new ToolError('retryable_error', 'busy');
    }, KEYED_WRITE);
    await bed.store.claim({
      ...TARGET,
      ...SUBJECT,
      claimedUntil: 1,
      sameKeyRetry: true,
    });
    const info = effect();
    await failureFrom(execute(bed, info));
    expect((await execute(bed, info)).outcome.kind).toBe('ambiguous');
  });
});
