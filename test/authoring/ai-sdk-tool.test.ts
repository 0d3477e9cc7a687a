/** Tools of the AI SDK, as both of its majors make them, are tools of Holdfast. */
import * as v6 from 'ai-v6';
import * as v7 from 'ai-v7';
import { z } from 'zod';
import { isToolError, isToolFailure } from '../../authoring/tool-error.js';
import { HoldfastError, fromAiSdkTool, type AiSdkTool, type Tool } from '../../index.js';
import type { ToolContext } from '../../authoring/tool.js';

const ctx = (signal = new AbortController().signal) =>
  ({ callId: 'c1', idempotencyKey: 'k1', attempt: 1, signal }) as ToolContext;
const inputSchema = z.object({ city: z.string() });
const asked = { roles: [], quorum: 1 };

async function call(tool: Tool, input: unknown, context = ctx()): Promise<unknown> {
  const parsed = tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return tool.run(parsed.value, context);
}

const errorOf = (attempt: () => unknown): HoldfastError => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
  }
  throw new Error('no typed error was thrown');
};

test('tools of both majors fit by their types', () => {
  fromAiSdkTool('t', v6.tool({ inputSchema, execute: ({ city }) => city }));
  fromAiSdkTool('t', v7.tool({ inputSchema, execute: ({ city }) => city }));
  const { t } = { t: v7.tool({ inputSchema, execute: ({ city }) => city }) } satisfies v7.ToolSet;
  fromAiSdkTool('t', t, { effect: 'read' });
});

describe.each([
  ['v6', v6],
  ['v7', v7 as unknown as typeof v6],
] as const)('a tool of %s', (_, { tool, jsonSchema, dynamicTool, zodSchema }) => {
  test('is called with what its schema lets pass, its call and its signal', async () => {
    const heard: object[] = [];
    const weather = tool({
      description: 'Weather of a city.',
      inputSchema,
      execute: async ({ city }, options) => {
        heard.push(options);
        return { city, degrees: 20 };
      },
    });
    const made = fromAiSdkTool('weather.read', weather, { effect: 'read' });
    const context = ctx();
    expect(await call(made, { city: 'Rome', more: 1 }, context)).toEqual({
      city: 'Rome',
      degrees: 20,
    });
    expect(heard[0]).toMatchObject({
      toolCallId: 'c1',
      messages: [],
      abortSignal: context.signal,
    });
    expect(made.description).toBe('Weather of a city.');
    expect(made.parse({})).toMatchObject({ ok: false });
    expect(made.record).toMatchObject({ name: 'weather.read', version: '1', approval: 'never' });
  });

  test('whose effect nobody said may have any, and asks', () => {
    const made = fromAiSdkTool('t', tool({ inputSchema, execute: () => 1 }));
    expect(made.record).toMatchObject({ effect: 'unknown', approval: asked });
  });

  test('that needs approval asks, whatever its effect asks by itself', () => {
    const needs = tool({ inputSchema, needsApproval: true, execute: () => 1 });
    const made = (settings: object) => fromAiSdkTool('t', needs, { effect: 'write', ...settings });
    expect(made({}).record.approval).toEqual(asked);
    expect(made({ approval: undefined }).record.approval).toEqual(asked);
    expect(made({ approval: 'by_policy' }).record.approval).toBe('by_policy');
    const bySome = tool({ inputSchema, needsApproval: () => false, execute: () => 1 });
    expect(fromAiSdkTool('t', bySome, { effect: 'write' }).record.approval).toEqual(asked);
  });

  test('with several results has the last one', async () => {
    const counts = tool({
      inputSchema,
      async *execute() {
        yield 'working';
        yield 'done';
      },
    });
    expect(await call(fromAiSdkTool('t', counts, { effect: 'read' }), { city: 'x' })).toBe('done');
  });

  test('is told the model by its toModelOutput', async () => {
    const described = tool({
      inputSchema,
      execute: ({ city }: { city: string }) => ({ city, secret: 's' }),
      toModelOutput: ({ output }: { output: { city: string } }) => ({
        type: 'text' as const,
        value: `It is ${output.city}.`,
      }),
    } as never) as AiSdkTool;
    const made = fromAiSdkTool('t', described, { effect: 'read' });
    expect(await call(made, { city: 'Rome' })).toBe('It is Rome.');
  });

  test('takes the schemas that the SDK makes, and converts just before execute', async () => {
    const told = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const plain = dynamicTool({ inputSchema: jsonSchema(told as never), execute: async (x) => x });
    const made = fromAiSdkTool('t', plain, { effect: 'read' });
    expect(made.inputSchema).toEqual(told);
    expect(made.parse({ n: 'x' })).toMatchObject({ ok: false });
    expect(await call(made, { n: 1 })).toEqual({ n: 1 });
    const halves = zodSchema(z.object({ n: z.number().transform((n) => n / 2) }) as never);
    const half = tool({ inputSchema: halves, execute: async (x: unknown) => x } as never);
    const converts = fromAiSdkTool('t', half as AiSdkTool, { effect: 'read' });
    expect(converts.parse({ n: 4 })).toEqual({ ok: true, value: { n: 4 } });
    expect(await call(converts, { n: 4 })).toEqual({ n: 2 });
  });
});

