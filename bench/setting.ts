/**
 * What both sides of a comparison share: one server, one process, one scripted model, the same tool.
 * The held loop has approvals and budgets on, as a user would run it; its tool is a read.
 */
import { join, extname } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Config } from '../authoring/index.js';
import {
  startScriptedModel,
  startTestServer,
  type ScriptedModel,
  type ScriptedReply,
  type TestServer,
} from '../testing/index.js';

export const BARE_QUEUE = 'bench-bare';
export const HELD_QUEUE = 'bench-held';
export const MODEL = 'claude-haiku-4-5';
export const INSTRUCTIONS = 'Look at the orders one after the other, then say that you are done.';
export const GOAL = 'Look at all orders.';
export const BARE_WORKFLOWS = join(__dirname, 'bare', `loop${extname(__filename)}`);

/** The order that the tool returns: about 500 bytes, the size of a typical recorded result. */
export async function readOrder(orderId: string): Promise<string> {
  const lines = Array.from({ length: 6 }, (_, line) => ({
    sku: `sku-${orderId}-${line}`,
    quantity: line + 1,
    priceCents: 1_995,
    status: 'delivered',
  }));
  return JSON.stringify({ orderId, customer: 'C-17', lines });
}

export function benchConfig(): Config {
  const orderRead = defineTool({
    name: 'orders_read',
    version: '1',
    description: 'Reads one order.',
    effect: 'read',
    input: z.object({ orderId: z.string() }),
    run: (input) => readOrder(input.orderId),
  });
  const unlimited = { maxTurns: 'unlimited', maxToolCalls: 'unlimited' } as const;
  const agent = defineAgent({
    name: 'bench',
    model: `anthropic/${MODEL}`,
    instructions: INSTRUCTIONS,
    tools: [orderRead],
    budget: { ...unlimited, maxInputTokens: 1_000_000_000, maxCostMicroUsd: 1_000_000_000 },
  });
  return defineConfig({ agents: [agent] });
}

/** The tool as the bare loop offers it to the model. */
export const BARE_TOOLS = [
  {
    name: 'orders_read',
    description: 'Reads one order.',
    input_schema: {
      type: 'object',
      properties: { orderId: { type: 'string' } },
      required: ['orderId'],
    },
  },
] as const;

/** Replies by the turn count in the run's id (`…-t<turns>-…`): calls, then an answer. */
export function startBenchModel(textBytes: number): Promise<ScriptedModel> {
  const text = 'x'.repeat(textBytes);
  return startScriptedModel({
    log: { bodies: false, limit: 10 },
    script: ({ runId, assistantMessages }): ScriptedReply => {
      const turns = Number(/-t(\d+)-/.exec(runId ?? '')?.[1] ?? 0);
      if (assistantMessages + 1 >= turns) return { text: 'Done.' };
      return {
        ...(textBytes > 0 && { text }),
        calls: [{ tool: 'orders_read', input: { orderId: `O-${assistantMessages}` } }],
      };
    },
  });
}

export function startBenchServer(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TestServer> {
  return startTestServer({ environment });
}
