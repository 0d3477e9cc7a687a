/**
 * Who starts whom in a case that does not say it: whoever calls the tool `agent` with the name of an agent of the case starts that
 * one. A case that names `subAgents` anywhere, a tool that starts an agent, runs or the record that it comes from has said it.
 */
import { AGENT_TOOL } from '../core/state/sub-agent.js';
import { startable } from './case-agents.js';
import { handoffsOf } from './convert-agents.js';
import type { CaseAgent, CaseTool, Fixture } from './fixture.js';
import type { FixtureDocument } from './format/document.js';
import type { Script } from './script.js';

type Agents = Fixture['agents'];
type Team = Pick<Fixture, 'agents' | 'subAgents'>;

/** The agents with those that each of them starts, and whom the agent of the case starts. */
export function withImplied(document: FixtureDocument, agents: Agents): Team {
  const { subAgents, handoffTo, captured, runs, goalLoop } = document;
  const said = { agents, ...(subAgents !== undefined && { subAgents }) };
  const isSaid =
    [subAgents, captured, runs, goalLoop].some((key) => key !== undefined) ||
    startsSome(document.tools) ||
    [...agents.values()].some((one) => one.subAgents !== undefined);
  if (isSaid) return said;
  const below = new Map<string, readonly string[]>();
  for (const [name, agent] of agents) {
    const started = startedBy(agent, agents).filter((other) => !reaches(other, name, below));
    if (started.length > 0) below.set(name, started);
  }
  if (below.size === 0) return said;
  return {
    agents: new Map(
      [...agents].map(([name, agent]): [string, CaseAgent] => {
        const started = below.get(name);
        return [name, started === undefined ? agent : { ...agent, subAgents: started }];
      }),
    ),
    // Those whom another agent starts as well, the agent of the case may start all the same.
    subAgents: startable({ agents, ...handoffsOf(handoffTo) }),
  };
}

function startsSome(tools: FixtureDocument['tools']): boolean {
  return (
    typeof tools === 'object' && Object.values(tools).some((tool) => tool.starts !== undefined)
  );
}

function startedBy({ model = [], tools, start }: CaseAgent, agents: Agents): readonly string[] {
  if (start === true || tools?.includes(AGENT_TOOL) === false) return [];
  const names = namesIn(model).filter((name) => agents.get(name)?.start !== true);
  return [...new Set(names)].filter((name) => agents.has(name));
}

function namesIn(script: Script): readonly string[] {
  return script.flatMap(({ reply }) => {
    const calls = reply.kind === 'answer' ? reply.calls : (reply.after?.calls ?? []);
    return calls.flatMap(({ tool, input }) => {
      const { name } = (tool === AGENT_TOOL ? (input ?? {}) : {}) as { readonly name?: unknown };
      return typeof name === 'string' ? [name] : [];
    });
  });
}

/** An agent that is below itself cannot be declared: the later one of a circle starts nobody. */
function reaches(from: string, to: string, below: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set([from]);
  for (const name of seen) {
    if (name === to) return true;
    for (const next of below.get(name) ?? []) seen.add(next);
  }
  return false;
}

/** In a case without other agents a tool that would start one answers as any other tool does. */
export function withoutStarters(
  { agents, agent }: FixtureDocument,
  tools: ReadonlyMap<string, CaseTool>,
): ReadonlyMap<string, CaseTool> {
  if (agents !== undefined || agent !== undefined) return tools;
  return new Map(
    [...tools].map(([name, tool]) => [
      name,
      tool.kind === 'subagent' && tool.starts === undefined ? { ...tool, kind: 'tool' } : tool,
    ]),
  );
}
