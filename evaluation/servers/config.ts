/** The servers of a case, as a configuration declares them and agents use them. */
import type { Connector, ConnectorDefinition } from '../../authoring/connectors.js';
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

/** Connectors of a configuration with the servers of a case behind them; a case without servers leaves them as they are. */
export function ownConnectorsOf(
  { servers }: Pick<Fixture, 'servers'>,
  connectors: ReadonlyMap<string, Connector>,
): ReadonlyMap<string, Connector> {
  if (servers.size === 0) return connectors;
  return new Map(
    [...connectors].flatMap(([name, one]): [string, Connector][] => {
      const server = servers.get(name);
      if (server === undefined) return [];
      const reached = { kind: 'http', url: addressOf(name), headers: {} } as const;
      return [[name, { ...one, reached, protocol: server.protocol }]];
    }),
  );
}

/** Never reached: the double of the case stands there. */
function addressOf(server: string): string {
  return `http://${server}.case.invalid/mcp`;
}

export function definitionOf(
  server: CaseServer,
  tools: readonly ServedTool[],
): ConnectorDefinition {
  const { name, required, trusted, protocol, timeoutMs, allow, deny } = server;
  const { connectTimeoutMs, maxResultBytes, elicitation } = server;
  const effects = tools.flatMap(({ tool, effect }): [string, ToolEffect][] =>
    effect === undefined ? [] : [[tool, effect]],
  );
  const versions = tools.flatMap(({ tool, version }): [string, string][] =>
    version === undefined ? [] : [[tool, version]],
  );
  return {
    url: addressOf(name),
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
    ...(elicitation !== undefined && { elicitation }),
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(maxResultBytes !== undefined && { maxResultBytes }),
  };
}
