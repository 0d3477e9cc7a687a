/**
 * What both sides of a comparison share: one server, one scripted model, the same tools.
 * The held loop has approvals and budgets on, as a user would run it.
 */
import { z } from 'zod';
import type { ModelRoute } from '../../core/state/model.js';
import { defineAgent, defineConfig, defineTool, type Config } from '../../authoring/index.js';
import {
  startScriptedModel,
  startTestServer,
  type ScriptedModel,
  type ScriptedReply,
  type Script,
  type TestServer,
} from '../../testing/index.js';
import type { MessageSizes } from './message-sizes.js';

export const MODEL = 'claude-haiku-4-5';
export const INSTRUCTIONS = 'Look at the orders one after the other, then say that you are done.';
export const GOAL = 'Look at all orders.';
/** Looks at orders, one a turn. */
export const READER = 'bench';
/** The same, by quick reads. */
export const QUICK_READER = 'quick';
/** Has a tool that waits for the outside, and one that needs a person's word. */
export const CLERK = 'clerk';
/** The reader with a small context window, so that a long run has to make room now and then. */
export const MARATHON = 'marathon';
export const MANAGER = 'manager';

export const READ = 'orders_read';
export const WAIT = 'orders_wait';
export const PAY = 'refunds_pay';

const ROUTE: Omit<ModelRoute, 'name' | 'contextWindow'> = {
  provider: 'anthropic',
  model: MODEL,
  maxOutputTokens: 8_000,
  prices: { input: 1_000_000, output: 5_000_000, cacheRead: 100_000, cacheWrite: 1_250_000 },
  pricesVersion: 'bench',
  temperatureAllowed: true,
};
/** No conversation fills it: a summary would be no part of the bare loop's work. */
export const WIDE_ROUTE: ModelRoute = {
  ...ROUTE,
  name: 'bench/wide',
  contextWindow: 1_000_000_000,
};
/** Full after about a hundred turns. */
const NARROW_ROUTE: ModelRoute = { ...ROUTE, name: 'bench/narrow', contextWindow: 32_000 };

/** Budgets are on; none is ever reached. */
const BUDGET = {
  maxTurns: 1_000_000,
  maxToolCalls: 1_000_000,
  maxInputTokens: 1_000_000_000_000,
  maxOutputTokens: 1_000_000_000_000,
  maxCostMicroUsd: 1_000_000_000_000,
  timeoutMs: 86_400_000,
} as const;

/** What the tools reach outside of the runtime. */
export interface Outside {
  /** Visited by `orders_wait` and by `refunds_pay` as their very first step. */
  readonly visit: (tool: string, runId: string) => Promise<void>;
}

export function outsideAt(url: string): Outside {
  return {
    async visit(tool, runId) {
      await fetch(url, { method: 'POST', body: JSON.stringify({ tool, runId }) });
    },
  };
}

export const NOWHERE: Outside = { visit: () => Promise.resolve() };

/** An order of about so many bytes. */
function orderText({ orderId, bytes }: OrderInput): string {
  const text = JSON.stringify({ orderId, customer: 'C-17', lines: '' });
  const lines = 'x'.repeat(Math.max(0, bytes - text.length));
  return JSON.stringify({ orderId, customer: 'C-17', lines });
}

const orderInput = z.object({ orderId: z.string(), bytes: z.number().int() });
type OrderInput = z.infer<typeof orderInput>;

/** One tool call, as either side makes it. */
export async function runTool(
  { visit }: Outside,
  call: { readonly tool: string; readonly args: unknown; readonly runId: string },
): Promise<string> {
  if (call.tool !== READ) await visit(call.tool, call.runId);
  return orderText(orderInput.parse(call.args));
}

export function benchConfig(outside: Outside): Config {
  const base = { version: '1', description: 'Reads one order.', input: orderInput } as const;
  const run = (tool: string) => (args: OrderInput, ctx: { readonly runId: string }) =>
    runTool(outside, { tool, args, runId: ctx.runId });
  const read = defineTool({ ...base, name: READ, effect: 'read', run: run(READ) });
  const quick = { effect: 'read', quick: true, run: run(READ) } as const;
  const quickRead = defineTool({ ...base, ...quick, name: READ, version: '2' });
  const wait = defineTool({ ...base, name: WAIT, effect: 'read', run: run(WAIT) });
  const pay = defineTool({
    ...base,
    name: PAY,
    effect: 'financial',
    idempotency: 'keyed',
    approval: { roles: [MANAGER] },
    run: run(PAY),
  });
  const agent = {
    model: WIDE_ROUTE.name,
    instructions: INSTRUCTIONS,
    budget: BUDGET,
  } as const;
  return defineConfig({
    agents: [
      defineAgent({ ...agent, name: READER, tools: [read] }),
      defineAgent({ ...agent, name: QUICK_READER, tools: [quickRead] }),
      defineAgent({ ...agent, name: CLERK, tools: [read, wait, pay] }),
      defineAgent({ ...agent, name: MARATHON, model: NARROW_ROUTE.name, tools: [read] }),
    ],
    routes: [WIDE_ROUTE, NARROW_ROUTE],
  });
}

/** The tools as the bare loop offers them to the model. */
export function bareTools(names: readonly string[]): readonly unknown[] {
  return names.map((name) => ({
    name,
    description: base(name),
    input_schema: z.toJSONSchema(orderInput),
  }));
}

function base(name: string): string {
  return name === READ ? 'Reads one order.' : 'Works on one order.';
}

/** Replies by the turn count in the run's id (`…-t<turns>-…`): calls, then an answer. */
export function turnScript(sizes: MessageSizes): Script {
  return ({ runId, assistantMessages: turn }): ScriptedReply => {
    const turns = Number(/-t(\d+)-/.exec(runId)?.[1] ?? 0);
    if (turn + 1 >= turns) return { text: 'Done.' };
    const { replyBytes, resultBytes } = sizes.at(turn);
    return {
      ...(replyBytes > 0 && { text: 'x'.repeat(replyBytes) }),
      calls: [{ tool: READ, input: { orderId: `O-${turn}`, bytes: resultBytes } }],
    };
  };
}

/** One call of a tool, then an answer. */
export function oneCallScript(tool: string): Script {
  return ({ assistantMessages }): ScriptedReply =>
    assistantMessages === 0
      ? { text: 'On it.', calls: [{ tool, input: { orderId: 'O-1', bytes: 500 } }] }
      : { text: 'Done.' };
}

export function startBenchModel(script: Script): Promise<ScriptedModel> {
  return startScriptedModel({ log: { bodies: false, limit: 10 }, script });
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What every bench is given. */
export interface BenchOptions {
  readonly environment: Environment;
  readonly say: (line: string) => void;
}

export function startBenchServer(environment: Environment): Promise<TestServer> {
  return startTestServer({ environment });
}
