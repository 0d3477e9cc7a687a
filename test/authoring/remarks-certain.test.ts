/** Told is what is certain alone: of what a schema, a sub-agent, a start or a connector leaves open nothing is said. */
import fc from 'fast-check';
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  fromOpenAPI,
  type AgentDefinition,
  type ConfigDefinition,
  type InputDeclaration,
  type Tool,
} from '../../authoring/index.js';
import { newRemarks } from '../../authoring/remarks.js';
import type { Json } from '../../core/json/json.js';
import { matchRule } from '../../core/permission/permission.js';
import type { PolicyRule } from '../../core/state/policy.js';
import { drawsOf } from '../properties.js';

const taking = (name: string, input: InputDeclaration) =>
  defineTool({ name, version: '1', effect: 'read', input, run: () => null });
const agent = (rest: Partial<AgentDefinition>) =>
  defineAgent({ name: 'desk', model: 'scripted/x', instructions: 'Help.', ...rest });
const rule = (tool: string, path: string, exists = true): PolicyRule => ({
  tool,
  decision: 'deny',
  when: { path, exists },
});
const said = (agents: ConfigDefinition['agents'], rest: Partial<ConfigDefinition> = {}) =>
  newRemarks(defineConfig({ agents, ...rest }));
const saidOf = (tools: readonly Tool[], ...rules: readonly PolicyRule[]) =>
  said([agent({ tools, policy: { rules } })]);

function decides(tool: Tool, one: PolicyRule, args: Json): boolean {
  const parsed = tool.parse(args);
  if (!parsed.ok) return false;
  return matchRule({ version: '1', rules: [one] }, tool.record.name, parsed.value) !== undefined;
}

const text = { type: 'string' };
const open = { type: 'object', properties: { id: text } } as const;

test.each<[string, InputDeclaration, string, Json]>([
  [
    'a loose object below',
    z.object({ meta: z.looseObject({ id: z.string() }) }),
    'meta.region',
    { meta: { id: 'a', region: 'eu' } },
  ],
  ['anyOf', { ...open, anyOf: [{ properties: { iban: text } }] }, 'iban', { iban: 'DE' }],
  ['allOf', { ...open, allOf: [{ properties: { iban: text } }] }, 'iban', { iban: 'DE' }],
  [
    'an intersection with a loose object',
    z.object({ to: z.object({ id: z.string() }).and(z.looseObject({})) }),
    'to.iban',
    { to: { id: 'a', iban: 'DE' } },
  ],
  [
    'a default with more than its schema says',
    z.object({ to: z.object({ id: z.string() }).default({ id: 'a', iban: 'DE' } as never) }),
    'to.iban',
    {},
  ],
  [
    'a closed part that need be no object',
    { type: 'object', properties: { to: { properties: {}, additionalProperties: false } } },
    'to.iban',
    { to: { iban: 'DE' } },
  ],
  [
    'what comes out of a pipe',
    z.object({
      to: z
        .object({ id: z.string() })
        .pipe(z.looseObject({ iban: z.string().default('DE') }) as never),
    }),
    'to.iban',
    { to: { id: 'a' } },
  ],
  ['patternProperties', { ...open, patternProperties: { '^x_': {} } }, 'x_eu', { x_eu: 1 }],
  [
    'a type that is a list',
    { type: 'object', properties: { to: { type: ['object', 'null'] } } },
    'to.iban',
    { to: { iban: 'DE' } },
  ],
  [
    'additionalProperties below',
    { type: 'object', properties: { to: { ...open, additionalProperties: true } } },
    'to.iban',
    { to: { iban: 'DE' } },
  ],
  [
    'an object below one that is closed, of which nothing is taken out',
    { type: 'object', properties: { to: open }, additionalProperties: false },
    'to.iban',
    { to: { iban: 'DE' } },
  ],
])('A rule that decides by %s is not called dead.', (_what, input, path, args) => {
  const tool = taking('pay', input);
  expect(decides(tool, rule('pay', path), args)).toBe(true);
  expect(saidOf([tool], rule('pay', path))).toEqual([]);
});

test('An operation whose body is one of several has the arguments of each.', () => {
  const kind = (name: string) => ({
    type: 'object',
    required: [name],
    properties: { [name]: text },
  });
  const schema = { ...open, oneOf: [kind('iban'), kind('card')] };
  const operation = {
    operationId: 'createPayout',
    description: 'Pays.',
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 200: { description: 'ok' } },
  };
  const tools = fromOpenAPI(
    {
      openapi: '3.0.3',
      info: { title: 'p', version: '1' },
      servers: [{ url: 'https://pay.example.com' }],
      paths: { '/payouts': { post: operation } },
    },
    { allow: ['createPayout'], group: 'bank' },
  );
  expect(decides(tools[0]!, rule('bank.*', 'body.iban'), { body: { iban: 'DE' } })).toBe(true);
  expect(saidOf(tools, rule('bank.*', 'body.iban'), rule('bank.*', 'iban'))).toEqual([
    expect.stringContaining('policy.rules[1].when.path is "iban"'),
  ]);
});

