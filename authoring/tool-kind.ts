/** Which kinds of tools are declared with `defineTool`, and what to do instead of the others. */
import type { ToolKind } from '../core/state/tool.js';
import { shown } from './known-fields.js';

const KINDS = ['tool', 'human_input', 'handoff'] as const satisfies readonly ToolKind[];
export type DeclaredKind = (typeof KINDS)[number];

interface KindDefect {
  readonly what: string;
  readonly hint: string;
}

const OTHER_KINDS: { readonly [kind in Exclude<ToolKind, DeclaredKind>]: KindDefect } = {
  hosted: { what: 'nobody here runs it', hint: 'Declare it with defineHostedTool({…}).' },
  subagent: {
    what: 'its kind is "subagent", which agents have by themselves',
    hint: 'Name sub-agents in defineAgent({agents: {…}}), or make an agent a tool with agentTool(agent, {input}).',
  },
  mcp: {
    what: 'its kind is "mcp": connectors make tools of this kind',
    hint: 'Name the server in defineConfig({ mcp: {…} }), and the connector in the agent.',
  },
};

/** Why a tool of this kind cannot be declared; undefined: it can. */
export function kindDefect(kind: unknown): KindDefect | undefined {
  if (KINDS.some((known) => known === kind)) return undefined;
  const other = Object.entries(OTHER_KINDS).find(([known]) => known === kind)?.[1];
  if (other !== undefined) return other;
  return { what: `its kind is ${shown(kind)}`, hint: `Use one of ${KINDS.join(', ')}.` };
}
