import { z } from 'zod';
import type { JsonSchema } from '../../authoring/index.js';
import { defineTool, type ToolDefinition } from '../../authoring/define-tool.js';
import { errorOf } from './error-of.js';

const base = {
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string() }),
  run: () => 'ok',
} as const;

function define(changes: object): () => unknown {
  return () => defineTool({ ...base, ...changes } as ToolDefinition<z.ZodType>);
}

describe('defineTool fills in what was left out', () => {
  test('a read is natural, needs no approval and has the default limits', () => {
    expect(defineTool(base).record).toMatchObject({
      name: 'orders.read',
      wireName: 'orders__read',
      kind: 'tool',
      idempotency: 'natural',
      approval: 'never',
      concurrencySafe: false,
      timeoutMs: 30_000,
      maxResultBytes: 10_485_760,
      probes: false,
    });
  });

  test.each([
    ['none', 'never'],
    ['read', 'never'],
    ['write', 'by_policy'],
    ['execute', 'by_policy'],
    ['financial', { roles: [], quorum: 1 }],
    ['send', { roles: [], quorum: 1 }],
    ['delete', { roles: [], quorum: 1 }],
    ['permission', { roles: [], quorum: 1 }],
    ['commit', { roles: [], quorum: 1 }],
    ['unknown', { roles: [], quorum: 1 }],
  ] as const)('effect %s has the approval %j by default', (effect, approval) => {
    expect(defineTool({ ...base, effect }).record.approval).toEqual(approval);
  });

  test('what it returns is checked, and the hash of that is part of its record', () => {
    const { record, outputDefect } = defineTool({
      ...base,
      output: z.object({ n: z.number() }),
      run: () => ({ n: 1 }),
    });
    expect(record.outputSchemaHash).toMatch(/^[0-9a-f]{64}$/);
    expect(outputDefect?.({ n: 1, more: 2 })).toBeUndefined();
    expect(outputDefect?.({ n: 'one' })).toMatch(/expected number/);
    expect(defineTool(base).record).not.toHaveProperty('outputSchemaHash');
  });

  test('an output schema that would change a result is refused', () => {
    const output = z.object({ n: z.string().transform(Number) });
    expect(errorOf(define({ output })).message).toMatch(
      /The output schema of tool orders\.read cannot check a result as it is: field "n"/,
    );
  });

  test('a tool that changes something has unknown idempotency until it says otherwise', () => {
    expect(defineTool({ ...base, effect: 'write' }).record.idempotency).toBe('unknown');
  });

  test('an approval object means that somebody must always agree', () => {
    const tool = defineTool({
      ...base,
      effect: 'write',
      approval: { roles: ['clerk'], expiresInMs: 1_000 },
    });
    expect(tool.record.approval).toEqual({ roles: ['clerk'], quorum: 1, expiresInMs: 1_000 });
  });

  test('an approval may go to others after a while', () => {
    const escalate = { afterMs: 1_000, roles: ['boss'] };
    const approval = { roles: ['clerk'], escalate };
    const tool = defineTool({ ...base, effect: 'write', approval });
    expect(tool.record.approval).toEqual({ ...approval, quorum: 1 });
  });

  test('a question says whose answers count, or anybody may answer', () => {
    const question = { ...base, effect: 'none', kind: 'human_input' } as const;
    expect(defineTool(question).record).not.toHaveProperty('answeredBy');
    expect(defineTool({ ...question, answeredBy: 'staff' }).record.answeredBy).toBe('staff');
    const answeredBy = { roles: ['lawyer'] };
    expect(defineTool({ ...question, answeredBy }).record).toMatchObject({ answeredBy });
  });

  test('what happens after a loss is in its record only when it says so', () => {
    const pay = { ...base, effect: 'financial', idempotency: 'keyed' } as const;
    expect(defineTool(pay).record).not.toHaveProperty('onLost');
    expect(defineTool({ ...pay, probe: () => null }).record).not.toHaveProperty('onLost');
    expect(defineTool({ ...pay, onLost: 'repeat_with_key' }).record.onLost).toBe('repeat_with_key');
    expect(defineTool({ ...pay, onLost: 'ask' }).record.onLost).toBe('ask');
    expect(defineTool({ ...pay, onLost: 'probe', probe: () => null }).record.onLost).toBe('probe');
  });

  test('its queue is frozen with it; one that cannot be meant is refused', () => {
    const sandboxRun = () => 'inside';
    expect(defineTool({ ...base, queue: 'heavy' }).record).toMatchObject({ queue: 'heavy' });
    const { record } = defineTool({ ...base, sandboxRun, sandboxQueue: 'jail' });
    expect(record).toMatchObject({ sandboxQueue: 'jail' });
    expect(defineTool(base).record).not.toHaveProperty('queue');
    for (const queue of ['', 'a b', '/_sys/mine', 'x'.repeat(201), 7 as unknown as string]) {
      expect(() => defineTool({ ...base, queue })).toThrow(/its queue is/);
    }
    expect(() => defineTool({ ...base, sandboxQueue: 'jail' })).toThrow(/no sandboxRun/);
  });

  test('a sandbox is used when policy says so, unless the tool must run in it', () => {
    const sandboxRun = () => 'inside';
    expect(defineTool({ ...base, sandboxRun }).record.sandbox).toBe('optional');
    expect(defineTool({ ...base, sandbox: 'required', sandboxRun }).record.sandbox).toBe(
      'required',
    );
    expect(defineTool(base).record).not.toHaveProperty('sandbox');
  });

  test('equal schemas have equal hashes whatever the order of their fields', () => {
    const one = defineTool({ ...base, input: z.object({ a: z.string(), b: z.number() }) });
    const two = defineTool({ ...base, input: z.object({ b: z.number(), a: z.string() }) });
    const three = defineTool({ ...base, input: z.object({ a: z.string() }) });
    expect(two.record.schemaHash).not.toBe(three.record.schemaHash);
    expect(one.inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] });
  });
});

