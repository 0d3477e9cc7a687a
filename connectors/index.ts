/**
 * The connectors of one process: what their servers offer, and calls of it (MC-03).
 * Invariant: nothing is reached before it is used; `close` ends every connection and every program.
 */
import { isAllowedTool, type Connector } from '../authoring/connectors.js';
import type { Tool, ToolContext } from '../authoring/tool.js';
import { isToolError, ToolError, UNAVAILABLE } from '../authoring/tool-error.js';
import type { Json } from '../core/json/json.js';
import { isMutating, toolKey } from '../core/state/tool.js';
import { isAuthorizationCode, isMachineAuth } from '../authoring/connector-auth.js';
import { openConnection, type Connection, type ServerFacts } from './connection.js';
import {
  shownDescription,
  shownSchema,
  type PinnedTool,
  type ServerDefinition,
} from './definition.js';
import type { Exchange } from './exchange.js';
import { NeedsLogin } from './fault.js';
import type { Authorization } from './oauth/authorization.js';
import { CredentialsAuthorization } from './oauth/client-credentials.js';
import { StoredAuthorization, type TokenRows } from './oauth/stored-authorization.js';
import { readTokenKeys } from './oauth/token-keys.js';
import { Pool } from './pool.js';
import { parseWith, schemaCheck } from './schema-check.js';
import { secretsOf, type Secrets } from './secrets.js';
import type { TransportFactory } from './transport.js';

export { answerProblem } from './answer-problem.js';
export { ChangedTool } from './connection.js';
export {
  definitionProblem,
  pinnedTool,
  toolNameOf,
  type PinnedTool,
  type ServerDefinition,
} from './definition.js';
export {
  isInputRequired,
  nextQuestion,
  takeAnswer,
  type Exchange,
  type InputRequired,
} from './exchange.js';
export { boundedFetch, type Fetch } from './bounded-fetch.js';
export { messageBytes, type TransportFactory } from './transport.js';

/** Compiled schemas are large. */
const TOOLS_KEPT_MAX = 500;
/** Pools that nobody uses are let go above it. */
const POOLS_KEPT_MAX = 256;
const DEFAULT_TENANT = 'default';

export interface Listing extends ServerFacts {
  readonly definitions: readonly ServerDefinition[];
}

/** What a tool of a server is told beside what every tool is. */
export interface ServerContext extends ToolContext {
  readonly exchange?: Exchange;
  /** Whether the run takes signed decisions alone; absent: nobody can say, as if it did. */
  readonly wantsProof?: () => Promise<boolean>;
}

export interface Connectors {
  /** With the login of the tenant, where the connector wants one. Errors: `ToolError` of code `tool_unavailable`. */
  list(connector: string, signal: AbortSignal, tenant?: string): Promise<Listing>;
  /** The code of a pinned tool. Errors: a schema of it cannot be used. */
  tool(pinned: PinnedTool, tenant: string): Promise<Tool>;
  /** The same, as far as this process has made it lately. */
  known(tenant: string, toolKey: string): Tool | undefined;
  close(): Promise<void>;
}

export interface ConnectorsSettings {
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly transports?: TransportFactory;
  readonly clock?: () => number;
  /** Where tokens of logins lie; absent: no connector here has a login. */
  readonly tokens?: TokenRows | undefined;
}

interface Reachable {
  readonly connector: Connector;
  readonly pool: Pool;
  readonly secrets: Secrets;
}