test('What is surely taken from no call is still told, below closed and optional parts as well.', () => {
  const to = { ...open, additionalProperties: false };
  const closed = taking('closed', {
    type: 'object',
    properties: { to },
    additionalProperties: false,
  });
  const plain = taking('plain', z.object({ to: z.object({ iban: z.string() }).optional() }));
  const list = taking('list', z.object({ to: z.array(z.object({ iban: z.string() })) }));
  for (const tool of [closed, plain, list])
    expect(saidOf([tool], rule(tool.record.name, 'to.bic'))).toHaveLength(1);
});

test('A rule on an argument that must be missing is about each call, and nothing is said of it.', () => {
  const tool = taking('pay', z.object({}));
  expect(decides(tool, rule('pay', 'reason', false), {})).toBe(true);
  expect(saidOf([tool], rule('pay', 'reason', false))).toEqual([]);
});

test('A rule for all tools is about those that starts and goals bring, by their own arguments.', () => {
  const tool = taking('find', z.object({ q: z.string() }));
  const rules = ['prompt', 'because', 'value.x', 'promt'].map((path) => rule('*', path));
  expect(saidOf([tool], ...rules)).toEqual([
    expect.stringMatching(/rules\[3\]\.when\.path is "promt".* Did you mean prompt\?$/),
  ]);
});

test('A rule counts below its agent and where another agent says it: the connectors of all of them may take its path.', () => {
  const mcp = { crm: { url: 'https://crm.test' } };
  const policy = { rules: [rule('*', 'customerId'), rule('fin*', 'customerId')] };
  const desk = { tools: [taking('find', z.object({ q: z.string() }))], policy };
  const below = agent({ name: 'below', mcp: ['crm'] });
  const alone = said([agent(desk), below], { mcp });
  expect(alone).toHaveLength(2);
  const agents = { below: { description: 'Helps.', agent: below } };
  for (const family of [
    [agent({ ...desk, agents })],
    [agent(desk), agent({ name: 'other', mcp: ['crm'], policy })],
  ])
    expect(said(family, { mcp })).toEqual([alone[1]]);
});

test('A rule that a role has of its agent is told once, and two rules at one place both.', () => {
  const rules = (tool: string) => ({ policy: { rules: [rule(tool, 'oder')] } });
  const tools = ['find', 'pay'].map((name) => taking(name, z.object({ q: z.string() })));
  const role = { aide: { description: 'Helps.', prompt: 'Help.' } };
  expect(
    said([
      agent({ tools, agents: role, ...rules('find') }),
      agent({ name: 'other', tools, ...rules('pay') }),
    ]),
  ).toEqual([expect.stringMatching(/^Agent desk: /), expect.stringMatching(/^Agent other: /)]);
});

test('Lists take a `*` at the end alone, and a hook that says the same name vouches for none of them.', () => {
  const names = ['*.refund', 'ord*refund', 'ord*s.re*', 'orders.re*', 'mcp__crm__*x', 'mcp__*'];
  const run = () => null;
  const desk = agent({
    tools: [taking('orders.refund', z.object({}))],
    mcp: ['crm'],
    hooks: [defineHook({ name: 'guard', point: 'PreToolUse', match: { tools: names }, run })],
    settings: { disallowedTools: names, allowedTools: names },
  });
  const lines = said([desk], { mcp: { crm: { url: 'https://crm.test' } } });
  const places = ['settings.allowedTools', 'settings.disallowedTools'];
  const wrong = [0, 1, 2, 4];
  expect(lines).toEqual(
    places.flatMap((place) =>
      wrong.map((at) =>
        expect.stringContaining(
          `${place}[${at}] is "${names[at]}", which matches no tool. Only a * at the end counts.`,
        ),
      ),
    ),
  );
});

const NAMES = fc.constantFrom('a', 'b', 'x_c');
const SEVERAL = { minLength: 1, maxLength: 2 };

