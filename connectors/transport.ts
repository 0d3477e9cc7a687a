/** How the server of a connector is reached. */
import { isDeclaredAuth } from '../authoring/connector-auth.js';
import type { Connector, ConnectorAuth } from '../authoring/connectors.js';
import { boundedFetch } from './bounded-fetch.js';
import type { Authorization } from './oauth/authorization.js';
import { endPrograms, programsBelow } from './programs.js';
import { loadStdio, type Sdk, type SdkAuth, type SdkTransport } from './sdk.js';
import type { Secrets } from './secrets.js';

/** Of a response that broke off and can be resumed. */
const RECONNECTION = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 6,
};

/** What makes the transport of each new connection, for whoever reaches servers in another way. */
export type TransportFactory = (
  connector: Connector,
  parts: TransportParts,
) => Promise<SdkTransport>;

export interface TransportParts {
  readonly sdk: Sdk;
  readonly secrets: Secrets;
  /** Of a connector with OAuth. */
  readonly authorization?: Authorization;
}

export const openTransport: TransportFactory = async (connector, parts) => {
  const { sdk, secrets, authorization } = parts;
  const { reached, maxResultBytes } = connector;
  if (reached.kind === 'stdio') {
    const { StdioClientTransport, getDefaultEnvironment } = await loadStdio();
    const { command, args, env, cwd } = reached;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      ...(cwd !== undefined && { cwd }),
      // What a program says there may hold its secrets.
      stderr: 'ignore',
      maxBufferSize: messageBytes(maxResultBytes),
    });
    const close = transport.close.bind(transport);
    transport.close = async () => {
      const left = transport.pid === null ? [] : await programsBelow(transport.pid);
      await close();
      await endPrograms(left);
    };
    return transport;
  }
  const { url, headers, auth } = reached;
  const send = boundedFetch(messageBytes(maxResultBytes));
  const settings = {
    fetch: authorization?.bound(sdk, send) ?? send,
    requestInit: { headers: { ...headers } },
    ...(authorization !== undefined && { authProvider: authorization.provider(sdk) }),
    ...(auth !== undefined && !isDeclaredAuth(auth) && { authProvider: providerOf(auth, secrets) }),
  };
  return reached.kind === 'sse'
    ? new sdk.SSEClientTransport(new URL(url), settings)
    : new sdk.StreamableHTTPClientTransport(new URL(url), {
        ...settings,
        reconnectionOptions: RECONNECTION,
      });
};

/** A list of tools comes as one message: it may be larger than a result that is taken. */
export function messageBytes(maxResultBytes: number): number {
  return Math.max(2 * maxResultBytes, 4 * 1024 * 1024);
}

function providerOf(auth: ConnectorAuth, secrets: Secrets): SdkAuth {
  const token = async (): Promise<string | undefined> => {
    const given = await auth.token();
    if (given !== undefined) secrets.keep(given);
    return given;
  };
  if (auth.onUnauthorized === undefined) return { token };
  return { token, onUnauthorized: async () => auth.onUnauthorized?.() };
}