export function createConnectors(settings: ConnectorsSettings): Connectors {
  const { connectors, transports, clock = Date.now } = settings;
  const reachable = new Map<string, Reachable>();
  const made = new Map<string, Tool>();
  const reach = (name: string, tenant: string): Reachable => {
    const connector = connectors.get(name);
    if (connector === undefined) {
      throw new ToolError(UNAVAILABLE, `This worker has no connector ${name}.`);
    }
    const key = hasLogin(connector) ? `${tenant}\0${name}` : name;
    const known = reachable.get(key);
    if (known !== undefined) return known;
    const secrets = secretsOf(connector);
    const authorization = authorizationOf(settings, { connector, tenant, secrets, clock });
    const opening = {
      connector,
      secrets,
      clock,
      ...(transports !== undefined && { transports }),
      ...(authorization !== undefined && { authorization }),
    };
    const pool = new Pool((signal) => openConnection(opening, signal));
    const opened = { connector, pool, secrets };
    for (const [other, { pool: unused }] of reachable) {
      if (reachable.size < POOLS_KEPT_MAX) break;
      if (unused.isUnused) reachable.delete(other);
    }
    reachable.set(key, opened);
    return opened;
  };
  return {
    async list(name, signal, tenant = DEFAULT_TENANT) {
      const { pool } = reach(name, tenant);
      return pool.with(signal, {
        work: async (connection) => ({
          era: connection.era,
          ...(connection.server !== undefined && { server: connection.server }),
          definitions: await connection.definitions(signal),
        }),
        keeps: () => false,
      });
    },
    async tool(pinned, tenant) {
      const key = `${tenant}\0${toolKey(pinned.record)}`;
      const found = made.get(key) ?? (await toolOf(pinned, reach));
      made.delete(key);
      made.set(key, found);
      if (made.size > TOOLS_KEPT_MAX) made.delete(made.keys().next().value ?? key);
      return found;
    },
    known: (tenant, key) => made.get(`${tenant}\0${key}`),
    async close() {
      await Promise.all([...reachable.values()].map(({ pool }) => pool.close()));
    },
  };
}

/** People log in for each tenant. */
function hasLogin({ reached }: Connector): boolean {
  const auth = reached.kind === 'stdio' ? undefined : reached.auth;
  return auth !== undefined && isAuthorizationCode(auth);
}

interface Authorizing {
  readonly connector: Connector;
  readonly tenant: string;
  readonly secrets: Secrets;
  readonly clock: () => number;
}

function authorizationOf(
  { tokens: rows }: ConnectorsSettings,
  { connector, tenant, secrets, clock }: Authorizing,
): Authorization | undefined {
  const { reached, name } = connector;
  if (reached.kind === 'stdio' || reached.auth === undefined) return undefined;
  const { url, auth } = reached;
  if (isMachineAuth(auth)) {
    return new CredentialsAuthorization({ connector, auth, secrets, clock });
  }
  if (!isAuthorizationCode(auth)) return undefined;
  if (rows === undefined) {
    throw new NeedsLogin(name, 'nobody has logged in, and there is no store yet');
  }
  const keys = readTokenKeys;
  return new StoredAuthorization({ connector, url, auth, tenant, rows, keys, secrets, clock });
}

type Reach = (name: string, tenant: string) => Reachable;

async function toolOf({ record, definition }: PinnedTool, reach: Reach): Promise<Tool> {
  const { inputSchema, outputSchema } = definition;
  const check = await schemaCheck(inputSchema);
  const output = outputSchema === undefined ? undefined : await schemaCheck(outputSchema);
  return Object.freeze({
    record,
    description: shownDescription(definition),
    inputSchema: shownSchema(inputSchema),
    parse: parseWith(check),
    ...(output !== undefined && { outputDefect: output }),
    run: (input, ctx) => callServer(record, definition, { input: input as Json, ctx, reach }),
  } satisfies Tool);
}

interface Calling {
  readonly input: Json;
  readonly ctx: ServerContext;
  readonly reach: Reach;
}

async function callServer(
  { mcp, timeoutMs, name, effect }: Tool['record'],
  definition: ServerDefinition,
  { input, ctx, reach }: Calling,
): Promise<unknown> {
  if (mcp === undefined) throw new ToolError(UNAVAILABLE, `${name} is no tool of a server.`);
  const { connector, pool, secrets } = reach(mcp.connector, ctx.tenant);
  if (!isAllowedTool(connector, mcp.tool)) {
    throw new ToolError(UNAVAILABLE, `The configuration lets nobody use ${mcp.tool} any more.`);
  }
  const { signal, exchange, note, wantsProof = () => Promise.resolve(true) } = ctx;
  const call = {
    tool: mcp.tool,
    hash: mcp.hash,
    changes: isMutating({ effect }),
    definition,
    args: input,
    signal,
    timeoutMs,
    ...(exchange !== undefined && { exchange }),
    wantsProof,
    note: (text: string) => note?.(secrets.hide(text)),
  };
  const work = (connection: Connection): Promise<unknown> => connection.call(call);
  return pool.with(signal, { work, keeps: isToolError });
}
