/**
 * The agents of a case. An entry with instructions is an agent of its own, of which the case says all; one without has what it
 * lacks from the agent of the case, and as a sub-agent it is a role of the agent that starts it.
 */
import {
  agentTool,
  defineAgent,
  type Agent,
  type Hook,
  type PolicyDeclaration,
  type Tool,
} from '../../authoring/index.js';
import type { SubAgentDefinition, SubAgentDefinitions } from '../../authoring/sub-agents.js';
import type { SuperviseDeclaration } from '../../authoring/supervise.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { AGENT_TOOL } from '../../core/state/sub-agent.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { Settings } from '../../core/state/settings.js';
import type { StartedAgent, StartedAgents } from '../../core/state/started-agent.js';
import { broughtNames, handoffTargets, subAgentNames } from '../case-agents.js';
import { CASE_AGENT, type CaseAgent, type CaseTool, type Fixture } from '../fixture.js';
import { usedServers } from '../servers/config.js';
import { budgetOf, settingsOf } from './limits.js';

export const DEFAULT_MODEL = 'model';
const INSTRUCTIONS = 'Handle the case with the tools you are given.';
const SUPERVISOR = 'supervisor';
/** Deep enough for whatever a case records. */
const DEPTH_MAX = 5;
const IN_ALL = 1_000;

/** What the worker of a case runs. */
export interface CaseCode {
  /** All that anything in the case names. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly hooks: readonly Hook[];
  /** Models that the case does not know. */
  readonly routes?: readonly ModelRoute[];
  /** On top of what the case says. */
  readonly settings?: Partial<Settings>;
}

/** The agent of the case first. */
export function agentsOf(fixture: Fixture, code: CaseCode): readonly Agent[] {
  const team = new Team(fixture, code);
  return [team.ofCase(), ...[...fixture.agents.keys()].map((name) => team.other(name))];
}

/** What the start of the case brings along; undefined: nobody. */
export function startedAgents(fixture: Fixture): StartedAgents | undefined {
  const names = broughtNames(fixture);
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name): [string, StartedAgent] => {
      const { description, instructions, tools, budget, outputSchema, settings } =
        fixture.agents.get(name)!;
      return [
        name,
        {
          description: description ?? purposeOf(name),
          prompt: instructions ?? INSTRUCTIONS,
          ...(tools !== undefined && { tools }),
          ...(settings?.model !== undefined && { model: settings.model }),
          ...(Object.keys(budget).length > 0 && { budget: budgetOf({ budget }) }),
          ...(outputSchema !== undefined && { outputSchema }),
        },
      ];
    }),
  );
}

class Team {
  private readonly made = new Map<string, Agent>();

  constructor(
    private readonly fixture: Fixture,
    private readonly code: CaseCode,
  ) {}

  ofCase(): Agent {
    const { fixture } = this;
    const { manifest, budget, handoffTo, instructions = INSTRUCTIONS } = fixture;
    const agents = this.roles(subAgentNames(fixture), manifest);
    return this.agentOf(CASE_AGENT, manifest, {
      instructions,
      budget: budgetOf({ budget }),
      ...(handoffTo !== undefined && { handoffTo }),
      ...(fixture.supervisor !== undefined && { supervise: superviseOf(fixture) }),
      ...(agents !== undefined && { agents }),
    });
  }

  other(name: string): Agent {
    const known = this.made.get(name);
    if (known !== undefined) return known;
    const { fixture } = this;
    const one = fixture.agents.get(name)!;
    const { tools = this.plainTools(), budget, handoffTo, subAgents = [] } = one;
    const isOwn = one.instructions !== undefined;
    // Whoever takes the run over has its limits; of money a sub-agent has what its parent leaves it.
    const isBelow = fixture.goal === undefined && !handoffTargets(fixture).includes(name);
    const { maxCostMicroUsd: _, ...withoutMoney } = fixture.budget;
    const above = isBelow ? withoutMoney : fixture.budget;
    const limits = isOwn ? budget : { ...above, ...budget };
    const agents = this.roles(subAgents, tools);
    const agent = this.agentOf(name, tools, {
      instructions: instructionsOf(fixture, name, one),
      budget: budgetOf({ budget: limits }),
      ...(handoffTo !== undefined && { handoffTo }),
      ...(agents !== undefined && { agents }),
      ...(isOwn && this.ownWords(one)),
    });
    this.made.set(name, agent);
    return agent;
  }

  /** Who is not told its tools starts nobody by them. */
  private plainTools(): readonly string[] {
    const { manifest, tools } = this.fixture;
    const starts = (name: string): boolean => tools.get(name)?.starts !== undefined;
    return manifest.some(starts) ? manifest.filter((name) => !starts(name)) : manifest;
  }