test.each([
  ['an effect', { effect: 'finacial' }, /^Did you mean financial\? Use one of/],
  ['a field', { aproval: 'always' }, /^Did you mean approval\? The fields are/],
])('%s that is misspelt is named as it is written', (_, mistake, hint) => {
  expect(() => defineTool({ ...base, ...mistake } as never)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(hint) as string }) as Error,
  );
});

describe('defineTool refuses a declaration that would fail later', () => {
  test.each([
    ['a missing effect', { effect: undefined }, /declares no effect/],
    ['an unknown effect', { effect: 'refund' }, /effect is "refund"/],
    ['a misspelt approval', { aproval: 'always' }, /no field "aproval"/],
    ['an unknown idempotency', { idempotency: 'maybe' }, /idempotency is "maybe"/],
    ['a blank name', { name: '' }, /name is not allowed/],
    ['a name with a space', { name: 'read order' }, /name is not allowed/],
    ['a name that ends in a dot', { name: 'orders.' }, /name is not allowed/],
    ['a name with two dots in a row', { name: 'orders..read' }, /name is not allowed/],
    ['a name of a prototype', { name: '__proto__' }, /name is not allowed/],
    ['a name too long for providers', { name: 'a'.repeat(65) }, /too long/],
    ['a missing version', { version: undefined }, /version is undefined/],
    ['no run function', { run: undefined }, /no run function/],
    ['a tool that starts a sub-agent', { kind: 'subagent' }, /"subagent", which agents have/],
    [
      'a tool of a server, which a connector makes',
      { kind: 'mcp' },
      /"mcp": connectors make tools of this kind/,
    ],
    ['a tool of the vendor', { kind: 'hosted' }, /nobody here runs it/],
    ['an unknown kind', { kind: 'memory_write' }, /kind is "memory_write"/],
    ['a sandbox that is not there', { sandbox: 'required' }, /but it has none/],
    ['a sandbox that is never used', { sandbox: 'none', sandboxRun: () => 1 }, /never used/],
    [
      'a question that changes something',
      { kind: 'human_input', effect: 'write' },
      /asks a person/,
    ],
    ['a probe of a read', { probe: () => null }, /has a probe/],
    ['a quick effect', { effect: 'send', quick: true }, /is quick, but no read/],
    ['a quick read that is not repeated', { idempotency: 'none', quick: true }, /but no read/],
    ['a quick read with a queue', { quick: true, queue: 'heavy' }, /has a queue of its own/],
    ['a quick read with a price', { quick: true, maxCostMicroUsd: 5 }, /but costs money/],
    ['a quick that is no answer', { quick: 'yes' }, /quick is "yes"/],
    ['an unknown onLost', { effect: 'send', onLost: 'retry' }, /onLost is "retry"/],
    ['onLost of a read', { onLost: 'ask' }, /has an onLost/],
    [
      'a repetition without a key',
      { effect: 'send', idempotency: 'none', onLost: 'repeat_with_key' },
      /is not keyed/,
    ],
    [
      'a repetition with a key that nobody promised to recognise',
      { effect: 'send', onLost: 'repeat_with_key' },
      /is not keyed/,
    ],
    [
      'a probe after a loss that is not there',
      { effect: 'financial', idempotency: 'keyed', onLost: 'probe' },
      /it has none/,
    ],
    ['approval of a read', { approval: 'always' }, /asks for approval/],
    ['an approval rule on a read', { approval: { roles: ['x'] } }, /asks for approval/],
    ['an unknown approval word', { effect: 'write', approval: 'ask' }, /approval is "ask"/],
    ['quorum 0', { effect: 'send', approval: { quorum: 0 } }, /quorum is 0/],
    ['half a person', { effect: 'send', approval: { quorum: 1.5 } }, /quorum is 1.5/],
    ['an empty list of roles', { effect: 'send', approval: { roles: [] } }, /names no role/],
    [
      'an escalation to nobody',
      { effect: 'send', approval: { roles: ['a'], escalate: { afterMs: 1, roles: [] } } },
      /escalation names no role/,
    ],
    [
      'an escalation after the end',
      {
        effect: 'send',
        approval: { roles: ['a'], expiresInMs: 5, escalate: { afterMs: 5, roles: ['b'] } },
      },
      /escalates after 5 ms/,
    ],
    [
      'an escalation where anyone may approve',
      { effect: 'send', approval: { escalate: { afterMs: 1, roles: ['b'] } } },
      /anyone may approve it already/,
    ],
    ['answers to no question', { answeredBy: 'staff' }, /asks nobody/],
    [
      'answers of nobody known',
      { kind: 'human_input', effect: 'none', answeredBy: 'boss' },
      /answeredBy is "boss"/,
    ],
    ['a blank role', { effect: 'send', approval: { roles: [' '] } }, /is not a role/],
    ['an expiry of 0', { effect: 'send', approval: { expiresInMs: 0 } }, /expires in 0 ms/],
    ['a wrong onExpiry', { effect: 'send', approval: { onExpiry: 'wait' } }, /onExpiry is "wait"/],
    ['a cost of half a micro-dollar', { maxCostMicroUsd: 0.5 }, /maxCostMicroUsd is 0.5/],
    [
      'a cost of a person’s answer',
      { kind: 'human_input', effect: 'none', maxCostMicroUsd: 5 },
      /has a cost, but its kind is "human_input"/,
    ],
    ['a timeout of 0', { timeoutMs: 0 }, /timeoutMs is 0/],
    ['a negative timeout', { timeoutMs: -1 }, /timeoutMs is -1/],
    ['an endless timeout', { timeoutMs: Infinity }, /timeoutMs is Infinity/],
    ['a result limit of 0', { maxResultBytes: 0 }, /maxResultBytes is 0/],
  ])('%s', (_what, changes, message) => {
    const error = errorOf(define(changes));
    expect(error.code).toBe('InvalidTool');
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
  });
});

