/** What the workers of these tests serve, in this process or in one of their own. */
import { z } from 'zod';
import {
  askPerson,
  defineAgent,
  defineConfig,
  defineTool,
  messageAgent,
  ToolError,
  type Config,
  type ToolContext,
} from '../../../authoring/index.js';
import type { Phase, Visit } from './service.js';

const optionsSchema = z.object({ serviceUrl: z.string() });

export const AGENT = 'desk';
export const APPROVER = { by: 'maria', roles: ['manager'] } as const;

const itemInput = z.object({ item: z.string() });
const paymentInput = z.object({ order: z.string(), amountCents: z.number().int().positive() });
const ODDITIES = [
  'throws',
  'throws_text',
  'throws_nothing',
  'ten_megabytes',
  'eleven_megabytes',
  'cyclic',
  'bigint',
  'undefined',
  'nan',
  'function',
  'deep',
  'surrogates',
  'proto',
  'infinity',
  'huge_integer',
  'controls',
] as const;
export type Oddity = (typeof ODDITIES)[number];

/** A question that only a manager may answer. */
const askManager = defineTool({
  name: 'ask_manager',
  version: '1',
  kind: 'human_input',
  effect: 'none',
  answeredBy: { roles: [...APPROVER.roles] },
  input: z.object({ question: z.string() }),
  run: () => undefined,
});

/** Read by the worker process too, which hands its options over as JSON. */
export function config(options: unknown): Config {
  return configWith(options, { quickReads: false });
}

/** With reads that are tried within the tasks that decide, or without. */
export function configWith(
  options: unknown,
  { quickReads }: { readonly quickReads: boolean },
): Config {
  const { serviceUrl } = optionsSchema.parse(options);
  const visit = visitor(serviceUrl);
  const tools = [
    ...orderlyTools(visit, quickReads),
    ...oddTools(),
    ...anyTools(visit),
    askPerson,
    askManager,
  ];
  const agent = {
    model: 'scripted/model',
    instructions: 'Serve the customer.',
    tools,
  };
  return defineConfig({
    agents: [
      defineAgent({ name: AGENT, ...agent }),
      defineAgent({ name: 'talker', ...agent, settings: { afterAnswer: 'await_user' } }),
      defineAgent({ name: 'writer', ...agent, tools: [...tools, messageAgent] }),
    ],
    checkTools: [countNotes(visit)],
  });
}

type VisitService = (
  phase: Phase,
  tool: string,
  ctx: ToolContext,
) => Promise<{ readonly done?: number }>;

export function visitor(url: string): VisitService {
  return async (phase, tool, ctx) => {
    const { runId, idempotencyKey: key, signal } = ctx;
    const body: Visit = { runId, phase, tool, key };
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal });
    return (await response.json()) as { done?: number };
  };
}

function orderlyTools(visit: VisitService, quick: boolean) {
  const act = async (tool: string, ctx: ToolContext): Promise<string> => {
    await visit('before', tool, ctx);
    await visit('effect', tool, ctx);
    await visit('after', tool, ctx);
    return `done under ${ctx.idempotencyKey}`;
  };
  const probe = async (tool: string, ctx: ToolContext): Promise<string | null> => {
    const { done = 0 } = await visit('probe', tool, ctx);
    return done > 0 ? `seen under ${ctx.idempotencyKey}` : null;
  };
  const paying = { version: '1', effect: 'financial', idempotency: 'keyed' } as const;
  return [
    defineTool({
      name: 'facts.read',
      version: '1',
      effect: 'read',
      quick,
      concurrencySafe: true,
      input: itemInput,
      run: async ({ item }, ctx) => {
        await visit('read', 'facts.read', ctx);
        return { item, fact: 'it is blue' };
      },
    }),
    defineTool({
      name: 'notes.write',
      version: '1',
      effect: 'write',
      idempotency: 'keyed',
      approval: 'never',
      input: itemInput,
      run: (_input, ctx) => act('notes.write', ctx),
    }),
    defineTool({
      name: 'pay.probed',
      ...paying,
      approval: 'never',
      input: paymentInput,
      timeoutMs: 5_000,
      run: (_input, ctx) => act('pay.probed', ctx),
      probe: (_input, ctx) => probe('pay.probed', ctx),
    }),
    defineTool({
      name: 'pay.blind',
      ...paying,
      approval: 'never',
      input: paymentInput,
      timeoutMs: 5_000,
      run: (_input, ctx) => act('pay.blind', ctx),
    }),
    defineTool({
      name: 'pay.keyed',
      ...paying,
      approval: 'never',
      onLost: 'repeat_with_key',
      input: paymentInput,
      timeoutMs: 5_000,
      run: (_input, ctx) => act('pay.keyed', ctx),
    }),
    defineTool({
      name: 'pay.deaf',
      ...paying,
      approval: 'never',
      input: paymentInput,
      timeoutMs: 5_000,
      // Goes on whatever it is told, as code does that passes no signal on.
      run: (_input, ctx) => act('pay.deaf', { ...ctx, signal: new AbortController().signal }),
      probe: (_input, ctx) => probe('pay.deaf', ctx),
    }),
    defineTool({
      name: 'pay.asked',
      ...paying,
      approval: { roles: [...APPROVER.roles] },
      input: paymentInput,
      run: (_input, ctx) => act('pay.asked', ctx),
      probe: (_input, ctx) => probe('pay.asked', ctx),
    }),
    defineTool({
      name: 'pay.carded',
      card: { amount: { path: 'amountCents', unit: 'minor', currency: 'EUR' } },
      ...paying,
      approval: { roles: [...APPROVER.roles] },
      input: paymentInput,
      run: (_input, ctx) => act('pay.carded', ctx),
      probe: (_input, ctx) => probe('pay.carded', ctx),
    }),
  ];
}

