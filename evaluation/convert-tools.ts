/**
 * The tools of a case: the standard toolbox with what the case changes of it, and tools of its own.
 * Invariant: a tool that nothing in the case names is not there.
 */
import { CONNECTOR_PREFIX } from '../authoring/connectors.js';
import type { Json } from '../core/json/json.js';
import { sideEffectOf } from '../core/state/tool.js';
import { resultsOf } from './convert-script.js';
import type { CaseApproval, CaseTool, JsonObject } from './fixture.js';
import type { ServedTool } from './server-case.js';
import type { FixtureDocument } from './format/document.js';
import { PLAIN_TOOL, TOOLBOX } from './toolbox.js';

export type WrittenTool = Exclude<NonNullable<FixtureDocument['tools']>, 'live'>[string];

/** What `tools` and the older `mocked_tools` say together, and what they contradict each other in. */
export function declaredTools(document: FixtureDocument): {
  readonly tools: ReadonlyMap<string, WrittenTool>;
  readonly problems: readonly string[];
} {
  const written = document.tools === 'live' ? {} : (document.tools ?? {});
  const tools = new Map<string, WrittenTool>(Object.entries(written));
  const problems: string[] = [];
  for (const [name, results] of Object.entries(document.mocked_tools ?? {})) {
    const declared = tools.get(name);
    if (declared?.results !== undefined) {
      problems.push(`mocked_tools: ${JSON.stringify(name)} has results under tools as well`);
    }
    // Mocked tools are reads, those of servers too: nobody stands by to approve them.
    const mocked = declared === undefined && isOfServer(name) ? { effect: 'read' as const } : {};
    tools.set(name, { ...mocked, ...declared, results });
  }
  return { tools, problems };
}

/** The record of a declared tool, over that of the toolbox where it has one of this name. */
export function toolOf(name: string, written: WrittenTool, served?: ServedTool): CaseTool {
  const {
    results,
    recorded,
    approval,
    inputSchema,
    outputSchema,
    tasks,
    annotations: _,
    ...rest
  } = written;
  const { builtIn, ...base } = TOOLBOX.get(name) ?? ownTool(name, written);
  // Whoever says something of it means a tool of their own.
  const isNamed = Object.keys(written).length === 0;
  return {
    ...base,
    ...(builtIn === true && isNamed && { builtIn }),
    ...rest,
    kind: kindOf(name, written) ?? base.kind,
    ...(served !== undefined && { served }),
    ...(approval !== undefined && { approval: approval as CaseApproval }),
    ...(inputSchema !== undefined && { inputSchema: inputSchema as JsonObject | boolean }),
    ...(outputSchema !== undefined && { outputSchema: outputSchema as JsonObject | boolean }),
    ...(results !== undefined && { results: resultsOf(results) }),
    ...(recorded !== undefined && {
      recorded: recorded.map((call) => ({
        input: call.input as Json,
        ...(call.run !== undefined && { run: call.run }),
        results: resultsOf(call.results),
      })),
    }),
    ...(tasks !== undefined && {
      tasks: tasks.map(({ input, task }) => ({ input: input as Json, task })),
    }),
  };
}

/**
 * A case that says nothing of what its tool does means a read, which is what mocked tools are; what comes
 * from another server is not to be trusted that far (G70).
 */
function ownTool(name: string, written: WrittenTool): CaseTool {
  const { effect, starts } = written;
  if (starts !== undefined)
    return { ...PLAIN_TOOL, name, effect: 'none', idempotency: 'natural', kind: 'subagent' };
  const does = effect ?? (kindOf(name, written) === 'mcp' ? 'unknown' : 'read');
  const idempotency = sideEffectOf(does) === 'mutating' ? 'unknown' : 'natural';
  return { ...PLAIN_TOOL, name, effect: does, idempotency };
}

/** A name of a server's tool says the kind of one that does not say it. */
function kindOf(name: string, { kind, starts }: WrittenTool): CaseTool['kind'] | undefined {
  return kind ?? (starts === undefined && isOfServer(name) ? 'mcp' : undefined);
}

function isOfServer(name: string): boolean {
  return name.startsWith(CONNECTOR_PREFIX);
}
