import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import { callDigest, type Json } from '../../core/json/json.js';
import type { CheckCallInput, CheckCallOutput } from '../../core/state/effect.js';
import { attempt, failureFrom, RUN, sessionEvent, startBed, type Bed } from './setup.js';

const refund = defineTool({
  name: 'refund',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  input: z.object({
    order: z.string(),
    amount: z.number().int().positive(),
    note: z.string().default('none'),
  }),
  run: () => ({}),
});
const anything = defineTool({
  name: 'anything',
  version: '1',
  effect: 'none',
  input: z.looseObject({}),
  run: () => ({}),
});

describe('check_call', () => {
  let bed: Bed;
  beforeAll(async () => {
    bed = await startBed({ tools: [refund, anything] });
  });
  afterAll(() => bed.end());

  function input(args: Json, changes: Partial<CheckCallInput> = {}): CheckCallInput {
    return { v: 1, run: RUN, tool: 'refund', toolVersion: '1', args, events: [], ...changes };
  }

  function check(args: Json, changes: Partial<CheckCallInput> = {}): Promise<CheckCallOutput> {
    return attempt(bed.activities().check_call, input(args, changes));
  }

  const loose = { tool: 'anything' };

  test('gives the arguments as the schema reads them, with the digest of exactly these', async () => {
    const args = { order: 'O-1', amount: 20, note: 'none' };
    expect(await check({ order: 'O-1', amount: 20 })).toEqual({
      args,
      digest: callDigest({ tool: 'refund', toolVersion: '1', args }),
      check: { ok: true },
      eventsUpTo: 0,
    });
  });

  test('names the fields that the schema does not declare, the first ten, and leaves them out', async () => {
    const order = { order: 'O-1', amount: 20, note: 'none' };
    const { args, check: answer } = await check({ ...order, toString: 1, debug: true });
    expect({ args, answer }).toEqual({
      args: order,
      answer: { ok: true, leftOut: ['toString', 'debug'] },
    });
    const names = Array.from({ length: 30 }, (_, at) => [`${'x'.repeat(90)}${at}`, at]);
    const many = await check({ ...order, ...Object.fromEntries(names) });
    expect(many.check).toMatchObject({ leftOut: Array(10).fill('x'.repeat(40)) });
  });

  test('refuses what the schema refuses, in its words', async () => {
    const { check: answer } = await check({ order: 'O-1', amount: 'x' });
    expect(answer).toMatchObject({ ok: false, code: 'invalid_arguments' });
    expect(answer).toMatchObject({ message: expect.stringContaining('amount') });
  });

  test.each<[string, Json, RegExp]>([
    ['a number that is not exact', { n: 2 ** 60 }, /too large to be exact/],
    ['a name of a stored text', { t: { $blob: 'a'.repeat(64), bytes: 3 } }, /not theirs/],
    [
      'more than one call may carry',
      { list: Array<string>(40).fill('x'.repeat(500)) },
      /too large/,
    ],
  ])('refuses %s', async (_what, args, message) => {
    const output = await check(args, loose);
    expect(output).toMatchObject({ args: {}, check: { ok: false, code: 'invalid_arguments' } });
    expect(output.check).toMatchObject({ message: expect.stringMatching(message) });
  });

  test('refuses what does not fit the room that the run has left', async () => {
    const args = { list: Array<string>(20).fill('x'.repeat(100)) };
    expect((await check(args, loose)).check.ok).toBe(true);
    expect((await check(args, { ...loose, argsBytesMax: 1_000 })).check.ok).toBe(false);
  });

  test('spills long texts, and takes back those that the call named before', async () => {
    const long = 'y'.repeat(5_000);
    const first = await check({ long }, loose);
    const ref = { $blob: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 5_000 };
    expect(first.args).toEqual({ long: ref });
    const { $blob } = (first.args as { long: { $blob: string } }).long;
    const again = await check(
      { changed: 1, ...(first.args as object) },
      { ...loose, blobs: [$blob] },
    );
    expect(again).toMatchObject({ args: { changed: 1, long: ref }, check: { ok: true } });
  });

  test('stores the events that it brings', async () => {
    const output = await check({}, { ...loose, events: [sessionEvent()] });
    expect(output.eventsUpTo).toBe(1);
  });

  test('an unknown version is left to execution', async () => {
    expect((await check({}, { toolVersion: '9' })).check.ok).toBe(true);
  });

  describe('resolves references', () => {
    const from = (path: string): Json => ({ $from: `state.${path}` });

    test('with the type of their values', async () => {
      const state = { id: { text: '4711' }, sum: { text: '25', json: true } } as const;
      const output = await check({ order: from('id'), amount: '†state.sum' }, { state });
      expect(output).toMatchObject({ args: { order: '4711', amount: 25 }, check: { ok: true } });
      const mixed = await check({ order: from('sum'), amount: from('id') }, { state });
      expect(mixed).toMatchObject({ check: { ok: false, code: 'invalid_arguments' } });
    });

    test('below a written path, at any depth', async () => {
      const state = { order: { text: '{"lines":{"first":{"sku":"A"}}}', json: true } } as const;
      const args = { in: [{ deep: from('order.lines.first.sku') }] };
      expect((await check(args, { ...loose, state })).args).toEqual({ in: [{ deep: 'A' }] });
    });

    test('with the whole of a large value', async () => {
      const whole = 'z'.repeat(100_000);
      const value = await bed.store.putBlob(RUN.tenant, whole);
      const output = await check({ report: from('r') }, { ...loose, state: { r: value } });
      expect(output.args).toEqual({ report: { $blob: value.$blob, bytes: 100_000 } });
    });

    test('and says which one holds nothing', async () => {
      const state = { order: { text: '{"id":1}' } };
      const output = await check({ a: from('order.total') }, { ...loose, state });
      expect(output.unmet).toEqual({ kind: 'reference', path: 'order.total' });
    });

    test('but never those that a value brings in, nor stored texts that it names', async () => {
      const inner = { $from: 'state.secret' };
      const state = {
        v: { text: JSON.stringify(inner), json: true },
        secret: { text: 'no' },
      } as const;
      expect((await check({ a: from('v') }, { ...loose, state })).args).toEqual({ a: inner });
      const { $blob } = await bed.store.putBlob(RUN.tenant, 'somebody else');
      const thief = { v: { text: JSON.stringify({ $blob, bytes: 13 }), json: true } } as const;
      const output = await check({ a: from('v') }, { ...loose, state: thief });
      expect(output).toMatchObject({ args: {}, check: { ok: false, code: 'invalid_arguments' } });
    });

    test('only where the run says so', async () => {
      expect((await check({ a: from('v') }, loose)).args).toEqual({ a: from('v') });
    });

    test('and looks at the condition first', async () => {
      const state = { kind: { text: 'small' } };
      const when = { path: 'kind', equals: 'large' };
      const output = await check({ a: from('nothing') }, { ...loose, state, when });
      expect(output.unmet).toEqual({ kind: 'condition' });
      const met = await check(
        { a: 1 },
        { ...loose, state, when: { path: 'kind', equals: 'small' } },
      );
      expect(met).toMatchObject({ args: { a: 1 }, check: { ok: true } });
    });

    test('unless a stored value is gone', async () => {
      const state = { r: { $blob: 'b'.repeat(64), bytes: 9 } };
      const failure = await failureFrom(check({ a: from('r') }, { ...loose, state }));
      expect(failure).toMatchObject({ type: 'TranscriptMissing' });
    });
  });
});