/** How much a goal has written: what happens under one key happens once. */
function countNotes(visit: VisitService) {
  return defineTool({
    name: 'notes.count',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: async (_input, ctx) => {
      const { done = 0 } = await visit('count', 'notes.count', ctx);
      return { written: done };
    },
  });
}

function oddTools() {
  return [
    defineTool({
      name: 'odd.read',
      version: '1',
      effect: 'read',
      timeoutMs: 5_000,
      input: z.object({ how: z.enum(ODDITIES) }),
      run: ({ how }) => oddValue(how),
    }),
    defineTool({
      name: 'odd.pay',
      version: '1',
      effect: 'financial',
      idempotency: 'keyed',
      approval: 'never',
      // What became of a call that threw is asked only when this time is over.
      timeoutMs: 1_000,
      input: z.object({ how: z.enum([...ODDITIES, 'tool_error']) }),
      run: ({ how }) => {
        if (how === 'tool_error') throw new ToolError('no_funds', 'there is no money');
        return oddValue(how);
      },
    }),
  ];
}

/** Tools that take whatever they are given, and tell what that was. */
function anyTools(visit: VisitService) {
  const any = { version: '1', input: z.looseObject({}) } as const;
  return [
    defineTool({ ...any, name: 'any.read', effect: 'read', run: describeValue }),
    defineTool({
      ...any,
      name: 'any.pay',
      effect: 'financial',
      idempotency: 'keyed',
      approval: { roles: [...APPROVER.roles] },
      run: async (input, ctx) => {
        await visit('effect', 'any.pay', ctx);
        return describeValue(input);
      },
    }),
  ];
}

function describeValue(input: Record<string, unknown>): unknown {
  const text = JSON.stringify(input);
  return { names: Object.keys(input), chars: text.length, inherited: 'polluted' in {} };
}

const MEGABYTE = 1024 * 1024;

function oddValue(how: Oddity): unknown {
  switch (how) {
    case 'throws':
      throw new Error('the shop is on fire');
    case 'throws_text':
      throw 'a text, not an error';
    case 'throws_nothing':
      throw undefined;
    case 'ten_megabytes':
      return 'x'.repeat(10 * MEGABYTE);
    case 'eleven_megabytes':
      return 'x'.repeat(11 * MEGABYTE);
    case 'cyclic': {
      const ring: { self?: unknown } = {};
      ring.self = ring;
      return ring;
    }
    case 'bigint':
      return { amount: 10n };
    case 'undefined':
      return undefined;
    case 'nan':
      return { ratio: Number.NaN };
    case 'function':
      return () => 'never called';
    case 'deep': {
      let value: unknown = 'core';
      for (let depth = 0; depth < 10_000; depth += 1) value = [value];
      return value;
    }
    case 'surrogates':
      return 'one \ud800 and \udfff';
    case 'proto':
      return JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}');
    case 'infinity':
      return { up: Number.POSITIVE_INFINITY, down: Number.NEGATIVE_INFINITY };
    case 'huge_integer':
      return { amount: 2 ** 60 + 2 ** 10, text: '1'.repeat(400) };
    case 'controls':
      return '\u0000'.repeat(4_000);
  }
}
