/**
 * The retail agent as a worker runs it: the recorded tools, each a call to the tool service.
 * Invariants: arguments are taken as they come, because a recorded refusal must come from the tool; a
 * refusal reaches the model as exactly the recorded text; every write is keyed and waits for the desk.
 */
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineTool,
  ToolError,
  type Config,
  type Tool,
  type ToolContext,
} from '../../authoring/index.js';
import { RETAIL_TOOLS, type RetailTool } from './tools.js';

export const RETAIL_AGENT = 'retail';
/** Who may approve a write. */
export const DESK_ROLE = 'retail-desk';
export const TOOL_TIMEOUT_MS = 5_000;
export const HEARTBEAT_MS = { repeatable: 2_000, single: 3_000 } as const;

const TOOL_VERSION = '1';
const MODEL_TIMEOUT_MS = 60_000;
const RESULT_CHARS_MAX = 4_000_000;

/** Address changes cost nothing and may be repeated; everything else moves money. */
const PLAIN_WRITES = ['modify_pending_order_address', 'modify_user_address'];

const optionsSchema = z.object({
  toolUrl: z.string(),
  instructions: z.string().min(1),
  /** Names that a recorded model made up; the service refuses them in its own words. */
  inventedTools: z.array(z.string()),
});

export type RetailOptions = z.infer<typeof optionsSchema>;

/** The configuration of a worker, as `testing/worker-entry` asks for it. */
export function config(options: unknown): Config {
  const { toolUrl, instructions, inventedTools } = optionsSchema.parse(options);
  const invented = inventedTools.map((name) => ({ name, effect: 'read', parameters: [] }) as const);
  const agent = defineAgent({
    name: RETAIL_AGENT,
    model: 'scripted/recorded',
    instructions,
    tools: [...RETAIL_TOOLS, ...invented].map((entry) => servedTool(entry, toolUrl)),
    settings: {
      afterAnswer: 'await_user',
      heartbeatMs: HEARTBEAT_MS,
      modelTimeoutMs: MODEL_TIMEOUT_MS,
    },
    budget: {
      maxTurns: 'unlimited',
      maxModelCalls: 'unlimited',
      maxToolCalls: 'unlimited',
      timeoutMs: 'unlimited',
      maxInputTokens: 'unlimited',
      maxOutputTokens: 'unlimited',
      maxCostMicroUsd: 'unlimited',
      maxConsecutiveToolFailures: 'unlimited',
      maxConsecutiveToolErrors: 'unlimited',
      maxDeniedProposals: 'unlimited',
      maxInvalidProposals: 'unlimited',
      maxRepeatedActions: 'unlimited',
      maxToolResultChars: RESULT_CHARS_MAX,
    },
  });
  return defineConfig({ agents: [agent] });
}

function servedTool(entry: Pick<RetailTool, 'name' | 'effect' | 'parameters'>, url: string): Tool {
  const { name } = entry;
  const declared = {
    name,
    version: TOOL_VERSION,
    description: `Parameters: ${entry.parameters.join(', ') || 'none'}.`,
    input: z.looseObject({}),
    timeoutMs: TOOL_TIMEOUT_MS,
  };
  if (entry.effect !== 'write') {
    return defineTool({
      ...declared,
      effect: 'read',
      run: (args, ctx) => callTool({ url, name, args, ctx }),
    });
  }
  return defineTool({
    ...declared,
    effect: PLAIN_WRITES.includes(name) ? 'write' : 'financial',
    idempotency: 'keyed',
    approval: { roles: [DESK_ROLE] },
    run: (args, ctx) => callTool({ url, name, args, ctx, key: ctx.idempotencyKey }),
    probe: (_args, ctx) => findResult(url, ctx),
  });
}

interface ServiceCall {
  readonly url: string;
  readonly name: string;
  readonly args: unknown;
  readonly ctx: ToolContext;
  readonly key?: string;
}

const answerSchema = z.object({ content: z.string(), error: z.boolean() });

async function callTool({ url, name, args, ctx, key }: ServiceCall): Promise<string> {
  const { tenant, runId: run, callId, attempt } = ctx;
  const step = ctx.idempotencyKey.slice(ctx.idempotencyKey.indexOf(':') + 1);
  const response = await fetch(`${url}/call`, {
    method: 'POST',
    body: JSON.stringify({ tenant, run, step, tool: name, args, key, callId, attempt }),
    signal: ctx.signal,
  });
  const answer = answerSchema.parse(await bodyOf(response));
  if (answer.error) throw new ToolError(answer.content);
  return answer.content;
}

const foundSchema = z.union([
  answerSchema.extend({ found: z.literal(true) }),
  z.object({ found: z.literal(false) }),
]);

/** A refusal changed nothing: it did not happen, and asking again gives the same refusal. */
async function findResult(url: string, ctx: ToolContext): Promise<string | undefined> {
  const query = new URLSearchParams({ key: ctx.idempotencyKey });
  const response = await fetch(`${url}/find?${query.toString()}`, { signal: ctx.signal });
  const result = foundSchema.parse(await bodyOf(response));
  return result.found && !result.error ? result.content : undefined;
}

/** An error status says nothing about the effect, so it is an ordinary error: the outcome is in doubt. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(`The tool service answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}
