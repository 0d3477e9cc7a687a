/**
 * Sub-agents that a start brings along: roles of the agent that it starts (SA-01).
 * Invariants: what is read here is plain data from outside, and each defect is the start's (InvalidTask); a role has less than
 * its agent, and none stands in the place of what the agent declares.
 */
import { HoldfastError } from '../core/state/errors.js';
import {
  STARTED_AGENTS_CHARS_MAX,
  type StartedAgent,
  type StartedAgents,
} from '../core/state/started-agent.js';
import { AGENT_TOOL, DEFAULT_TREE_LIMITS } from '../core/state/sub-agent.js';
import type { Agent, DeclaredSubAgent } from './agent.js';
import { agent as startAgent } from './agent-tool.js';
import { subAgentsOf, type SubAgentDefinitions } from './sub-agents.js';
import { isRecord } from '../pure/options.js';

/** The same model as its agent. */
const INHERIT = 'inherit';

const FIELDS: { readonly [name in keyof Required<StartedAgent>]: true } = {
  description: true,
  prompt: true,
  tools: true,
  disallowedTools: true,
  model: true,
  maxTurns: true,
  budget: true,
  outputSchema: true,
};

/** The agent with these beside its own. Errors: InvalidTask. */
export function withStarted(agent: Agent, started: StartedAgents): Agent {
  const roles = rolesOf(agent, started);
  const { agents: own = new Map<string, DeclaredSubAgent>(), tools } = agent;
  const clash = [...roles.keys()].find((name) => own.has(name));
  if (clash !== undefined) {
    throw refused(
      `agent ${agent.name} has a sub-agent ${clash} already`,
      'Give yours another name.',
    );
  }
  const mine = tools.find(({ record }) => record.name === AGENT_TOOL);
  if (mine !== undefined && mine.record.kind !== startAgent.record.kind) {
    const hint = 'Start another agent: the tool that starts sub-agents has this name.';
    throw refused(`agent ${agent.name} has a tool named ${AGENT_TOOL}`, hint);
  }
  return Object.freeze({
    ...agent,
    tools: mine === undefined ? Object.freeze([...tools, startAgent]) : tools,
    agents: new Map([...own, ...roles]),
    agentLimits: agent.agentLimits ?? DEFAULT_TREE_LIMITS,
  });
}

/** One of them, as a run of its own works under it. Errors: InvalidTask. */
export function startedRole(agent: Agent, name: string, definition: StartedAgent): Agent {
  const role = rolesOf(agent, { [name]: definition }).get(name);
  if (role === undefined) throw refused(`agents.${name} is missing`, 'Start the run again.');
  return role.agent;
}

function rolesOf(agent: Agent, started: StartedAgents): ReadonlyMap<string, DeclaredSubAgent> {
  if (!isRecord(started)) {
    throw refused('it is no object', 'Write agents: {auditor: {description, prompt}}.');
  }
  const chars = JSON.stringify(started).length;
  if (chars > STARTED_AGENTS_CHARS_MAX) {
    const hint = `Keep them below ${STARTED_AGENTS_CHARS_MAX} as JSON; long texts go into the goal, or into an agent of the configuration.`;
    throw refused(`they have ${chars} characters`, hint);
  }
  for (const [name, one] of Object.entries(started)) checkFields(name, one);
  const definitions = Object.fromEntries(
    Object.entries(started).map(([name, { model, ...rest }]) => [
      name,
      model === undefined || model === INHERIT ? rest : { ...rest, model },
    ]),
  );
  // JSON Schema comes as data; its form is checked with the rest.
  const declared = declaredBy(agent, definitions as SubAgentDefinitions);
  const withText = [...(declared ?? [])].map(
    ([name, one]) => [name, Object.freeze({ ...one, started: started[name]! })] as const,
  );
  return new Map(withText);
}

function declaredBy(agent: Agent, definitions: SubAgentDefinitions) {
  try {
    return subAgentsOf(agent, definitions);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const hint = error.hint ?? 'Correct it and start again.';
    throw new HoldfastError('InvalidTask', `The agents of the start: ${error.message}`, { hint });
  }
}

/** What only the code of an agent may say is refused by name. */
function checkFields(name: string, one: unknown): void {
  const isObject = typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!isObject) throw refused(`${name} is no object`, 'Write {description, prompt}.');
  const unknown = Object.keys(one).find((field) => !Object.hasOwn(FIELDS, field));
  if (unknown === undefined) return;
  const hint = `The fields are ${Object.keys(FIELDS).join(', ')}.`;
  throw refused(`${name} has no field ${unknown.slice(0, 60)}`, hint);
}

function refused(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The agents of the start cannot be used: ${what}.`, {
    hint,
  });
}
