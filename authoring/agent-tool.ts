/**
 * The tools with which a model starts a sub-agent: the built-in `agent`, which names it by an argument, and an agent as a
 * tool with a schema of its own (SA-04).
 */
import { z } from 'zod';
import { canonicalJson, type Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { AGENT_TOOL } from '../core/state/sub-agent.js';
import type { Agent } from './agent.js';
import { defineTool, wrong } from './define-tool.js';
import { type KnownFields } from './known-fields.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import type { InputDeclaration, InputOf } from './schema-forms.js';
import type { Tool } from './tool.js';

const PROMPT_CHARS_MAX = 16_000;

/** Agents with sub-agents have it by themselves; its description names them (see `promptOf`). */
export const agent: Tool = subAgentTool({
  name: AGENT_TOOL,
  version: '1',
  effect: 'none',
  description:
    'Hands a task to a sub-agent and waits for its result. The sub-agent knows nothing of this conversation: say all that it needs.',
  input: z.object({
    name: z.string().min(1).max(64),
    prompt: z.string().trim().min(1).max(PROMPT_CHARS_MAX),
  }),
  run: () => undefined,
});

/** An agent that another agent calls as a tool. */
export interface AgentToolDefinition<Schema extends InputDeclaration> {
  /** Default: the name of the agent, with "_" for each other character. */
  readonly name?: string;
  /** Default: that of the agent. */
  readonly version?: string;
  readonly description?: string;
  readonly input: Schema;
  /** The task of the agent for an input; default: the input as JSON. */
  readonly task?: (input: InputOf<Schema>) => string;
}

const FIELDS: KnownFields<AgentToolDefinition<InputDeclaration>> = {
  name: true,
  version: true,
  description: true,
  input: true,
  task: true,
};

/** An agent as a tool: each call is a run of its own. Add it to the `tools` of another agent. */
export function agentTool<Schema extends InputDeclaration>(
  started: Agent,
  definition: AgentToolDefinition<Schema>,
): Tool {
  if (typeof started?.name !== 'string' || started.policy === undefined) {
    throw new HoldfastError('InvalidTool', 'agentTool needs an agent.', {
      hint: 'Make it with defineAgent({…}).',
    });
  }
  checkDefinition('agentTool(agent, { input })', definition, 'InvalidTool');
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(started.name, defect.what, defect.hint);
  const { name = started.name.replaceAll(/[^A-Za-z0-9_]/g, '_'), version = started.version } =
    definition;
  const {
    task,
    description = `Hands a task to the agent ${started.name} and waits for its result.`,
  } = definition;
  if (task !== undefined && typeof task !== 'function') {
    throw wrong(name, 'its task is no function', 'Use task: (input) => `Look into ${input.id}.`.');
  }
  const tool = subAgentTool({
    name,
    version,
    effect: 'none',
    description,
    input: definition.input,
    run: () => undefined,
  });
  const record = Object.freeze({ ...tool.record, startsAgent: name });
  const taskOf = (input: unknown): string =>
    task === undefined ? canonicalJson(input as Json) : task(input as InputOf<Schema>);
  return Object.freeze({ ...tool, record, starts: { agent: started, taskOf } });
}

function subAgentTool(definition: Parameters<typeof defineTool>[0]): Tool {
  // No worker ever gets a call of it: the core starts a run.
  const tool = defineTool({ ...definition, concurrencySafe: true });
  return Object.freeze({
    ...tool,
    record: Object.freeze({ ...tool.record, kind: 'subagent' as const }),
  });
}