test('a schema of zod that converts is told as JSON Schema, and what it refuses has had no effect', async () => {
  const calls: unknown[] = [];
  const at = z.object({ at: z.string().transform((text) => new Date(text).getTime()) });
  const strict = at.refine(({ at: ms }) => !Number.isNaN(ms), 'must be a date');
  const execute = (input: unknown) => calls.push(input);
  const made = fromAiSdkTool('t', { inputSchema: strict, execute }, { effect: 'send' });
  await call(made, { at: '1970-01-01T00:00:01Z' });
  expect(calls).toEqual([{ at: 1000 }]);
  const refused = await call(made, { at: 'never' }).catch((error: unknown) => error);
  expect(isToolError(refused) && refused.message).toBe('The input does not fit: must be a date');
  expect(calls).toHaveLength(1);
});

test('context of the settings reaches execute, and what it throws has had no effect', async () => {
  const execute = (_: unknown, { context, experimental_context }: Record<string, unknown>) => ({
    context,
    experimental_context,
  });
  const made = (context: (ctx: ToolContext) => unknown) =>
    fromAiSdkTool('t', { execute }, { effect: 'write', context });
  const key = { key: 'k1' };
  expect(
    await call(
      made(({ idempotencyKey }) => ({ key: idempotencyKey })),
      {},
    ),
  ).toEqual({
    context: key,
    experimental_context: key,
  });
  const throws = made(() => {
    throw new Error('no settings');
  });
  expect(isToolError(await call(throws, {}).catch((error: unknown) => error))).toBe(true);
});

test('a tool of v5 has its toModelOutput called with the result itself', async () => {
  const old = { execute: () => 3, toModelOutput: (n: number) => ({ type: 'json', value: n + 1 }) };
  expect(await call(fromAiSdkTool('t', old, { effect: 'read', sdk: 5 }), {})).toBe(4);
});

test.each<[string, unknown, string]>([
  ['an error in words', { type: 'error-text', value: 'No such city.' }, 'No such city.'],
  ['an error as JSON', { type: 'error-json', value: { code: 7 } }, '{"code":7}'],
  ['a refusal', { type: 'execution-denied' }, 'The tool was not allowed to run.'],
  ['no output of the SDK', { text: 'x' }, 'must not be called again'],
  ['nothing', undefined, 'must not be called again'],
])('%s is the failure of a call that is over', async (_, output, words) => {
  const tool = { execute: () => 1, toModelOutput: () => output };
  const result = await call(fromAiSdkTool('t', tool), {});
  expect(isToolFailure(result) && result.message).toContain(words);
});

test('a toModelOutput that throws leaves no doubt about the call', async () => {
  const toModelOutput = () => {
    throw new Error('boom');
  };
  const result = await call(fromAiSdkTool('t', { execute: () => 1, toModelOutput }), {});
  expect(isToolFailure(result) && result.message).toContain('boom');
});

