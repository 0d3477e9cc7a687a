/**
 * The configuration of a case that is about an agent of a real one: prompt, schemas, policy, limits, hooks and prices are that
 * agent's own. Its tools are answered by the case, unless they are live.
 * Invariants: no tool's code runs unless the case says "live"; a tool for which the case has no answer refuses.
 */
import { GATE_MS } from '../../activities/run/judge-task.js';
import { toolKey } from '../../core/state/tool.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import type { Agent, Config, Hook, TaskGate, Tool, ToolContext } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import type { Provider } from '../../providers/provider.js';
import { ANY_MONEY, resolveRouteFor } from '../../providers/routes.js';
import type { CaseTool, Fixture } from '../fixture.js';
import { connectorNameOf } from '../../authoring/connectors.js';
import { ownConnectorsOf } from '../servers/config.js';
import { AGENT } from './config.js';
import { budgetOf, settingsOf } from './limits.js';
import { inOwnTime } from './own-time.js';
import { toolDouble, type ToolCast } from './tools.js';
import { PLAIN_TOOL } from '../toolbox.js';

/** Absent: the case is about an agent of its own. */
export function ownAgentIn({ ownAgent }: Fixture): Agent | undefined {
  return ownAgent?.config?.agents.get(ownAgent.name);
}

/** Failures of a tool that are retried. */
export function maxRetriesOf(fixture: Fixture): number {
  const { maxRetriesPerToolCall } = {
    ...DEFAULT_BUDGET,
    ...fixture.ownAgent?.config?.defaults.budget,
    ...ownAgentIn(fixture)?.budget,
    ...fixture.budget,
  };
  return typeof maxRetriesPerToolCall === 'number' ? maxRetriesPerToolCall : Infinity;
}

export function ownConfigOf(fixture: Fixture, config: Config, cast: ToolCast): Config {
  const agent = ownAgentIn(fixture)!;
  const isLive = fixture.ownAgent?.live === true;
  const tools = agent.tools.map((tool) =>
    isLive ? watched(tool, cast) : answered(tool, fixture.tools.get(tool.record.name), cast),
  );
  const connectors = ownConnectorsOf(fixture, config.connectors);
  const played: Agent = {
    ...agent,
    name: AGENT,
    tools,
    mcp: agent.mcp.filter((used) => connectors.has(connectorNameOf(used))),
    ...(fixture.settings.model !== undefined && { model: fixture.settings.model }),
    budget: { ...agent.budget, ...budgetOf(fixture) },
    settings: { ...agent.settings, ...settingsOf(fixture) },
  };
  return {
    ...gated(config, cast),
    connectors,
    agents: new Map([[AGENT, gated(played, cast)]]),
    goals: new Map(),
    tools: new Map(tools.map((tool) => [toolKey(tool.record), tool])),
    hooks: new Map([...config.hooks].map(([name, hook]) => [name, timed(hook, cast)])),
  };
}

/** The scripted model stands in the place of every vendor that the case can get to. */
export function ownProviders(
  fixture: Fixture,
  config: Config,
  provider: Provider,
): ReadonlyMap<string, Provider> {
  const { fallbackModel, model } = { ...DEFAULT_SETTINGS, ...fixture.settings };
  const named = fixture.during.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === 'setModel' ? [action.model] : [])),
  );
  const agent = ownAgentIn(fixture)!;
  const fallback = fallbackModel ?? agent.settings.fallbackModel;
  const names = [model ?? agent.model, ...(typeof fallback === 'string' ? [fallback] : [])];
  const providerOf = (name: string) => resolveRouteFor(name, config, ANY_MONEY).provider;
  // A model that a person names on the way may be one that nobody knows: the run then stays with its own.
  const known = named.flatMap((name) => {
    try {
      return [providerOf(name)];
    } catch {
      return [];
    }
  });
  return new Map([...names.map(providerOf), ...known].map((name) => [name, provider]));
}

function answered(tool: Tool, scripted: CaseTool | undefined, cast: ToolCast): Tool {
  const { name, idempotency, effect } = tool.record;
  const declared: CaseTool = { ...PLAIN_TOOL, name, idempotency, effect, ...answersOf(scripted) };
  const { probe, ...rest } = toolDouble(tool, declared, cast);
  // Its probe would ask the world; what it would say was never recorded.
  return probe === undefined ? rest : { ...rest, probe: () => Promise.reject(NOT_ASKED) };
}

const NOT_ASKED = new Error('The case does not ask the probes of tools.');

/** Without a word of the case there is no answer. */
function answersOf(scripted: CaseTool | undefined): Pick<CaseTool, 'results' | 'recorded'> {
  const results = scripted?.results ?? [];
  const recorded = scripted?.recorded ?? (results.length === 0 ? [] : undefined);
  return { results, ...(recorded !== undefined && { recorded }) };
}

/** The code of a hook runs in any case of an agent of a configuration. */
function timed(hook: Hook, { ownTime }: ToolCast): Hook {
  const { timeoutMs: limitMs } = hook;
  return {
    ...hook,
    run: (input, ctx) =>
      inOwnTime(ownTime, { limitMs, signal: ctx.signal }, () => hook.run(input, ctx)),
  };
}

function gated<T extends { readonly refuseTask?: TaskGate }>(one: T, { ownTime }: ToolCast): T {
  const { refuseTask } = one;
  if (refuseTask === undefined) return one;
  const asked: TaskGate = (task, ctx) =>
    inOwnTime(ownTime, { limitMs: GATE_MS, signal: ctx.signal }, async () => refuseTask(task, ctx));
  return { ...one, refuseTask: asked };
}

/** What a live tool was handed, and whether it took effect, is evidence of the case. */
function watched(tool: Tool, { stage, executions, ownTime }: ToolCast): Tool {
  const { name, timeoutMs: limitMs } = tool.record;
  const { probe } = tool;
  const run = async (input: unknown, ctx: ToolContext, sandbox: boolean): Promise<unknown> => {
    const { callId, idempotencyKey: key } = ctx;
    const handed = { callId, tool: name, key, input: input as Json, sandbox };
    const end = executions.begin(handed, stage.now());
    try {
      const { signal } = ctx;
      const value = await inOwnTime(ownTime, { limitMs, signal }, () =>
        (sandbox ? tool.sandboxRun : tool.run)!(input, ctx),
      );
      executions.tookEffect(name, key);
      return value;
    } finally {
      end(stage.now());
    }
  };
  return {
    ...tool,
    run: (input, ctx) => run(input, ctx, false),
    ...(tool.sandboxRun !== undefined && {
      sandboxRun: (input: unknown, ctx: ToolContext) => run(input, ctx, true),
    }),
    ...(probe !== undefined && {
      probe: (input: unknown, ctx: ToolContext) =>
        inOwnTime(ownTime, { limitMs, signal: ctx.signal }, () => probe(input, ctx)),
    }),
  };
}
