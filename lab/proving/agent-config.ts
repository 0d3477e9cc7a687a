/**
 * The agent of a domain as a worker runs it: the recorded tools, each a call to the tool service.
 * Invariants: arguments are taken as they come, because a recorded refusal must come from the tool; a
 * refusal reaches the model as exactly the recorded text; every write waits for the desk; a tool is
 * declared keyed exactly where the service honours keys.
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
import { UNLIMITED } from './unlimited.js';
import type { DomainTool } from './domains/domain.js';
import { domainNamed, DOMAIN_NAMES } from './domains/domains.js';
import { MODES, type Mode } from './tool-store.js';

/** Who may approve a write. */
export const DESK_ROLE = 'desk';
export const TOOL_TIMEOUT_MS = 5_000;
export const HEARTBEAT_MS = { repeatable: 2_000, single: 3_000 } as const;

const TOOL_VERSION = '1';
const MODEL_TIMEOUT_MS = 60_000;
const RESULT_CHARS_MAX = 4_000_000;

const optionsSchema = z.object({
  domain: z.enum(DOMAIN_NAMES),
  mode: z.enum(MODES),
  quickReads: z.boolean(),
  toolUrl: z.string(),
  instructions: z.string().min(1),
  /** Tools that a recorded model made up; the service refuses them in its own words. */
  inventedTools: z.array(z.object({ name: z.string(), recordedName: z.string() })),
});

export type AgentOptions = z.infer<typeof optionsSchema>;

/** The configuration of a worker, as `testing/worker-entry` asks for it. */
export function config(options: unknown): Config {
  const { domain, mode, quickReads, toolUrl, instructions, inventedTools } =
    optionsSchema.parse(options);
  const service = { url: toolUrl, mode, quickReads };
  const invented = inventedTools.map(
    ({ name, recordedName }) => ({ name, recordedName, effect: 'read', parameters: [] }) as const,
  );
  const agent = defineAgent({
    name: domain,
    model: 'scripted/recorded',
    instructions,
    tools: [...domainNamed(domain).tools.values(), ...invented].map((entry) =>
      servedTool(entry, service),
    ),
    settings: {
      afterAnswer: 'await_user',
      heartbeatMs: HEARTBEAT_MS,
      modelTimeoutMs: MODEL_TIMEOUT_MS,
    },
    budget: {
      ...UNLIMITED,
      maxToolResultChars: RESULT_CHARS_MAX,
    },
  });
  return defineConfig({ agents: [agent] });
}

interface Service {
  readonly url: string;
  readonly mode: Mode;
  readonly quickReads: boolean;
}

type ServedTool = Pick<DomainTool, 'name' | 'effect' | 'money' | 'parameters'> & {
  /** Where the recording has a name that no provider would take. */
  readonly recordedName?: string;
};

function servedTool(entry: ServedTool, { url, mode, quickReads }: Service): Tool {
  const name = entry.recordedName ?? entry.name;
  const declared = {
    name: entry.name,
    version: TOOL_VERSION,
    description: `Parameters: ${entry.parameters.join(', ') || 'none'}.`,
    input: z.looseObject({}),
    timeoutMs: TOOL_TIMEOUT_MS,
  };
  if (entry.effect !== 'write') {
    return defineTool({
      ...declared,
      effect: 'read',
      quick: quickReads,
      run: (args, ctx) => callTool({ url, name, args, ctx }),
    });
  }
  const write = {
    ...declared,
    effect: entry.money === true ? 'financial' : 'write',
    approval: { roles: [DESK_ROLE] },
    // Where the service ignores the key, it still writes it down.
    run: (args: unknown, ctx: ToolContext) =>
      callTool({ url, name, args, ctx, key: ctx.idempotencyKey }),
  } as const;
  if (mode === 'nokeys') return defineTool({ ...write, idempotency: 'none' });
  return defineTool({
    ...write,
    idempotency: 'keyed',
    probe: (_args: unknown, ctx: ToolContext) => findResult(url, ctx),
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