test('contents are told as texts, pictures by their kind and size', async () => {
  const value = [
    { type: 'text', text: 'A cat.' },
    { type: 'image-data', mediaType: 'image/png', data: 'AAAA' },
  ];
  const made = (parts: unknown[]) =>
    fromAiSdkTool('t', {
      execute: () => 1,
      toModelOutput: () => ({ type: 'content', value: parts }),
    });
  expect(await call(made(value.slice(0, 1)), {})).toBe('A cat.');
  expect(await call(made(value), {})).toEqual({
    content: ['A cat.', { type: 'image-data', mediaType: 'image/png', bytes: 3 }],
  });
});

test('an endless tool ends when its call is given up', async () => {
  const stop = new AbortController();
  const execute = async function* () {
    for (;;) {
      yield 1;
      await new Promise(setImmediate);
    }
  };
  const running = call(fromAiSdkTool('t', { execute }), {}, ctx(stop.signal));
  stop.abort(new Error('given up'));
  await expect(running).rejects.toThrow('given up');
});

test('the last result of a call that is given up counts when it comes by itself', async () => {
  const stop = new AbortController();
  const execute = async function* () {
    yield 'sending';
    stop.abort(new Error('given up'));
    yield 'sent';
    yield { id: 7 };
  };
  const running = call(fromAiSdkTool('t', { execute }), {}, ctx(stop.signal));
  await expect(running).resolves.toEqual({ id: 7 });
});

test('files of v7 are told as text, or by their size', async () => {
  const file = (data: unknown) => ({ type: 'file', mediaType: 'text/plain', data });
  const value = [
    file({ type: 'text', text: 'A note.' }),
    file({ type: 'data', data: 'AAAA' }),
    file({ type: 'data', data: new Uint8Array(5) }),
    file({ type: 'url', url: 'https://a.example' }),
  ];
  const toModelOutput = () => ({ type: 'content', value });
  const told = (more: object) => ({ type: 'file', mediaType: 'text/plain', ...more });
  expect(await call(fromAiSdkTool('t', { execute, toModelOutput }), {})).toEqual({
    content: ['A note.', told({ bytes: 3 }), told({ bytes: 5 }), told({})],
  });
});

test('a tool that never waits between its results is stopped', async () => {
  const execute = async function* () {
    for (;;) yield 1;
  };
  await expect(call(fromAiSdkTool('t', { execute }), {})).rejects.toThrow('more than 100000');
});

test.each<[string, unknown, object, RegExp]>([
  ['without execute', { inputSchema }, {}, /no execute function/],
  ['of a vendor', { type: 'provider', id: 'a.b' }, {}, /vendor of models runs it/],
  ['that is nothing', undefined, {}, /no tool of the AI SDK/],
  ['with a description made by a function', { description: () => 'x', execute }, {}, /no text/],
  ['with a schema that is a promise', schema({ then: () => 1 }), {}, /is a promise/],
  ['with a schema that is no object', schema({ type: 'string' }), {}, /not an object/],
  ['with a schema of a library without JSON Schema', standard(), {}, /no JSON Schema/],
  ['with a field that there is not', { execute }, { efect: 'read' }, /no field "efect"/],
  ['of another major', { execute }, { sdk: 4 }, /its sdk is 4/],
])('a tool %s is refused with what to do', (_, tool, settings, message) => {
  const error = errorOf(() => fromAiSdkTool('t', tool as AiSdkTool, settings));
  expect(error).toMatchObject({ code: 'InvalidTool', message: expect.stringMatching(message) });
  expect(error.hint).toBeTruthy();
});

function execute(): number {
  return 1;
}

function schema(jsonSchema: object): AiSdkTool {
  return { inputSchema: { jsonSchema }, execute };
}

function standard(): AiSdkTool {
  const validate = (value: unknown) => ({ value });
  return { inputSchema: { '~standard': { version: 1, vendor: 'old', validate } }, execute };
}

test.each<[string, object, object, RegExp]>([
  ['of v4', { parameters: inputSchema, execute }, {}, /of v4/],
  ['that needs a context', { contextSchema: inputSchema, execute }, {}, /needs a context/],
  ['that needs approval to read', { needsApproval: true, execute }, { effect: 'read' }, /approval/],
])('a tool %s is refused', (_, tool, settings, message) => {
  expect(errorOf(() => fromAiSdkTool('t', tool, settings)).message).toMatch(message);
});
