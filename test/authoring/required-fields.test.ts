/** What a JSON Schema requires is required, also where it says nothing else of the field. */
import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import { withRequiredFields } from '../../authoring/required-fields.js';

test('A field that is required and nowhere declared is missed in the arguments of a tool.', () => {
  const tool = defineTool({
    name: 'x',
    version: '1',
    effect: 'read',
    input: { type: 'object', required: ['id'] },
    run: () => 1,
  });
  expect(tool.parse({}).ok).toBe(false);
  expect(tool.parse({ id: 7 }).ok).toBe(true);
});

test('The same holds in fields, in items and in alternatives, and values are left as they are.', () => {
  const inner = { type: 'object', required: ['id'] };
  const schema = {
    type: 'object',
    properties: { one: inner, all: { type: 'array', items: inner }, either: { anyOf: [inner] } },
    default: inner,
  };
  const whole = withRequiredFields(schema) as typeof schema;
  expect(whole.default).toEqual(inner);
  const parser = z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0]);
  const good = { one: { id: 1 }, all: [{ id: 1 }], either: { id: 1 } };
  expect(parser.safeParse(good).success).toBe(true);
  for (const field of ['one', 'either'] as const)
    expect(parser.safeParse({ ...good, [field]: {} }).success).toBe(false);
  expect(parser.safeParse({ ...good, all: [{}] }).success).toBe(false);
});

test('A schema that declares all that it requires is the same.', () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  expect(withRequiredFields(schema)).toEqual(schema);
});
