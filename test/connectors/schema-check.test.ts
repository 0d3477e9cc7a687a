import { definitionProblem } from '../../connectors/index.js';
import { schemaCheck } from '../../connectors/schema-check.js';
import type { Json } from '../../core/json/json.js';

/** Each level asks the next one twice. */
function doubling(levels: number): Json {
  const both = (next: number): Json => ({
    allOf: [{ $ref: `#/$defs/a${next}` }, { $ref: `#/$defs/a${next}` }],
  });
  const names = Array.from({ length: levels }, (_, n) => [`a${n}`, both(n + 1)] as const);
  return { $defs: { ...Object.fromEntries(names), [`a${levels}`]: {} }, $ref: '#/$defs/a0' };
}

test.each<[string, Json, Json]>([
  ['repeats what repeats', { type: 'string', pattern: '^((a+))+$' }, `${'a'.repeat(48)}!`],
  ['repeats a choice', { type: 'string', pattern: '^((a|a))+$' }, `${'a'.repeat(48)}!`],
  ['refers to itself twice, and again', doubling(60), {}],
])(
  'the check of a schema that %s ends, though nothing in it looks bad',
  async (_, schema, value) => {
    expect(
      definitionProblem({ name: 'it', inputSchema: { type: 'object' }, outputSchema: schema }),
    ).toBe(undefined);
    const check = await schemaCheck(schema);
    expect(check(value)).toContain('takes longer than');
    expect(check(value)).toContain('takes longer than');
  },
);

test('a check says what is wrong, and nothing of a value that fits', async () => {
  const check = await schemaCheck({
    type: 'object',
    properties: { id: { type: 'string', pattern: '^[a-z]+$' } },
  });
  expect(check({ id: 'abc' })).toBe(undefined);
  expect(check({ id: '7' })).toMatch(/pattern/);
  expect(check({ id: 7 })).toMatch(/string/);
});

/** A value at which a check stands still, as on a machine that is busy elsewhere: the processor does nothing for it. */
function starving(times: number): { readonly value: Json; readonly looks: () => number } {
  let looks = 0;
  const value = {
    get name() {
      looks += 1;
      if (looks <= times) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
      return 'Ada';
    },
  };
  return { value, looks: () => looks };
}

test('a check that the machine has no time for is begun anew, and not without end', async () => {
  const check = await schemaCheck({
    type: 'object',
    properties: { name: { type: 'string' } },
  });
  expect(check(starving(1).value)).toBeUndefined();
  const never = starving(Number.POSITIVE_INFINITY);
  expect(check(never.value)).toMatch(/takes longer than 1000 ms/);
  expect(never.looks()).toBeLessThan(10);
});
