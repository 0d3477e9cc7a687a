/** The servers of a case, as a configuration declares them and agents use them. */
import type { ConnectorDefinition } from '../../authoring/connectors.js';
import type { ToolEffect } from '../../core/state/tool.js';
import type { Fixture } from '../fixture.js';
import type { CaseServer, ServedTool } from '../server-case.js';

type Declaring = Pick<Fixture, 'servers' | 'tools' | 'manifest'>;

/** What an agent of these tools uses: of one that has all, each server as a whole. */
export function usedServers(
  { servers, tools, manifest }: Declaring,
  own: readonly string[],
): readonly string[] {
  if (own === manifest) return [...servers.keys()];
  return own.filter((name) => tools.get(name)?.served !== undefined);
}

export function connectorsOf({
  servers,
  tools,
}: Declaring): Readonly<Record<string, ConnectorDefinition>> {
  const served = [...tools.values()].flatMap((tool) => tool.served ?? []);
  return Object.fromEntries(
    [...servers.values()].map((server) => [
      server.name,
      definitionOf(
        server,
        served.filter((tool) => tool.server === server.name),
      ),
    ]),
  );
}

/** The address is never reached: the double of the case stands there. */
export function definitionOf(
  server: CaseServer,
  tools: readonly ServedTool[],
): ConnectorDefinition {
  const { name, required, trusted, protocol, timeoutMs, allow, deny } = server;
  const { connectTimeoutMs, maxResultBytes } = server;
  const effects = tools.flatMap(({ tool, effect }): [string, ToolEffect][] =>
    effect === undefined ? [] : [[tool, effect]],
  );
  const versions = tools.flatMap(({ tool, version }): [string, string][] =>
    version === undefined ? [] : [[tool, version]],
  );
  return {
    url: `http://${name}.case.invalid/mcp`,
    required,
    protocol,
    timeoutMs,
    trust: trusted,
    tools: {
      effects: Object.fromEntries(effects),
      versions: Object.fromEntries(versions),
      ...(allow !== undefined && { allow }),
      ...(deny !== undefined && { deny }),
    },
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(maxResultBytes !== undefined && { maxResultBytes }),
  };
}
