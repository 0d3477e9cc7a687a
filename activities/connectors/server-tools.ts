/**
 * The code of tools of connectors, as runs have them pinned.
 * Invariant: a run gets the tool that its opening has pinned, whatever the server says now; the code itself compares the two
 * before it calls.
 */
import type { Config, Tool } from '../../authoring/index.js';
import { CONNECTOR_PREFIX, connectorNameOf } from '../../authoring/connectors.js';
import type { PinnedTool } from '../../connectors/index.js';
import { toolKey } from '../../core/state/tool.js';
import type { InTransaction } from '../deps.js';

interface Named {
  readonly name: string;
  readonly version: string;
}

/** The same with the code of those of the tools that are of connectors which this worker has. */
export async function withServerTools<Deps extends InTransaction>(
  deps: Deps,
  tenant: string,
  named: readonly Named[],
): Promise<Deps> {
  const found: (readonly [string, Tool])[] = [];
  for (const tool of named) {
    if (!tool.name.startsWith(CONNECTOR_PREFIX)) continue;
    const code = await serverTool(deps, tenant, tool);
    if (code !== undefined) found.push([toolKey(tool), code]);
  }
  if (found.length === 0) return deps;
  const config: Config = { ...deps.config, tools: new Map([...deps.config.tools, ...found]) };
  return { ...deps, config };
}

async function serverTool(
  { config, connectors, store }: InTransaction,
  tenant: string,
  tool: Named,
): Promise<Tool | undefined> {
  if (connectors === undefined || config.tools.has(toolKey(tool))) return undefined;
  if (!config.connectors.has(connectorNameOf(tool.name))) return undefined;
  const known = connectors.known(tenant, toolKey(tool));
  if (known !== undefined) return known;
  const row = await store.connectorTool(tenant, tool);
  if (row === undefined) return undefined;
  return connectors.tool(JSON.parse(row.pinned) as PinnedTool, tenant);
}
