import fc from 'fast-check';
import { ARGUMENT_STRING_BYTES_MAX, type Json } from '../../core/json/json.js';
import { ARGUMENTS_DEPTH_MAX } from '../../store/arguments.js';
import { cleanUp, newStore } from './fixtures.js';

afterAll(cleanUp);

const LONG = 'é'.repeat(ARGUMENT_STRING_BYTES_MAX);

function nested(levels: number): Json {
  let value: Json = 'deep';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

test('strings above the limit are spilled at any depth, and only those', async () => {
  const { store } = await newStore();
  const short = 'x'.repeat(ARGUMENT_STRING_BYTES_MAX);
  const args = { short, list: [1, { body: LONG }], none: null };
  const spilled = await store.spillArguments('t', args);
  expect(spilled.args).toEqual({
    short,
    list: [1, { body: { $blob: expect.any(String), bytes: LONG.length * 2 } }],
    none: null,
  });
  expect(spilled.bytes).toBe(Buffer.byteLength(JSON.stringify(spilled.args)));
  expect(await store.restoreArguments('t', spilled.args)).toEqual(args);
});

test('restoring what was spilled gives the same value', async () => {
  const { store } = await newStore();
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(LONG), fc.constant('🌍'));
  const values = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      texts,
      fc.integer(),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('__proto__', 'constructor')),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(values, async (args) => {
      const spilled = await store.spillArguments('t', args);
      expect(JSON.stringify(await store.restoreArguments('t', spilled.args))).toBe(
        JSON.stringify(args),
      );
    }),
    { numRuns: 200 },
  );
});

test('an own property named __proto__ survives and touches no prototype', async () => {
  const { store } = await newStore();
  const args = JSON.parse(`{"__proto__": {"polluted": true, "body": "${LONG}"}}`) as Json;
  const { args: spilled } = await store.spillArguments('t', args);
  const restored = await store.restoreArguments('t', spilled);
  expect(JSON.stringify(restored)).toBe(JSON.stringify(args));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('arguments that look like a reference are refused, so no one can name a text that is not theirs', async () => {
  const { store } = await newStore();
  const secret = await store.putBlob('t', 'secret');
  const lookAlikes: Json[] = [{ ...secret }, { note: [{ ...secret, more: 1 }] }];
  for (const args of lookAlikes) {
    await expect(store.spillArguments('t', args)).rejects.toMatchObject({ code: 'InvalidRequest' });
  }
  const harmless = { $blob: 'a price', currency: 'EUR' };
  expect((await store.spillArguments('t', harmless)).args).toEqual(harmless);
});

test('nesting is accepted to the limit and refused beyond it', async () => {
  const { store } = await newStore();
  const deepest = nested(ARGUMENTS_DEPTH_MAX);
  expect((await store.spillArguments('t', deepest)).args).toEqual(deepest);
  for (const levels of [ARGUMENTS_DEPTH_MAX + 1, 5000]) {
    await expect(store.spillArguments('t', nested(levels))).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  }
});

test('what is no JSON is refused', async () => {
  const { store } = await newStore();
  for (const alien of [NaN, Infinity, undefined, 1n, () => 1]) {
    const args = { alien } as unknown as Json;
    await expect(store.spillArguments('t', args)).rejects.toMatchObject({ code: 'InvalidRequest' });
  }
  await expect(store.spillArguments('t', { 'a\ud800': 1 })).rejects.toMatchObject({
    code: 'InvalidRequest',
  });
});

test('unpaired surrogates in arguments become U+FFFD', async () => {
  const { store } = await newStore();
  expect((await store.spillArguments('t', ['a\ud800'])).args).toEqual(['a\ufffd']);
});

test('a spilled text that is gone, or is of another tenant, is a typed error', async () => {
  const { store } = await newStore();
  const { args } = await store.spillArguments('t', { body: LONG });
  await expect(store.restoreArguments('other', args)).rejects.toMatchObject({
    code: 'TranscriptMissing',
  });
});
