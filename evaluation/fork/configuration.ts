/** The code that a dry fork runs with: that of a configuration, or the tools of the record without their code. */
import {
  defineAgent,
  defineConfig,
  type Config,
  type Hook,
  type Tool,
} from '../../authoring/index.js';
import { inputSchemaOf, type JsonSchema } from '../../authoring/input-schema.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import { toolKey, type ToolRecord } from '../../core/state/tool.js';
import type { ToolOffer, TranscriptNode } from '../../core/state/transcript.js';
import type { Provider } from '../../providers/provider.js';

/** `root`: the first node of the conversation, which has the schemas of the tools. */
export function recordedConfig(frozen: Frozen, root: TranscriptNode): Config {
  const { agent, route, tools } = frozen;
  const config = defineConfig({
    agents: [
      defineAgent({ name: agent.name, model: route.name, instructions: 'As recorded.', tools: [] }),
    ],
    routes: [route],
  });
  const code = tools.map((record): [string, Tool] => [
    toolKey(record),
    recordedTool(
      record,
      root.tools?.find(({ name }) => name === record.name),
    ),
  ]);
  return { ...config, tools: new Map(code) };
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

/** What takes real time: virtual time stands still until it is over. */
export class RealTime {
  private readonly pending = new Set<Promise<unknown>>();

  readonly outside = (): Promise<unknown> | undefined =>
    this.pending.size === 0 ? undefined : Promise.race(this.pending);

  awaited<T>(work: Promise<T>): Promise<T> {
    const over = work.then(
      () => undefined,
      () => undefined,
    );
    this.pending.add(over);
    void over.then(() => this.pending.delete(over));
    return work;
  }

  config(config: Config): Config {
    const tool = (one: Tool): Tool => ({
      ...one,
      run: (input, ctx) => this.awaited(one.run(input, ctx)),
    });
    const hook = (one: Hook): Hook => ({
      ...one,
      run: (input, ctx) => this.awaited(one.run(input, ctx)),
    });
    return {
      ...config,
      tools: new Map([...config.tools].map(([key, one]) => [key, tool(one)])),
      hooks: new Map([...config.hooks].map(([key, one]) => [key, hook(one)])),
    };
  }

  providers(providers: ReadonlyMap<string, Provider>): ReadonlyMap<string, Provider> {
    const timed = [...providers].map(([name, one]): [string, Provider] => [
      name,
      {
        ...one,
        name,
        complete: (request, progress) => this.awaited(one.complete(request, progress)),
      },
    ]);
    return new Map(timed);
  }
}
