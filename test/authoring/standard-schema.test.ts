/** Schemas of other libraries, by the interface that they share. */
import { z } from 'zod';
import { defineTool, type StandardSchema } from '../../index.js';
import { answerOf } from '../../authoring/output-schema.js';

interface Made {
  readonly validate?: (value: unknown) => unknown;
  readonly jsonSchema?: unknown;
}

const TOLD = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

/** As a library makes one. */
function schema({ validate = whole, jsonSchema = { input: () => TOLD } }: Made = {}) {
  const made = { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } };
  return made as unknown as StandardSchema<{ n: number }>;
}

function whole(value: unknown) {
  const { n } = value as { n?: unknown };
  return typeof n === 'number'
    ? { value }
    : { issues: [{ message: 'must be a number', path: [{ key: 'n' }] }] };
}

const define = (input: StandardSchema<{ n: number }>) =>
  defineTool({ name: 't', version: '1', effect: 'read', input, run: ({ n }) => n.toFixed(1) });

test('the model is told the JSON Schema of the library, and the input is checked by the library', () => {
  const { inputSchema, parse } = define(schema());
  expect(inputSchema).toEqual(TOLD);
  expect(parse({ n: 1 })).toEqual({ ok: true, value: { n: 1 } });
  expect(parse({ n: 'x' })).toEqual({ ok: false, message: '✖ must be a number\n  → at n' });
});

test('fields of which the schema says nothing do not reach the tool', () => {
  expect(define(schema()).parse({ n: 1, more: 2 })).toEqual({ ok: true, value: { n: 1 } });
});

test('a schema may be a function, and may give its JSON Schema by toJsonSchema', () => {
  const made = Object.assign(() => undefined, {
    '~standard': { version: 1, vendor: 'test', validate: whole },
    toJsonSchema: () => ({ $schema: 'x', ...TOLD }),
  });
  expect(define(made as unknown as StandardSchema<{ n: number }>).inputSchema).toEqual(TOLD);
});

test.each<[string, Made, RegExp]>([
  [
    'without a JSON Schema',
    { jsonSchema: null },
    /no JSON Schema that the model can be told \(test\)/,
  ],
  ['with an asynchronous check', { validate: async () => ({ value: {} }) }, /asynchronous check/],
  [
    'of something else than an object',
    { jsonSchema: { input: () => ({ type: 'string' }) } },
    /not an object/,
  ],
  [
    'whose JSON Schema cannot be made',
    {
      jsonSchema: {
        input: () => {
          throw new Error('a morph');
        },
      },
    },
    /a morph/,
  ],
  [
    'that is larger than 32 KiB',
    { jsonSchema: { input: () => ({ ...TOLD, description: 'x'.repeat(40_000) }) } },
    /32768/,
  ],
])('a schema %s is refused', (_, made, message) => {
  expect(() => define(schema(made))).toThrow(message);
});

test.each(['input', 'output'])('a schema of an early zod 3 is refused by name as %s', (side) => {
  // Before 3.24 without Standard Schema.
  const early = { _def: { typeName: 'ZodObject' }, safeParse: () => ({ success: true }) };
  const base = { name: 't', version: '1', effect: 'read', input: z.object({}) } as const;
  const declared = { ...base, [side]: early, run: () => 'x' };
  expect(() => defineTool(declared)).toThrow(
    expect.objectContaining({
      message: `The ${side} schema of tool t has no JSON Schema that the model can be told (zod 3).`,
      hint: expect.stringMatching(/^Use zod 4/) as unknown,
    }),
  );
});

test('a schema that changes what it has parsed lets nothing pass', () => {
  const doubles = schema({
    validate: (value) => ({ value: { n: (value as { n: number }).n * 2 } }),
  });
  expect(define(doubles).parse({ n: 1 })).toMatchObject({
    ok: false,
    message: expect.stringContaining('changes a value'),
  });
  expect(define(doubles).parse({ n: 0 })).toEqual({ ok: true, value: { n: 0 } });
});

test.each<[string, (value: unknown) => unknown]>([
  [
    'throws',
    () => {
      throw new Error('boom');
    },
  ],
  ['makes no JSON', () => ({ value: undefined })],
  [
    'is asynchronous after all',
    (value) => ('n' in (value as object) ? Promise.reject(new Error('late')) : { issues: [] }),
  ],
])('a check that %s is a defect of the input, and no crash', (_, validate) => {
  expect(define(schema({ validate })).parse({ n: 1 })).toMatchObject({ ok: false });
});

test('an output of any library is checked and never changed', () => {
  const { outputDefect, record } = defineTool({
    name: 't',
    version: '1',
    effect: 'read',
    input: z.object({}),
    output: schema(),
    run: () => ({ n: 1 }),
  });
  expect(record.outputSchemaHash).toMatch(/^[0-9a-f]{64}$/);
  expect(outputDefect?.({ n: 1 })).toBeUndefined();
  expect(outputDefect?.({ n: 'x' })).toContain('must be a number');
});

test('the type of run is tied to the output', () => {
  const base = { name: 't', version: '1', effect: 'read', input: z.object({}) } as const;
  const output = z.object({ status: z.enum(['open', 'closed']) });
  defineTool({ ...base, output, run: () => ({ status: 'open' }) });
  defineTool({ ...base, output, run: async () => ({ status: 'open' }) });
  // @ts-expect-error the result does not fit
  defineTool({ ...base, output, run: () => ({ status: 'lost' }) });
  // @ts-expect-error the result does not fit
  defineTool({ ...base, output, run: async () => 1 });
  defineTool({ ...base, run: () => 1 });
  defineTool({ ...base, output: { type: 'object' }, run: () => 1 });
});

test('an answer has the type of its schema, defaults included; another one says why it does not fit', () => {
  const { jsonSchema, typed } = answerOf(
    z.object({
      n: z.number().refine((n) => n > 0, 'must be above zero'),
      note: z.string().default('none'),
    }),
  );
  expect(jsonSchema).toMatchObject({ type: 'object', required: ['n'] });
  const { n, note }: { n: number; note: string } = typed({ n: 1 });
  expect([n, note]).toEqual([1, 'none']);
  expect(() => typed({ n: 0 })).toThrow(
    expect.objectContaining({
      code: 'MalformedResult',
      message: expect.stringContaining('above zero'),
    }),
  );
  expect(() => answerOf(z.object({ at: z.date() }))).toThrow(
    expect.objectContaining({ code: 'InvalidTask' }),
  );
});