describe('defineTool refuses schemas that cannot travel', () => {
  test.each([
    ['a transform', z.object({ a: z.string().transform((text) => text.length) }), '"a"'],
    [
      'a nested transform',
      z.object({ a: z.array(z.object({ b: z.string().transform(Number) })) }),
      '"a.[].b"',
    ],
    ['a preprocess step', z.object({ a: z.preprocess(String, z.string()) }), '"a"'],
    ['a coercion', z.object({ a: z.coerce.number() }), '"a"'],
    ['a Date', z.object({ when: z.date() }), '"when"'],
    ['a bigint', z.object({ n: z.bigint() }), '"n"'],
    ['a Map', z.object({ m: z.map(z.string(), z.string()) }), '"m"'],
    ['a Set', z.object({ s: z.set(z.string()) }), '"s"'],
    ['a catch value', z.object({ a: z.string().catch('x') }), '"a"'],
    ['a codec', z.object({ a: z.stringbool() }), '"a"'],
    ['a custom type', z.object({ a: z.instanceof(URL) }), '"a"'],
    [
      'an optional Date behind a lazy schema',
      z.object({ a: z.lazy(() => z.date().optional()) }),
      '"a"',
    ],
    ['a default that changes', z.object({ a: z.number().default(() => Math.random()) }), '"a"'],
    [
      'an overwrite step that is no rewrite of text',
      z.object({ a: z.number().overwrite((n) => n + 1) }),
      '"a"',
    ],
  ])('%s', (_what, input, path) => {
    const error = errorOf(define({ input }));
    expect(error.code).toBe('InvalidTool');
    expect(error.message).toContain('cannot travel');
    expect(error.message).toContain(path);
  });

  test('an input that is no object', () => {
    expect(errorOf(define({ input: z.string() })).message).toContain('is not an object');
    expect(errorOf(define({ input: undefined as never })).message).toContain('is not an object');
  });

  test('an asynchronous check', () => {
    const input = z.object({}).refine(async () => true);
    expect(errorOf(define({ input })).message).toContain('asynchronous');
  });

  test('an asynchronous check of a field, which an empty object does not reach', () => {
    const input = z.object({ orders: z.array(z.string().refine(async () => true)) });
    expect(errorOf(define({ input })).message).toContain('"orders.[]" uses an asynchronous check');
  });

  test('a schema too large to send with every request', () => {
    const input = z.object({ a: z.string().describe('x'.repeat(40_000)) });
    expect(errorOf(define({ input })).message).toContain('bytes');
  });
});