/** JSON Schemas with words that leave something open at any depth; many say what contradicts itself. */
const { part } = fc.letrec((tie) => ({
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    fc.constant({}),
    fc.boolean(),
    tie('whole'),
  ),
  whole: fc.record(
    {
      type: fc.constantFrom('object', 'object', 'object', ['object', 'null'], 'string', 'array'),
      properties: fc.dictionary(NAMES, tie('part')),
      additionalProperties: fc.oneof(fc.constant(false), tie('part')),
      patternProperties: fc.record({ '^x_': tie('part') }),
      propertyNames: fc.constant({ minLength: 2 }),
      anyOf: fc.array(tie('part'), SEVERAL),
      oneOf: fc.array(tie('part'), SEVERAL),
      allOf: fc.array(tie('part'), SEVERAL),
      items: tie('part'),
      $ref: fc.constant('#/$defs/other'),
      const: fc.constant({ a: { b: 1 } }),
      enum: fc.constant([{ b: 1 }, 's']),
      default: fc.constant({ b: { a: 1 } }),
    },
    { requiredKeys: [] },
  ),
}));
const jsonSchema = fc
  .tuple(fc.dictionary(NAMES, part, { minKeys: 1 }), part, part)
  .map(([properties, rest, other]) => ({
    ...(typeof rest === 'object' && (rest as object)),
    type: 'object',
    properties,
    $defs: { other },
  }));

const { zod } = fc.letrec<{
  zod: z.ZodType;
  shape: Record<string, z.ZodType>;
  object: z.ZodObject;
}>((tie) => ({
  shape: fc.dictionary(NAMES, tie('zod'), { maxKeys: 2 }),
  object: fc
    .tuple(tie('shape'), fc.nat(3), tie('zod'))
    .map(
      ([shape, kind, rest]) =>
        [
          z.object(shape),
          z.looseObject(shape),
          z.strictObject(shape),
          z.object(shape).catchall(rest),
        ][kind]!,
    ),
  zod: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'zod' },
    fc.constant(z.string()),
    fc.constant(z.unknown()),
    tie('object'),
    tie('object').map((one) => one.nullable()),
    tie('object').map((one) => one.optional()),
    tie('object').map((one) => z.lazy(() => one)),
    tie('zod').map((one) => z.array(one)),
    tie('zod').map((one) => z.record(z.string(), one)),
    fc.tuple(tie('object'), tie('object')).map(([one, two]) => z.intersection(one, two)),
    fc.tuple(tie('zod'), tie('zod')).map(([one, two]) => z.union([one, two])),
  ),
}));
const zodSchema = fc
  .tuple(fc.dictionary(NAMES, zod, { minKeys: 1 }), fc.nat(2))
  .map(([shape, kind]) => [z.object(shape), z.looseObject(shape), z.strictObject(shape)][kind]!);

const names = ['a', 'b', 'x_c'];
const SHORT = names.flatMap((one) => [[one], ...names.map((two) => [one, two])]);
/** Fewer than there may be lines. */
const paths = fc
  .array(fc.array(NAMES, { minLength: 3, maxLength: 3 }), { maxLength: 4 })
  .map((long) => [...SHORT, ...long]);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    fc.constantFrom(1, 's', null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(NAMES, tie('value')),
  ),
}));

test.each<[string, fc.Arbitrary<InputDeclaration>]>([
  ['JSON Schemas', jsonSchema as fc.Arbitrary<InputDeclaration>],
  ['zod', zodSchema],
])(
  'No rule that decides on a value which passes is called dead, whatever %s leave open.',
  (_, schemas) => {
    const seen = { decided: 0, told: 0 };
    const property = fc.property(
      schemas,
      paths,
      fc.array(fc.dictionary(NAMES, anyValue), { maxLength: 4 }),
      (schema, tried, values) => {
        const tool = usable(schema);
        if (tool === undefined) return;
        const rules = tried.map((path) => rule('pay', path.join('.')));
        const lines = saidOf([tool], ...rules).join('\n');
        for (const [at, path] of tried.entries()) {
          const alongPath = [1, {}].map((leaf) =>
            path.reduceRight<Json>((below, name) => ({ [name]: below }), leaf),
          );
          const isTold = lines.includes(`rules[${at}].when`);
          const all = [...alongPath, ...(values as Json[])];
          const isDecided = all.some((args) => decides(tool, rules[at]!, args));
          seen.decided += Number(isDecided);
          seen.told += Number(isTold);
          expect(isTold && isDecided).toBe(false);
        }
      },
    );
    fc.assert(property, drawsOf(300));
    // Both happen often, or nothing is shown.
    expect(Math.min(seen.decided, seen.told)).toBeGreaterThan(5);
  },
);

/** Not each draw is a schema that a tool can have. */
function usable(schema: InputDeclaration): Tool | undefined {
  try {
    return taking('pay', schema);
  } catch {
    return undefined;
  }
}
