/** The code that a dry fork runs with: that of a configuration, or the tools of the record without their code. */
import {
  defineAgent,
  defineConfig,
  type Config,
  type Hook,
  type TaskGate,
  type Tool,
} from '../../authoring/index.js';
import { GATE_MS } from '../../activities/run/judge-task.js';
import { inputSchemaOf } from '../../authoring/input-schema.js';
import type { JsonSchema } from '../../authoring/schema-forms.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import { toolKey, type ToolRecord } from '../../core/state/tool.js';
import type { ToolOffer, TranscriptNode } from '../../core/state/transcript.js';
import type { Provider } from '../../providers/provider.js';
import type { RealTime } from '../real-time.js';

/** `root`: the first node of the conversation, which has the schemas of the tools. */
export function recordedConfig(frozen: Frozen, root: TranscriptNode): Config {
  const { route, tools } = frozen;
  const { name } = frozen.agent;
  const instructions = 'As recorded.';
  const agent = defineAgent({ name: 'recorded', model: route.name, instructions, tools: [] });
  const config = defineConfig({ agents: [agent], routes: [route] });
  // Nobody may define an agent under the name of a role (`boss/payer`); a run of one has it all the same.
  return {
    ...config,
    agents: new Map([[name, { ...agent, name }]]),
    tools: recordedTools(tools, root),
  };
}

/** The configuration with the tools of servers that the fork has: their code is on servers, which a dry fork does not reach. */
export function withServedTools(config: Config, frozen: Frozen, root: TranscriptNode): Config {
  const served = recordedTools(frozen.tools.filter(isServed), root);
  return { ...config, tools: new Map([...config.tools, ...served]) };
}

export function isServed({ mcp }: ToolRecord): boolean {
  return mcp !== undefined;
}

function recordedTools(
  tools: readonly ToolRecord[],
  root: TranscriptNode,
): ReadonlyMap<string, Tool> {
  return new Map(
    tools.map((record): [string, Tool] => {
      const offer = root.tools?.find(({ name }) => name === record.name);
      return [toolKey(record), recordedTool(record, offer)];
    }),
  );
}

function recordedTool(record: ToolRecord, offer: ToolOffer | undefined): Tool {
  const inputSchema = offer?.inputSchema ?? { type: 'object' };
  return {
    record,
    description: offer?.description ?? '',
    inputSchema,
    parse: parserOf(record.name, inputSchema),
    run: () => Promise.reject(new Error('A dry fork without a configuration runs no code.')),
  };
}

/** Schemas of hosted tools, and of other releases, may be none that this one reads: then any arguments will do. */
function parserOf(tool: string, schema: Json): Tool['parse'] {
  try {
    return inputSchemaOf(tool, schema as unknown as JsonSchema).parse;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return (value) => ({ ok: true, value: value as Json });
  }
}

/** Tools, hooks and gates of tasks whose work takes real time, for as long as each of them may. */
export function timedConfig(config: Config, time: RealTime): Config {
  const code: Timed =
    (limitMs, work) =>
    (...given) =>
      time.duringAtMost(limitMs, async () => work(...given));
  const toolIn = (one: Tool): Tool => {
    const { run, sandboxRun, record } = one;
    const { timeoutMs } = record;
    return {
      ...one,
      run: code(timeoutMs, run),
      ...(sandboxRun !== undefined && { sandboxRun: code(timeoutMs, sandboxRun) }),
    };
  };
  const hookIn = (one: Hook): Hook => ({ ...one, run: code(one.timeoutMs, one.run) });
  const gatedIn = <T extends { readonly refuseTask?: TaskGate }>(one: T): T =>
    one.refuseTask === undefined ? one : { ...one, refuseTask: code(GATE_MS, one.refuseTask) };
  return {
    ...gatedIn(config),
    agents: new Map([...config.agents].map(([name, one]) => [name, gatedIn(one)])),
    tools: new Map([...config.tools].map(([key, one]) => [key, toolIn(one)])),
    hooks: new Map([...config.hooks].map(([key, one]) => [key, hookIn(one)])),
  };
}

type Timed = <Given extends readonly unknown[], Said>(
  limitMs: number,
  work: (...given: Given) => Said | Promise<Said>,
) => (...given: Given) => Promise<Said>;

export function timedProviders(
  providers: ReadonlyMap<string, Provider>,
  time: RealTime,
): ReadonlyMap<string, Provider> {
  const timed = [...providers].map(([name, one]): [string, Provider] => [
    name,
    {
      ...one,
      name,
      complete: (request, progress) => time.during(() => one.complete(request, progress)),
    },
  ]);
  return new Map(timed);
}