describe('defineTool accepts schemas whose second parse changes nothing', () => {
  test.each([
    ['any object', z.looseObject({}), { a: [1, { b: null }] }],
    ['any JSON by name', z.record(z.string(), z.json()), { a: { b: [true] } }],
    ['a fixed default', z.object({ a: z.string().default('x') }), {}],
    ['trimmed text', z.object({ a: z.string().trim().toLowerCase() }), { a: ' X ' }],
    ['an extra field', z.object({ a: z.string() }), { a: 'x', b: 1 }],
    ['a refinement', z.object({ a: z.int().refine((n) => n % 2 === 0) }), { a: 2 }],
  ])('%s', (_what, input, value) => {
    const { parse } = defineTool({ ...base, input } as ToolDefinition<z.ZodType>);
    const once = parse(value);
    if (!once.ok) throw new Error(once.message);
    expect(parse(once.value)).toEqual(once);
  });

  test('a check that turns out to be asynchronous refuses the call with what to do', () => {
    const input = z.object({ a: z.string().refine(() => Promise.resolve(true)) });
    const { parse } = defineTool({ ...base, input } as ToolDefinition<z.ZodType>);
    expect(parse({ a: 'x' })).toEqual({
      ok: false,
      message: "The tool's input check failed: an asynchronous check belongs into `run`",
    });
  });

  test('a recursive schema', () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const { parse } = defineTool({ ...base, input: tree });
    expect(parse({ name: 'a', children: [{ name: 'b', children: [] }] }).ok).toBe(true);
    expect(parse({ name: 'a', children: [{ name: 1, children: [] }] }).ok).toBe(false);
  });

  test('invalid input is reported by field, in bounded text', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`field${index}`, z.string()]),
    );
    const parsed = defineTool({ ...base, input: z.object(fields) }).parse({});
    if (parsed.ok) throw new Error('should not parse');
    expect(parsed.message).toContain('field0');
    expect(parsed.message.length).toBeLessThanOrEqual(2_000);
  });

  test('a check that throws makes the input invalid, not the worker fail', () => {
    const input = z.object({ a: z.string() }).refine(({ a }) => {
      throw new Error(`boom ${a}`);
    });
    expect(defineTool({ ...base, input }).parse({ a: 'x' })).toEqual({
      ok: false,
      message: "The tool's input check failed: boom x",
    });
  });
});

describe('a tool with a JSON Schema', () => {
  const ITEM = { type: 'object', properties: { sku: { type: 'string' } } };
  const INPUT = {
    type: 'object',
    properties: { orderId: { type: 'string' }, items: { type: 'array', items: ITEM } },
    required: ['orderId'],
  } as const;

  const parsed = (input: JsonSchema, value: unknown) => defineTool({ ...base, input }).parse(value);

  test('tells the model its own words', () => {
    const { inputSchema } = defineTool({ ...base, input: INPUT });
    expect(inputSchema).toEqual(INPUT);
    const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...INPUT };
    expect(defineTool({ ...base, input: dialect }).inputSchema).toEqual(INPUT);
  });

  test('gets the declared fields alone, at every depth', () => {
    const given = { orderId: 'O', debug: true, items: [{ sku: 's', price: 1 }], toString: 1 };
    const value = { orderId: 'O', items: [{ sku: 's' }] };
    expect(parsed(INPUT, given)).toEqual({ ok: true, value });
    expect(parsed(INPUT, value)).toEqual({ ok: true, value });
  });

  test.each<[string, object]>([
    ['allows them', { additionalProperties: true }],
    ['says what they are', { additionalProperties: { type: 'number' } }],
    ['names their patterns', { patternProperties: { '^b': {} } }],
  ])('gets further fields where its schema %s', (_, word) => {
    const input = { ...INPUT, ...word } as JsonSchema;
    expect(parsed(input, { orderId: 'O', b: 1 })).toMatchObject({ value: { b: 1 } });
  });

  test('gets all fields where its schema declares none', () => {
    expect(parsed({ type: 'object' }, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  });

  test('refuses what does not fit, and further fields where its schema forbids them', () => {
    expect(parsed(INPUT, { orderId: 7 }).ok).toBe(false);
    const closed = { ...INPUT, additionalProperties: false };
    expect(parsed(closed, { orderId: 'O', b: 1 }).ok).toBe(false);
  });

  test.each<[string, object, RegExp]>([
    ['no object', { type: 'string' }, /is not an object/],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/x' } } }, /cannot/],
    ['too many bytes', { ...INPUT, description: 'x'.repeat(40_000) }, /bytes/],
  ])('refuses %s', (_, input, message) => {
    expect(errorOf(() => defineTool({ ...base, input: input as JsonSchema })).message).toMatch(
      message,
    );
  });
});
