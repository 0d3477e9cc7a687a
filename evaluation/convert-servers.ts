/**
 * The servers of a case and what they say of their tools.
 * Invariant: a case says of a tool of a server only what a server or the configuration of its connector can say.
 */
import { CONNECTOR_PREFIX, connectorNameOf, parseConnectors } from '../authoring/connectors.js';
import { toolNameOf } from '../connectors/index.js';
import type { WrittenTool } from './convert-tools.js';
import type { JsonObject } from './fixture.js';
import type { CaseServer, ServedTool } from './server-case.js';
import { definitionOf } from './servers/config.js';
import type { FixtureDocument } from './format/document.js';
import type { WrittenResult } from './format/tools.js';

/** As of every tool of a case. */
const TIMEOUT_MS = 30_000;

/** What can be said of a tool of a server: by the server, by the configuration, by the script. */
const SAID_OF_SERVED: readonly string[] = [
  'kind',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'effect',
  'version',
  'results',
  'recorded',
];

export function serversOf({ mcp = {} }: FixtureDocument): ReadonlyMap<string, CaseServer> {
  return new Map(
    Object.entries(mcp).map(
      ([name, { trusted, required, notifies, protocol, is, timeoutMs, ...rest }]) => [
        name,
        {
          name,
          trusted: trusted ?? false,
          required: required ?? false,
          notifies: notifies ?? false,
          protocol: protocol ?? 'modern',
          is: is ?? 'up',
          timeoutMs: timeoutMs ?? TIMEOUT_MS,
          ...(rest as Partial<CaseServer>),
        },
      ],
    ),
  );
}

/** Undefined: no server of the case has it. */
export function servedTool(
  document: FixtureDocument,
  name: string,
  { annotations, effect, version }: WrittenTool,
): ServedTool | undefined {
  const server = serverNamed(document, name);
  if (server === undefined) return undefined;
  return {
    server,
    tool: name.slice(`${CONNECTOR_PREFIX}${server}__`.length),
    ...(annotations !== undefined && { annotations: annotations as JsonObject }),
    ...(effect !== undefined && { effect }),
    ...(version !== undefined && { version }),
  };
}

function serverNamed({ mcp = {} }: FixtureDocument, tool: string): string | undefined {
  if (!tool.startsWith(CONNECTOR_PREFIX)) return undefined;
  const server = connectorNameOf(tool);
  const isOf = Object.hasOwn(mcp, server) && tool.startsWith(`${CONNECTOR_PREFIX}${server}__`);
  return isOf ? server : undefined;
}

export function serverProblems(
  document: FixtureDocument,
  tools: ReadonlyMap<string, WrittenTool>,
): readonly string[] {
  return [
    ...[...serversOf(document).values()].flatMap(connectorProblems),
    ...[...tools].flatMap(([name, written]) => toolProblems(document, name, written)),
    ...changeProblems(document, tools),
    ...ownProblems(document, tools),
    ...servedProblems(document),
    ...(document.sessions ?? []).flatMap(({ id, messages }) =>
      messages.flatMap(({ results = {} }) =>
        Object.values(results).flatMap((result) =>
          formOfServers(result).map((form) => `sessions: ${id}: ${form} is of tools of servers`),
        ),
      ),
    ),
  ];
}

/** What a server is, beside a configuration that says the rest of its connector and of its tools. */
const OF_THE_SERVER: readonly string[] = ['is', 'protocol', 'notifies'];
const OF_ITS_CONNECTOR: readonly string[] = ['effect', 'version'];

function ownProblems(
  { agent, mcp = {} }: FixtureDocument,
  tools: ReadonlyMap<string, WrittenTool>,
): readonly string[] {
  if (agent === undefined) return [];
  const said = [
    ...Object.entries(mcp).flatMap(([name, server]) =>
      Object.keys(server)
        .filter((key) => !OF_THE_SERVER.includes(key))
        .map((key) => `mcp.${name}.${key}`),
    ),
    ...[...tools].flatMap(([name, { kind, ...written }]) =>
      Object.keys(written)
        .filter((key) => kind === 'mcp' && OF_ITS_CONNECTOR.includes(key))
        .map((key) => `tools.${name}.${key}`),
    ),
  ];
  return said.map((path) => `${path}: is of the configuration, whose agent the case names`);
}

/** What no configuration could declare. */
function connectorProblems(server: CaseServer): readonly string[] {
  try {
    parseConnectors({ [server.name]: definitionOf(server, []) });
    return [];
  } catch (error) {
    return [`mcp.${server.name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function toolProblems(
  document: FixtureDocument,
  name: string,
  written: WrittenTool,
): readonly string[] {
  const at = `tools.${name}`;
  const server = serverNamed(document, name);
  if (server === undefined) {
    return [
      ...(written.annotations === undefined
        ? []
        : [`${at}.annotations: needs a server of "mcp" that has the tool`]),
      ...resultsOf(written).flatMap((result) =>
        formOfServers(result).map((form) => `${at}: ${form} needs a server of "mcp"`),
      ),
    ];
  }
  const bare = name.slice(`${CONNECTOR_PREFIX}${server}__`.length);
  return [
    ...(written.kind === 'mcp'
      ? []
      : [`${at}.kind: is "mcp", because the server ${server} has the tool`]),
    ...(bare !== '' && toolNameOf(server, bare) === name
      ? []
      : [`${at}: runs call no tool of the server ${server} so`]),
    ...Object.keys(written)
      .filter((key) => !SAID_OF_SERVED.includes(key))
      .map((key) => `${at}.${key}: neither a server nor its connector says that of a tool`),
    ...resultsOf(written).flatMap((result) =>
      notOfServers(result).map((form) => `${at}: servers answer no ${form}`),
    ),
  ];
}

function resultsOf({ results = [], recorded = [] }: WrittenTool): readonly WrittenResult[] {
  return [...results, ...recorded.flatMap((call) => call.results)];
}

function formOfServers(result: WrittenResult): readonly string[] {
  const form = ['input_required', 'refused', 'malformed', 'oversized', 'notes'].find(
    (key) => key in result,
  );
  return form === undefined ? [] : [form];
}

function notOfServers(result: WrittenResult): readonly string[] {
  return ['code', 'costMicroUsd'].filter((key) => key in result);
}

function changeProblems(
  document: FixtureDocument,
  tools: ReadonlyMap<string, WrittenTool>,
): readonly string[] {
  const changes = (document.during ?? []).flatMap((moment) =>
    moment.do.flatMap((action) => action.server ?? []),
  );
  return changes.flatMap(({ name, tools: changed = {} }) => {
    if (!Object.hasOwn(document.mcp ?? {}, name)) {
      return [`during: the server ${JSON.stringify(name)} is not in "mcp"`];
    }
    return Object.keys(changed)
      .filter((tool) => !tools.has(tool) || serverNamed(document, tool) !== name)
      .map((tool) => `during: ${JSON.stringify(tool)} is no tool of the server ${name}`);
  });
}

function servedProblems({ expected, mcp = {} }: FixtureDocument): readonly string[] {
  return Object.keys(expected.served ?? {})
    .filter((name) => !Object.hasOwn(mcp, name))
    .map((name) => `expected.served: the server ${JSON.stringify(name)} is not in "mcp"`);
}