  /** Of an agent of its own nothing comes from the agent of the case. */
  private ownWords({ settings, policy = [], hooks = [] }: CaseAgent) {
    const { hooks: all, settings: over = {} } = this.code;
    return {
      model: settings?.model ?? this.fixture.settings.model ?? DEFAULT_MODEL,
      hooks: all.filter(({ point }) => hooks.includes(point)),
      policy: { rules: policy } as PolicyDeclaration,
      settings: { ...(settings !== undefined && settingsOf({ settings })), ...over },
    };
  }

  private agentOf(
    name: string,
    tools: readonly string[],
    rest: Partial<Parameters<typeof defineAgent>[0]> & { readonly instructions: string },
  ): Agent {
    const { fixture, code } = this;
    const { policy } = fixture;
    // Whoever starts sub-agents does so by the tool of the case, where the case has it.
    const starter = rest.agents === undefined || tools.includes(AGENT_TOOL) ? [] : [AGENT_TOOL];
    return defineAgent({
      name,
      model: fixture.settings.model ?? DEFAULT_MODEL,
      tools: [...tools, ...starter].flatMap((tool) => this.tool(tool) ?? []),
      ...(fixture.servers.size > 0 && { mcp: usedServers(fixture, tools) }),
      hooks: code.hooks,
      ...(policy.length > 0 && { policy: { rules: policy } as PolicyDeclaration }),
      settings: { ...settingsOf(fixture), ...code.settings },
      ...(rest.agents !== undefined &&
        fixture.runs.size > 0 && {
          agentLimits: { depth: DEPTH_MAX, inAll: IN_ALL },
        }),
      ...rest,
    });
  }

  private tool(name: string): Tool | undefined {
    const declared = this.fixture.tools.get(name);
    const made = this.code.tools.get(name);
    if (declared?.starts === undefined || made === undefined) return made;
    const { parse, description, inputSchema } = made;
    const started = agentTool(this.other(declared.starts), {
      name,
      version: declared.version,
      description,
      input: { type: 'object' },
      task: (input) => taskOf(declared, input as Json),
    });
    return Object.freeze({ ...started, parse, inputSchema });
  }

  private roles(
    names: readonly string[],
    manifest: readonly string[],
  ): SubAgentDefinitions | undefined {
    if (names.length === 0) return undefined;
    return Object.fromEntries(names.map((name) => [name, this.role(name, manifest)]));
  }

  /** Tools that its parent lacks, a sub-agent lacks as well. */
  private role(name: string, manifest: readonly string[]): SubAgentDefinition {
    const one = this.fixture.agents.get(name)!;
    const { tools, budget, outputSchema, parallel, description = purposeOf(name) } = one;
    const own = tools?.filter((tool) => manifest.includes(tool));
    return {
      description,
      ...(isRole(one) ? { prompt: INSTRUCTIONS } : { agent: this.other(name) }),
      ...(own !== undefined && { tools: own }),
      budget: budgetOf({ budget }),
      ...(outputSchema !== undefined && { outputSchema: outputSchema as never }),
      ...(parallel !== undefined && { parallel }),
    };
  }
}

/** It has nothing that only an agent of its own can have. */
function isRole({ instructions, handoffTo, subAgents }: CaseAgent): boolean {
  return instructions === undefined && handoffTo === undefined && subAgents === undefined;
}

function purposeOf(name: string): string {
  return `Works on a part of the case as ${name}.`;
}

function taskOf({ tasks = [] }: CaseTool, input: Json): string {
  const asked = canonicalJson(input);
  return tasks.find((one) => canonicalJson(one.input) === asked)?.task ?? asked;
}

function superviseOf({ supervisor, settings }: Fixture): SuperviseDeclaration {
  const { says: _, name = SUPERVISOR, ...when } = supervisor!;
  const agent = defineAgent({
    name,
    model: settings.model ?? DEFAULT_MODEL,
    instructions: 'Look at the run of the case.',
  });
  return { agent, ...when };
}

/** By these the scripted model knows whom it plays: of agents that have a script. */
function instructionsOf({ goal }: Fixture, name: string, { instructions, model }: CaseAgent) {
  const own = instructions ?? INSTRUCTIONS;
  return goal !== undefined || model === undefined ? own : `${own}\n${PLAYED}${name}.`;
}

const PLAYED = 'You are the agent ';

/** Who asks, of those whom a run is handed over to; undefined: the agent of the case. */
export function playedAgent(system: string | undefined): string | undefined {
  const from = system?.lastIndexOf(PLAYED) ?? -1;
  return from < 0 ? undefined : /^[\w.-]*\w/.exec(system!.slice(from + PLAYED.length))?.[0];
}
