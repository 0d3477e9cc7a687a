/** A shop in which everything goes wrong that goes wrong in production, by what its tools are asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  askPerson,
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  ToolError,
  type ToolContext,
} from '../../../authoring/index.js';
import { AGENT } from './agents.js';

const TIMEOUT_MS = 600;
const EXPIRES_MS = 1_500;
const DEAF_MS = 1_000;

const input = z.object({ how: z.string(), order: z.string().optional() });
const result = z.object({ ok: z.boolean() });
const paying = { version: '1', effect: 'financial', idempotency: 'keyed', input } as const;

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('stopped'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** Calls whose first attempt has gone wrong. */
const begun = new Set<string>();

/** Runs whose tools are at work. */
export const atWork = new Set<string>();

async function behave(how: string, { signal, runId, callId }: ToolContext): Promise<unknown> {
  atWork.add(runId);
  switch (how) {
    case 'throws':
      throw new Error('the shop is on fire');
    case 'tool_error':
      throw new ToolError('no_funds', 'there is no money');
    case 'busy':
      throw new ToolError('retryable_error', 'the bank is busy');
    case 'busy_once': {
      const name = `${runId} ${callId}`;
      if (begun.has(name)) return { ok: true };
      begun.add(name);
      throw new ToolError('retryable_error', 'the bank is busy');
    }
    case 'away':
      throw new ToolError('tool_unavailable', 'the bank is closed');
    case 'hangs':
      return never(signal);
    case 'deaf':
      await sleep(DEAF_MS);
      return { ok: true };
    case 'deaf_error':
      await sleep(DEAF_MS);
      throw new ToolError('no_funds', 'there is no money');
    case 'unfit':
      return { ok: 'perhaps' };
    case 'long':
      return 'x'.repeat(40_000);
    case 'nan':
      return { ok: true, ratio: Number.NaN };
    default:
      return { ok: true };
  }
}

const run = ({ how }: { readonly how: string }, ctx: ToolContext) => behave(how, ctx);

const tools = [
  defineTool({ name: 'look', version: '1', effect: 'read', input, timeoutMs: TIMEOUT_MS, run }),
  defineTool({
    name: 'look.quick',
    version: '1',
    effect: 'read',
    quick: true,
    input,
    timeoutMs: TIMEOUT_MS,
    run,
  }),
  defineTool({
    name: 'look.typed',
    version: '1',
    effect: 'read',
    input,
    output: result,
    run: run as never,
  }),
  defineTool({ ...paying, name: 'pay', approval: 'never', timeoutMs: TIMEOUT_MS, run }),
  defineTool({
    ...paying,
    name: 'pay.typed',
    approval: 'never',
    timeoutMs: TIMEOUT_MS,
    output: result,
    run: run as never,
  }),
  defineTool({ ...paying, name: 'pay.asked', approval: { roles: ['lead'] }, run }),
  defineTool({
    ...paying,
    name: 'pay.hurried',
    approval: { roles: ['lead'], expiresInMs: EXPIRES_MS, onExpiry: 'reject' },
    run,
  }),
  defineTool({
    ...paying,
    name: 'pay.strict',
    approval: { roles: ['lead'], expiresInMs: EXPIRES_MS, onExpiry: 'stop' },
    run,
  }),
  defineTool({
    ...paying,
    name: 'pay.limited',
    approval: { roles: ['lead'] },
    limits: { perDay: { count: 1 } },
    run,
  }),
  defineTool({
    ...paying,
    name: 'pay.unasked',
    approval: 'never',
    limits: { perDay: { count: 1 } },
    run,
  }),
  defineTool({ ...paying, name: 'pay.frozen', approval: { roles: ['lead'] }, run }),
  defineTool({ ...paying, name: 'pay.stopped', approval: 'never', timeoutMs: TIMEOUT_MS, run }),
  defineTool({ ...paying, name: 'pay.two', approval: { roles: ['lead'], quorum: 2 }, run }),
  defineTool({ ...paying, name: 'pay.once', approval: 'never', identity: () => ['O-1'], run }),
  defineTool({ ...paying, name: 'wipe', approval: 'never', run }),
  defineTool({ ...paying, name: 'pay.guarded', approval: 'never', run }),
  askPerson,
];

const billing = defineAgent({
  name: 'billing',
  model: 'scripted/model',
  instructions: 'Bill.',
  tools: [tools[0]!],
});

const guard = defineHook({
  name: 'guard',
  point: 'PreToolUse',
  match: { tools: ['pay.guarded'] },
  run: ({ tool_input: said }) => {
    if ((said as { how?: string }).how === 'throws') throw new Error('the guard is asleep');
    return { decision: 'deny', message: 'Not today.' };
  },
});
const watch = defineHook({
  name: 'watch',
  point: 'PreToolUse',
  match: { effects: ['read'] },
  run: () => ({ decision: 'allow' }),
});
const proofs = defineHook({
  name: 'proofs',
  point: 'Stop',
  run: () => ({ blockingErrors: ['Say how it was proven.'] }),
});

const auditor = {
  description: 'Audits.',
  prompt: 'Audit it.',
  tools: ['look', 'pay.asked', 'pay.hurried'],
  budget: { maxTurns: 3 },
};

function desk(
  name: string,
  hooks: Parameters<typeof defineAgent>[0]['hooks'],
  more: Partial<Parameters<typeof defineAgent>[0]> = {},
) {
  return defineAgent({
    ...more,
    name,
    model: 'scripted/model',
    instructions: 'Serve.',
    tools,
    handoffTo: ['billing'],
    policy: {
      rules: [
        { tool: 'wipe', decision: 'deny', reason: 'Nothing is wiped.' },
        { tool: 'handoff', decision: 'ask' },
      ],
    },
    hooks,
  });
}

export const SHOP = defineConfig({
  agents: [
    desk(AGENT, [guard]),
    desk('strict', [guard, proofs]),
    desk('doubly', [guard, watch]),
    desk('boss', [guard], { agents: { auditor } }),
    billing,
  ],
});
